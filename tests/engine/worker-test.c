/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/json.h"
#include "engine/device/toolkit.h"
#include "engine/run/toolkit-show.h"
#include "engine/sandbox/preflight.h"
#include "engine/worker/ptx-signature.h"
#include "engine/worker/session.h"

#include <string.h>
#include <unistd.h>

static char *folder;

static AssaySandboxTier
tier (void)
{
  return assay_sandbox_preflight ()->works ? ASSAY_TIER_BUBBLEWRAP : ASSAY_TIER_NONE;
}

/* Writes a file and shows it at /src/NAME. */
static void
add_file (AssaySandboxSpec *spec, const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autofree char *inside = g_build_filename ("/src", name, NULL);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  assay_sandbox_spec_show (spec, path, inside);
}

static void
add_source (AssaySandboxSpec *spec, AssayWorkerRequest *request, const char *name, const char *text)
{
  g_autofree char *inside = g_build_filename ("/src", name, NULL);
  AssayWorkerSource *source = assay_worker_source_new ();
  add_file (spec, name, text);
  source->path = g_strdup (assay_sandbox_spec_path (spec, tier (), inside));
  source->name = g_strdup (name);
  g_ptr_array_add (request->sources, source);
}

typedef struct
{
  AssaySandboxSpec *spec;
  AssayWorkerRequest *request;
  AssayMemory *ptx;
} Compilation;

static gboolean
begin_compilation (Compilation *self)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayToolkit) toolkit = assay_toolkit_find (&error);
  if (!toolkit)
    {
      g_test_skip (error->message);
      return FALSE;
    }
  self->spec = assay_worker_spec_new (&error);
  g_assert_no_error (error);
  assay_toolkit_show (toolkit, self->spec);
  self->ptx = assay_memory_new_growing ("ptx", &error);
  assay_sandbox_spec_pass (self->spec, self->ptx, 10);
  self->request = assay_worker_request_new ();
  self->request->request = ASSAY_REQUEST_COMPILE;
  self->request->nvrtc = g_strdup (toolkit->nvrtc);
  self->request->nvcc = g_strdup (toolkit->nvcc);
  self->request->includes = g_strdupv (toolkit->includes);
  self->request->target = g_strdup ("sm_80");
  self->request->output_fd = 10;
  return TRUE;
}

