/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/device-function.h"

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/device/installation.h"
#include "engine/device/toolkit.h"
#include "engine/worker/session.h"

#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

#define PTX_FD 10
#define INPUT_FD 11
#define OUTPUT_FD 12
#define SOURCE "/src/sweep.cu"
#define DRIVER "/assay/driver/libcuda.so.1"
#define SECONDS 600.0
#define THREADS 256

struct _AssayDeviceFunction
{
  AssayDtype dtype;
  char *text, *target, *entry;
  AssayMemory *ptx;
  AssaySandboxTier tier;
  GCancellable *cancellable;
};

/* How values of a dtype come in and go out as raw bits. */
typedef struct
{
  AssayDtype dtype;
  const char *header, *bits, *narrow, *load, *store, *widen, *round;
} Types;

static const Types TYPES[] = {
    {ASSAY_DTYPE_FLOAT32, NULL, "unsigned int", "float", "__uint_as_float", "__float_as_uint", "",
     ""},
    {ASSAY_DTYPE_FLOAT16, "cuda_fp16.h", "unsigned short", "__half", "__ushort_as_half",
     "__half_as_ushort", "__half2float", "__float2half_rn"},
    {ASSAY_DTYPE_BFLOAT16, "cuda_bf16.h", "unsigned short", "__nv_bfloat16", "__ushort_as_bfloat16",
     "__bfloat16_as_ushort", "__bfloat162float", "__float2bfloat16_rn"},
};

static char *
write_source (const AssaySweepFunction *function, AssayDtype dtype, char **text)
{
  const Types *types = TYPES;
  while (types->dtype != dtype)
    types++;
  gboolean narrow = dtype != ASSAY_DTYPE_FLOAT32 && function->cuda_narrow;
  GString *out = g_string_new (NULL);
  *text = g_strdup (narrow ? function->cuda_narrow : function->cuda);
  if (types->header)
    g_string_append_printf (out, "#include <%s>\n", types->header);
  g_string_append_printf (out,
                          "extern \"C\" __global__ void\n"
                          "sweep (const %s *in, %s *out, long long n)\n{\n"
                          "  long long i = (long long) blockIdx.x * blockDim.x + threadIdx.x;\n"
                          "  if (i >= n)\n    return;\n",
                          types->bits, types->bits);
  if (narrow)
    g_string_append_printf (out, "  %s x = %s (in[i]);\n  out[i] = %s (%s);\n}\n", types->narrow,
                            types->load, types->store, *text);
  else
    g_string_append_printf (out, "  float x = %s (%s (in[i]));\n  out[i] = %s (%s (%s));\n}\n",
                            types->widen, types->load, types->store, types->round, *text);
  return g_string_free (out, FALSE);
}

static const char *
reply_text (const AssayWorkerReply *reply)
{
  return reply->error && reply->error->log && *reply->error->log ? reply->error->log
         : reply->message                                        ? reply->message
                                                                 : "no answer";
}

static gboolean
compile (AssayDeviceFunction *self, const AssayToolkit *toolkit, const char *file,
         gboolean fast_math, GError **error)
{
  g_autoptr (AssayWorkerRequest) request = assay_worker_request_new ();
  g_autoptr (AssaySandboxSpec) spec = assay_worker_spec_new (error);
  if (!spec)
    return FALSE;
  g_autofree char *real = realpath (toolkit->root, NULL);
  g_autofree char *libraries = g_path_get_dirname (toolkit->nvrtc);
  if (!g_str_has_prefix (real ? real : toolkit->root, "/usr/"))
    assay_sandbox_spec_show (spec, toolkit->root, toolkit->root);
  assay_sandbox_spec_set_environment (spec, "LD_LIBRARY_PATH", libraries);
  assay_sandbox_spec_show (spec, file, SOURCE);
  AssayWorkerSource *source = assay_worker_source_new ();
  source->path = g_strdup (assay_sandbox_spec_path (spec, self->tier, SOURCE));
  source->name = g_strdup ("sweep.cu");
  g_ptr_array_add (request->sources, source);
  const char *const options[] = {fast_math ? "--use_fast_math" : NULL, NULL};
  request->request = ASSAY_REQUEST_COMPILE;
  request->nvrtc = g_strdup (toolkit->nvrtc);
  request->includes = g_strdupv (toolkit->includes);
  request->target = g_strdup (self->target);
  request->options = g_strdupv ((char **) options);
  request->symbol = g_strdup ("sweep");
  request->output_fd = PTX_FD;
  assay_sandbox_spec_pass (spec, self->ptx, PTX_FD);
  g_autoptr (AssayWorkerReply) reply =
      assay_worker_call (spec, self->tier, request, self->cancellable, error);
  if (!reply)
    return FALSE;
  if (reply->outcome != ASSAY_OUTCOME_DONE)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_FAILED, "%s does not compile: %s", self->text,
                   reply_text (reply));
      return FALSE;
    }
  self->entry = g_strdup (assay_json_string (reply->done, "entry"));
  return assay_memory_finish (self->ptx, error);
}