static AssayWorkerReply *
finish_compilation (Compilation *self)
{
  g_autoptr (GError) error = NULL;
  AssayWorkerReply *reply = assay_worker_call (self->spec, tier (), self->request, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (assay_memory_finish (self->ptx, &error));
  return reply;
}

static void
end_compilation (Compilation *self)
{
  assay_sandbox_spec_free (self->spec);
  assay_worker_request_free (self->request);
  assay_memory_unref (self->ptx);
}

/* What people paste: C and C++ headers, printf, assert, helpers without annotation. */
static const char PASTED[] =
    "#include <stdio.h>\n#include <stdlib.h>\n#include <stdint.h>\n#include <math.h>\n"
    "#include <cmath>\n#include <assert.h>\n#include <cuda_runtime.h>\n"
    "static float twice (float x) { return 2 * x; }\n"
    "extern \"C\" __global__ void scale (const float *x, float *y, int64_t n, float a)\n{\n"
    "  int64_t i = blockIdx.x * (int64_t) blockDim.x + threadIdx.x;\n"
    "  assert (n > 0);\n"
    "  if (i < n) y[i] = twice (a) * std::exp (x[i]) + fmaxf (-INFINITY, x[i]);\n"
    "  if (i == 0) printf (\"%d\\n\", (int) n);\n}\n"
    "namespace deep { __global__ void inner (double *p) { p[0] = M_PI; } }\n"
    "template <typename T> __global__ void fill (T *p, T v) { p[threadIdx.x] = v; }\n";

static void
test_compile (void)
{
  static const struct
  {
    const char *symbol, *entry;
  } symbols[] = {
      {"scale", "scale"}, {"inner", "_ZN4deep5innerEPd"}, {"fill<float>", "_Z4fillIfEvPT_S0_"}};
  for (gsize i = 0; i < G_N_ELEMENTS (symbols); i++)
    {
      Compilation c;
      if (!begin_compilation (&c))
        return;
      add_source (c.spec, c.request, "kernel.cu", PASTED);
      c.request->symbol = g_strdup (symbols[i].symbol);
      c.request->resources = TRUE;
      g_autoptr (AssayWorkerReply) reply = finish_compilation (&c);
      if (reply->outcome != ASSAY_OUTCOME_DONE)
        g_error ("%s: %s", reply->message, reply->error ? reply->error->log : reply->end->err);
      g_assert_cmpstr (assay_json_string (reply->done, "entry"), ==, symbols[i].entry);
      g_assert_nonnull (strstr (assay_json_string (reply->done, "log"), "registers"));
      gsize bytes;
      const char *ptx = assay_memory_data (c.ptx, &bytes, NULL);
      g_assert_nonnull (g_strstr_len (ptx, (gssize) bytes, ".target sm_80"));
      g_assert_nonnull (g_strstr_len (ptx, (gssize) bytes, ".loc"));
      end_compilation (&c);
    }
}

static void
test_compile_error (void)
{
  Compilation c;
  if (!begin_compilation (&c))
    return;
  add_source (c.spec, c.request, "kernel.cu", "__global__ void k (float *x)\n{\n  x[0] = y;\n}\n");
  c.request->symbol = g_strdup ("k");
  g_autoptr (AssayWorkerReply) reply = finish_compilation (&c);
  g_assert_cmpint (reply->outcome, ==, ASSAY_OUTCOME_ERROR);
  g_assert_cmpstr (reply->error->kind, ==, "compile");
  g_assert_nonnull (strstr (reply->error->message, "kernel.cu(3): error"));
  end_compilation (&c);
}

static void
test_wrong_symbol (void)
{
  Compilation c;
  if (!begin_compilation (&c))
    return;
  add_source (c.spec, c.request, "kernel.cu", PASTED);
  c.request->symbol = g_strdup ("scales");
  g_autoptr (AssayWorkerReply) reply = finish_compilation (&c);
  g_assert_cmpint (reply->outcome, ==, ASSAY_OUTCOME_ERROR);
  g_assert_cmpstr (reply->error->kind, ==, "symbol");
  g_assert_true (g_strv_contains ((const char *const *) reply->error->names, "scale"));
  end_compilation (&c);
}

/* An include of a file outside prints nothing of it: it does not exist in there. */
static void
test_compiler_sees_no_files (void)
{
  Compilation c;
  if (tier () == ASSAY_TIER_NONE)
    {
      g_test_skip (assay_sandbox_preflight ()->reason);
      return;
    }
  if (!begin_compilation (&c))
    return;
  add_source (c.spec, c.request, "kernel.cu", "#include \"/etc/passwd\"\n");
  c.request->symbol = g_strdup ("k");
  g_autoptr (AssayWorkerReply) reply = finish_compilation (&c);
  g_assert_cmpint (reply->outcome, ==, ASSAY_OUTCOME_ERROR);
  g_assert_null (strstr (reply->error->log, "root:"));
  end_compilation (&c);
}

static void
test_host_code_by_nvcc (void)
{
  Compilation c;
  if (!begin_compilation (&c))
    return;
  if (!c.request->nvcc)
    {
      end_compilation (&c);
      g_test_skip ("no nvcc");
      return;
    }
  add_source (c.spec, c.request, "kernel.cu",
              "#include <vector>\n__global__ void k (float *x) { x[0] = 1; }\n"
              "void solve (float *x) { std::vector<int> v (3); k<<<1, 1>>> (x); }\n");
  c.request->symbol = g_strdup ("k");
  g_autoptr (AssayWorkerReply) reply = finish_compilation (&c);
  if (reply->outcome != ASSAY_OUTCOME_DONE)
    g_error ("%s: %s", reply->message, reply->error ? reply->error->log : reply->end->err);
  g_assert_cmpstr (assay_json_string (reply->done, "compiler"), ==, "nvcc");
  end_compilation (&c);
}

static const char WRAPPER[] =
    "#include <stdint.h>\n"
    "#if ASSAY_REAL == 1\ntypedef float REAL;\n#elif ASSAY_REAL == 2\ntypedef double REAL;\n"
    "#else\ntypedef __float128 REAL;\n#endif\n"
    "static void third (const REAL *x, const int64_t *k, REAL a, REAL *y, int64_t n)\n"
    "{ for (int64_t i = 0; i < n; i++) y[i] = a * x[k[i]] / 3; }\n"
    "void assay_reference_call (void **a);\n"
    "void assay_reference_call (void **a)\n"
    "{ third (a[0], a[1], *(REAL *) a[2], a[3], *(int64_t *) a[4]); }\n";

static AssayMemory *
build_rung (const char *source, int real, AssayWorkerReply **reply)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AssaySandboxSpec) spec = assay_worker_spec_new (&error);
  g_autoptr (AssayMemory) library = assay_memory_new_growing ("library", &error);
  g_autoptr (AssayWorkerRequest) request = assay_worker_request_new ();
  AssayWorkerRung *rung = assay_worker_rung_new ();
  g_assert_no_error (error);
  request->request = ASSAY_REQUEST_BUILD;
  request->compiler = g_strdup ("/usr/bin/cc");
  add_file (spec, "wrapper.c", source);
  request->wrapper_path = g_strdup (assay_sandbox_spec_path (spec, tier (), "/src/wrapper.c"));
  rung->real = real;
  rung->fd = 10;
  g_ptr_array_add (request->rungs, rung);
  assay_sandbox_spec_pass (spec, library, 10);
  *reply = assay_worker_call (spec, tier (), request, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (assay_memory_finish (library, &error));
  return g_steal_pointer (&library);
}

static void
add_array (AssaySandboxSpec *spec, AssayWorkerRequest *request, AssayMemory *memory, int fd,
           const char *name, const char *role, const char *dtype, gboolean integer)
{
  AssayWorkerArray *array = assay_worker_array_new ();
  array->name = g_strdup (name);
  array->fd = fd;
  array->bytes = (gint64) assay_memory_size (memory);
  array->role = g_strdup (role);
  array->dtype = g_strdup (dtype);
  array->integer = integer;
  g_ptr_array_add (request->arrays, array);
  assay_sandbox_spec_pass (spec, memory, fd);
}

static void
add_argument (AssayWorkerRequest *request, const char *array, gint64 integer, double real)
{
  AssayWorkerArgument *argument = assay_worker_argument_new ();
  argument->array = g_strdup (array);
  argument->integer = integer;
  argument->real = real;
  argument->is_real = !array && integer == 0;
  g_ptr_array_add (request->arguments, argument);
}

/* y = a x[k] / 3 from int32 and bfloat16 inputs, in every REAL, against the same in our own C. */
static void
test_reference (void)
{
  static const guint16 x[] = {0x3f80, 0x4040, 0xc0e0}; /* bfloat16: 1, 3, -7 */
  static const gint32 k[] = {2, 0, 1};
  static const double chosen[] = {-7, 1, 3};
  static const gsize bytes[] = {0, 4, 8, 16};
  for (int real = 1; real <= 3; real++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (AssayWorkerReply) built = NULL;
      g_autoptr (AssayMemory) library = build_rung (WRAPPER, real, &built);
      if (built->outcome != ASSAY_OUTCOME_DONE)
        g_error ("%s: %s", built->message, built->error ? built->error->log : built->end->err);
      g_autoptr (AssayMemory) xs = assay_memory_new_from_data ("x", x, sizeof x, &error);
      g_autoptr (AssayMemory) ks = assay_memory_new_from_data ("k", k, sizeof k, &error);
      g_autoptr (AssayMemory) ys = assay_memory_new ("y", 3 * bytes[real], &error);
      g_autoptr (AssaySandboxSpec) spec = assay_worker_spec_new (&error);
      g_autoptr (AssayWorkerRequest) request = assay_worker_request_new ();
      g_assert_no_error (error);
      request->request = ASSAY_REQUEST_REFERENCE;
      request->real = real;
      request->image_fd = 20;
      assay_sandbox_spec_pass (spec, library, 20);
      add_array (spec, request, xs, 10, "x", "in", "bfloat16", FALSE);
      add_array (spec, request, ks, 11, "k", "in", "int32", TRUE);
      add_array (spec, request, ys, 12, "y", "out", NULL, FALSE);
      add_argument (request, "x", 0, 0);
      add_argument (request, "k", 0, 0);
      add_argument (request, NULL, 0, 0.5);
      add_argument (request, "y", 0, 0);
      add_argument (request, NULL, 3, 0);
      g_autoptr (AssayWorkerReply) reply = assay_worker_call (spec, tier (), request, NULL, &error);
      g_assert_no_error (error);
      if (reply->outcome != ASSAY_OUTCOME_DONE)
        g_error ("%s %s", reply->message, reply->end->err);
      g_assert_true (assay_memory_finish (ys, &error));
      const void *y = assay_memory_data (ys, NULL, &error);
      for (int i = 0; i < 3; i++)
        if (real == 1)
          g_assert_true (((const float *) y)[i] == 0.5f * (float) chosen[i] / 3);
        else if (real == 2)
          g_assert_true (((const double *) y)[i] == 0.5 * chosen[i] / 3);
        else
          g_assert_true (((const __float128 *) y)[i] == (__float128) 0.5 * chosen[i] / 3);
    }
}