AssayDeviceFunction *
assay_device_function_new (const AssaySweepFunction *function, AssayDtype dtype, const char *target,
                           gboolean fast_math, AssaySandboxTier tier, GCancellable *cancellable,
                           GError **error)
{
  g_autoptr (AssayDeviceFunction) self = g_new0 (AssayDeviceFunction, 1);
  g_autoptr (AssayToolkit) toolkit = assay_toolkit_find (error);
  g_autofree char *file = NULL;
  if (!toolkit)
    return NULL;
  self->dtype = dtype;
  self->target = g_strdup (target);
  self->tier = tier;
  self->cancellable = cancellable ? g_object_ref (cancellable) : NULL;
  self->ptx = assay_memory_new_growing ("ptx", error);
  if (!self->ptx)
    return NULL;
  g_autofree char *source = write_source (function, dtype, &self->text);
  int fd = g_file_open_tmp ("assay-sweep-XXXXXX.cu", &file, error);
  if (fd < 0)
    return NULL;
  g_close (fd, NULL);
  gboolean fine = g_file_set_contents (file, source, -1, error)
                  && compile (self, toolkit, file, fast_math, error);
  g_unlink (file);
  return fine ? g_steal_pointer (&self) : NULL;
}

void
assay_device_function_free (AssayDeviceFunction *self)
{
  g_free (self->text);
  g_free (self->target);
  g_free (self->entry);
  g_clear_pointer (&self->ptx, assay_memory_unref);
  g_clear_object (&self->cancellable);
  g_free (self);
}

const char *
assay_device_function_text (const AssayDeviceFunction *self)
{
  return self->text;
}

/* ---- a launch ---- */

static void
add_array (AssayWorkerRequest *request, AssaySandboxSpec *spec, const char *name, const char *role,
           AssayMemory *memory, int fd)
{
  AssayWorkerArray *array = assay_worker_array_new ();
  AssayWorkerArgument *argument = assay_worker_argument_new ();
  array->name = g_strdup (name);
  array->fd = fd;
  array->bytes = (gint64) assay_memory_size (memory);
  array->role = g_strdup (role);
  argument->array = g_strdup (name);
  assay_sandbox_spec_pass (spec, memory, fd);
  g_ptr_array_add (request->arrays, array);
  g_ptr_array_add (request->arguments, argument);
}

static void
add_setting (AssayWorkerRequest *request, const char *key, const char *value)
{
  AssayWorkerSetting *setting = assay_worker_setting_new ();
  setting->key = g_strdup (key);
  setting->value = g_strdup (value);
  g_ptr_array_add (request->settings, setting);
}

static void
add_launch (const AssayDeviceFunction *self, AssayWorkerRequest *request, gsize n)
{
  AssayWorkerArgument *count = assay_worker_argument_new ();
  const gint64 grid[3] = {(gint64) ((n + THREADS - 1) / THREADS), 1, 1};
  const gint64 block[3] = {THREADS, 1, 1};
  count->integer = (gint64) n;
  g_ptr_array_add (request->arguments, count);
  g_array_append_vals (request->grid, grid, 3);
  g_array_append_vals (request->block, block, 3);
  add_setting (request, "target", self->target);
  add_setting (request, "checks", "none");
  request->request = ASSAY_REQUEST_RUN;
  request->image_fd = PTX_FD;
  request->symbol = g_strdup (self->entry);
  request->seconds = SECONDS - 1;
}

static gboolean
launch (AssayDeviceFunction *self, AssayMemory *in, AssayMemory *out, gsize n, GError **error)
{
  g_autoptr (AssayWorkerRequest) request = assay_worker_request_new ();
  g_autoptr (AssaySandboxSpec) spec = assay_worker_spec_new (error);
  g_autofree char *driver = spec ? assay_libexec_path ("driver/libcuda.so.1", error) : NULL;
  if (!driver)
    return FALSE;
  assay_sandbox_spec_show (spec, driver, DRIVER);
  request->driver = g_strdup (assay_sandbox_spec_path (spec, self->tier, DRIVER));
  assay_sandbox_spec_limits (spec)->wall_seconds = SECONDS;
  assay_sandbox_spec_limits (spec)->cpu_seconds = (guint) (4 * SECONDS);
  assay_sandbox_spec_pass (spec, self->ptx, PTX_FD);
  add_array (request, spec, "in", "in", in, INPUT_FD);
  add_array (request, spec, "out", "out", out, OUTPUT_FD);
  add_launch (self, request, n);
  g_autoptr (AssayWorkerReply) reply =
      assay_worker_call (spec, self->tier, request, self->cancellable, error);
  if (!reply)
    return FALSE;
  if (reply->outcome == ASSAY_OUTCOME_DONE)
    return assay_memory_finish (out, error);
  g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_FAILED, "%s does not run: %s", self->text,
               reply_text (reply));
  return FALSE;
}

gboolean
assay_device_function_run (gint64 first, gsize n, guint32 *results, gpointer user_data,
                           GError **error)
{
  AssayDeviceFunction *self = user_data;
  gsize item = (gsize) assay_dtype_format (self->dtype)->item_bytes, bytes = 0;
  g_autofree guint8 *codes = g_malloc (n * item);
  for (gsize i = 0; i < n; i++)
    assay_dtype_store (self->dtype, codes, i, assay_sweep_code (self->dtype, first + (gint64) i));
  g_autoptr (AssayMemory) in = assay_memory_new_from_data ("in", codes, n * item, error);
  g_autoptr (AssayMemory) out = in ? assay_memory_new ("out", n * item, error) : NULL;
  if (!out || !launch (self, in, out, n, error))
    return FALSE;
  const void *data = assay_memory_data (out, &bytes, error);
  for (gsize i = 0; data && i < n; i++)
    results[i] = (guint32) assay_dtype_load (self->dtype, data, i);
  return data != NULL;
}