static void
test_reference_does_not_compile (void)
{
  g_autoptr (AssayWorkerReply) reply = NULL;
  g_autoptr (AssayMemory) library =
      build_rung ("int broken (void) { return nothing; }\n", 2, &reply);
  g_assert_cmpint (reply->outcome, ==, ASSAY_OUTCOME_ERROR);
  g_assert_cmpstr (reply->error->kind, ==, "build");
  g_assert_nonnull (strstr (reply->error->message, "nothing"));
}

/* A toolkit as it is installed, and as the vendor's Python packages lay it out. */
static void
test_toolkit_layouts (void)
{
  static const struct
  {
    const char *name, *library, *include, *nvcc;
  } layouts[] = {
      {"installed", "lib64/libnvrtc.so.12", "include", "bin/nvcc"},
      {"wheels", "nvidia/cu13/lib/libnvrtc.so.13", "nvidia/cu13/include", "nvidia/cu13/bin/nvcc"},
      {"old-wheels", "nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "nvidia/cuda_runtime/include", NULL},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (layouts); i++)
    {
      g_autofree char *root = g_build_filename (folder, layouts[i].name, NULL);
      g_autofree char *header = g_build_filename (layouts[i].include, "cuda_fp16.h", NULL);
      const char *files[] = {layouts[i].library, header, layouts[i].nvcc};
      g_assert_null (assay_toolkit_at (root));
      for (gsize k = 0; k < G_N_ELEMENTS (files) && files[k]; k++)
        {
          g_autofree char *path = g_build_filename (root, files[k], NULL);
          g_autofree char *parent = g_path_get_dirname (path);
          g_assert_cmpint (g_mkdir_with_parents (parent, 0755), ==, 0);
          g_assert_true (
              g_file_set_contents_full (path, "", 0, G_FILE_SET_CONTENTS_NONE, 0755, NULL));
        }
      g_autoptr (AssayToolkit) toolkit = assay_toolkit_at (root);
      g_assert_nonnull (toolkit);
      g_assert_true (g_str_has_suffix (toolkit->nvrtc, layouts[i].library));
      g_assert_true (g_str_has_suffix (toolkit->includes[0], layouts[i].include));
      g_assert_cmpint (toolkit->nvcc != NULL, ==, layouts[i].nvcc != NULL);
    }
}

static void
test_ptx_signatures (void)
{
  g_autoptr (GPtrArray) entries = assay_ptx_entries (
      ".visible .entry plain(\n\t.param .u64 .ptr .global .align 4 plain_param_0,\n"
      "\t.param .f32 plain_param_1,\n\t.param .align 16 .b8 plain_param_2[48]\n)\n{ ret; }\n"
      ".entry _Z5otherPf ( .param .u64 a ) { ret; }\n.entry _ZN1a5otherEv() { }\n"
      ".weak .entry none\n{ ret; }\n");
  g_assert_cmpuint (entries->len, ==, 4);
  const AssayPtxEntry *plain = assay_ptx_find (entries, "plain");
  g_assert_cmpuint (plain->parameters->len, ==, 3);
  const AssayPtxParameter *last = &g_array_index (plain->parameters, AssayPtxParameter, 2);
  g_assert_cmpstr (last->type, ==, "b8");
  g_assert_cmpuint (last->bytes, ==, 48);
  g_assert_cmpuint (last->offset, ==, 16);
  g_assert_null (assay_ptx_find (entries, "other")); /* two of them */
  g_assert_nonnull (assay_ptx_find (entries, "_Z5otherPf"));
  g_assert_nonnull (assay_ptx_find (entries, "none"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  folder = g_dir_make_tmp ("assay-worker-XXXXXX", NULL);
  g_test_add_func ("/worker/compile", test_compile);
  g_test_add_func ("/worker/compile-error", test_compile_error);
  g_test_add_func ("/worker/wrong-symbol", test_wrong_symbol);
  g_test_add_func ("/worker/compiler-sees-no-files", test_compiler_sees_no_files);
  g_test_add_func ("/worker/host-code-by-nvcc", test_host_code_by_nvcc);
  g_test_add_func ("/worker/reference", test_reference);
  g_test_add_func ("/worker/reference-does-not-compile", test_reference_does_not_compile);
  g_test_add_func ("/worker/toolkit-layouts", test_toolkit_layouts);
  g_test_add_func ("/worker/ptx-signatures", test_ptx_signatures);
  return g_test_run ();
}
