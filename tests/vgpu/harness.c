/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/vgpu/harness.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void *
open_driver (void)
{
  static void *library;
  if (library == NULL)
    {
      g_autofree char *path = g_build_filename (g_getenv ("ASSAY_BUILD_DIR"), "engine", "vgpu",
                                                "driver", "libcuda.so.1", NULL);
      library = dlopen (path, RTLD_NOW | RTLD_LOCAL);
      if (library == NULL)
        g_error ("%s", dlerror ());
    }
  return library;
}

Gpu *
gpu_open (const char *settings)
{
  Gpu *gpu = g_new0 (Gpu, 1);
  void *library = open_driver ();
#define MEMBER(symbol, member, parameters)                                                         \
  gpu->driver.member = (symbol##_fn) dlsym (library, #symbol);                                     \
  g_assert_nonnull (gpu->driver.member);
  ASSAY_CUDA_DRIVER (MEMBER)
#undef MEMBER
#define MEMBER(symbol, result, parameters)                                                         \
  gpu->symbol = (symbol##_fn) dlsym (library, #symbol);                                            \
  g_assert_nonnull (gpu->symbol);
  ASSAY_VGPU_EXTENSION (MEMBER)
#undef MEMBER
  gpu->report_fd = memfd_create ("reports", MFD_CLOEXEC);
  g_autofree char *all =
      g_strdup_printf ("target=sm_80;checks=none;math=ideal;threads=0;seed=0;max_instructions=0;"
                       "continue_on_fault=0;max_reports=100000;report_fd=%d;%s",
                       gpu->report_fd, settings);
  g_auto (GStrv) pairs = g_strsplit (all, ";", -1);
  for (char **pair = pairs; *pair != NULL; pair++)
    {
      g_auto (GStrv) sides = g_strsplit (*pair, "=", 2);
      if (sides[0] != NULL && sides[0][0] != '\0')
        g_assert_cmpint (gpu->assayVgpuSet (sides[0], sides[1]), ==, 0);
    }
  g_assert_cmpint (gpu->driver.init (0), ==, CUDA_SUCCESS);
  g_assert_cmpint (gpu->driver.ctx_create (&gpu->context, 0, 0), ==, CUDA_SUCCESS);
  return gpu;
}

void
gpu_close (Gpu *gpu)
{
  gpu->driver.ctx_destroy (gpu->context);
  gpu->assayVgpuSet ("report_fd", "-1");
  close (gpu->report_fd);
  g_free (gpu);
}

void *
gpu_symbol (const char *name)
{
  void *symbol = dlsym (open_driver (), name);
  g_assert_nonnull (symbol);
  return symbol;
}

typedef struct
{
  int (*create) (void **program, const char *source, const char *name, int headers, void *a,
                 void *b);
  int (*compile) (void *program, int count, const char *const *options);
  int (*ptx_size) (void *program, size_t *size);
  int (*ptx) (void *program, char *text);
  int (*log_size) (void *program, size_t *size);
  int (*log) (void *program, char *text);
  int (*destroy) (void **program);
} Nvrtc;

const AssayToolkit *
test_toolkit (void)
{
  static AssayToolkit *toolkit;
  if (!toolkit)
    toolkit = assay_toolkit_find (NULL);
  return toolkit;
}

/* NVRTC opens its builtins by name alone; in a folder that the loader does not know they must be there
 * already. */
static void
load_builtins (const char *nvrtc)
{
  g_autofree char *folder = g_path_get_dirname (nvrtc);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  for (const char *name; dir && (name = g_dir_read_name (dir));)
    if (g_str_has_prefix (name, "libnvrtc-builtins.so."))
      {
        g_autofree char *path = g_build_filename (folder, name, NULL);
        dlopen (path, RTLD_NOW | RTLD_GLOBAL);
      }
}

static const Nvrtc *
open_nvrtc (void)
{
  static Nvrtc nvrtc;
  static bool tried;
  if (!tried)
    {
      tried = true;
      const AssayToolkit *toolkit = test_toolkit ();
      if (toolkit)
        load_builtins (toolkit->nvrtc);
      void *library = toolkit ? dlopen (toolkit->nvrtc, RTLD_NOW) : NULL;
      if (library == NULL)
        return NULL;
      *(void **) &nvrtc.create = dlsym (library, "nvrtcCreateProgram");
      *(void **) &nvrtc.compile = dlsym (library, "nvrtcCompileProgram");
      *(void **) &nvrtc.ptx_size = dlsym (library, "nvrtcGetPTXSize");
      *(void **) &nvrtc.ptx = dlsym (library, "nvrtcGetPTX");
      *(void **) &nvrtc.log_size = dlsym (library, "nvrtcGetProgramLogSize");
      *(void **) &nvrtc.log = dlsym (library, "nvrtcGetProgramLog");
      *(void **) &nvrtc.destroy = dlsym (library, "nvrtcDestroyProgram");
    }
  return nvrtc.create != NULL ? &nvrtc : NULL;
}

static void
fail_with_log (const Nvrtc *nvrtc, void *program)
{
  size_t size = 0;
  nvrtc->log_size (program, &size);
  g_autofree char *log = g_malloc0 (size + 1);
  nvrtc->log (program, log);
  g_error ("%s", log);
}

char *
compile_text (const char *text, const char *name, const char *extra_option)
{
  const Nvrtc *nvrtc = open_nvrtc ();
  void *program = NULL;
  size_t size = 0;
  if (nvrtc == NULL)
    {
      g_test_skip ("no CUDA compiler is installed");
      return NULL;
    }
  g_assert_cmpint (nvrtc->create (&program, text, name, 0, NULL, NULL), ==, 0);
  g_autoptr (GPtrArray) options = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (options, g_strdup ("-lineinfo"));
  if (extra_option == NULL || !g_str_has_prefix (extra_option, "--gpu-architecture"))
    g_ptr_array_add (options, g_strdup ("--gpu-architecture=compute_80"));
  g_ptr_array_add (options, g_strdup ("-default-device"));
  for (char **folder = test_toolkit ()->includes; folder && *folder; folder++)
    g_ptr_array_add (options, g_strconcat ("-I", *folder, NULL));
  if (extra_option)
    g_ptr_array_add (options, g_strdup (extra_option));
  if (nvrtc->compile (program, (int) options->len, (const char *const *) options->pdata) != 0)
    fail_with_log (nvrtc, program);
  nvrtc->ptx_size (program, &size);
  char *ptx = g_malloc0 (size + 1);
  nvrtc->ptx (program, ptx);
  nvrtc->destroy (&program);
  return ptx;
}

static char *
read_kernels (const char *file)
{
  g_autofree char *path =
      g_build_filename (g_getenv ("ASSAY_SOURCE_DIR"), "tests", "vgpu", "kernels", file, NULL);
  g_autoptr (GError) error = NULL;
  char *text = NULL;
  if (!g_file_get_contents (path, &text, NULL, &error))
    g_error ("%s", error->message);
  return text;
}

char *
compile_kernels (const char *file, const char *extra_option)
{
  g_autofree char *text = read_kernels (file);
  return compile_text (text, file, extra_option);
}

int
marked_line (const char *file, const char *marker)
{
  g_autofree char *text = read_kernels (file);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (int i = 0; lines[i] != NULL; i++)
    if (strstr (lines[i], marker) != NULL)
      return i + 1;
  g_error ("no line of %s has '%s'", file, marker);
}

CUfunction
gpu_load (Gpu *gpu, const char *ptx, const char *kernel)
{
  CUmodule module = NULL;
  CUfunction function = NULL;
  CUresult result = gpu->driver.module_load_data (&module, ptx);
  if (result != CUDA_SUCCESS)
    g_error ("%s", gpu->assayVgpuLastError ());
  if (kernel == NULL)
    return NULL;
  result = gpu->driver.module_get_function (&function, module, kernel);
  g_assert_cmpint (result, ==, CUDA_SUCCESS);
  return function;
}

CUdeviceptr
gpu_put (Gpu *gpu, const void *data, size_t bytes, const char *name)
{
  CUdeviceptr pointer = 0;
  g_assert_cmpint (gpu->driver.mem_alloc (&pointer, bytes), ==, CUDA_SUCCESS);
  if (data != NULL)
    g_assert_cmpint (gpu->driver.memcpy_htod (pointer, data, bytes), ==, CUDA_SUCCESS);
  if (name != NULL)
    g_assert_cmpint (gpu->assayVgpuNameAllocation (pointer, name), ==, 0);
  return pointer;
}

void
gpu_get (Gpu *gpu, void *data, CUdeviceptr from, size_t bytes)
{
  g_assert_cmpint (gpu->driver.memcpy_dtoh (data, from, bytes), ==, CUDA_SUCCESS);
}

CUresult
gpu_run (Gpu *gpu, CUfunction function, unsigned grid_x, unsigned grid_y, unsigned block_x,
         unsigned block_y, unsigned shared, ...)
{
  void *parameters[24] = {NULL};
  va_list arguments;
  va_start (arguments, shared);
  for (int i = 0; i < 23; i++)
    {
      parameters[i] = va_arg (arguments, void *);
      if (parameters[i] == NULL)
        break;
    }
  va_end (arguments);
  CUresult result = gpu->driver.launch_kernel (function, grid_x, grid_y, 1, block_x, block_y, 1,
                                               shared, NULL, parameters, NULL);
  return result != CUDA_SUCCESS ? result : gpu->driver.ctx_synchronize ();
}

GPtrArray *
gpu_reports (Gpu *gpu)
{
  GPtrArray *reports = g_ptr_array_new_with_free_func ((GDestroyNotify) json_object_unref);
  off_t size = lseek (gpu->report_fd, 0, SEEK_END);
  g_autofree char *text = g_malloc0 ((size_t) size + 1);
  g_assert_cmpint (pread (gpu->report_fd, text, (size_t) size, 0), ==, size);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (char **line = lines; *line != NULL; line++)
    {
      g_autoptr (JsonParser) parser = json_parser_new ();
      g_autoptr (GError) error = NULL;
      if (**line == '\0')
        continue;
      if (!json_parser_load_from_data (parser, *line, -1, &error))
        g_error ("%s in %s", error->message, *line);
      g_ptr_array_add (reports,
                       json_object_ref (json_node_get_object (json_parser_get_root (parser))));
    }
  return reports;
}

JsonObject *
find_type (GPtrArray *reports, const char *type)
{
  for (guint i = 0; i < reports->len; i++)
    if (strcmp (json_object_get_string_member (reports->pdata[i], "type"), type) == 0)
      return reports->pdata[i];
  return NULL;
}

JsonObject *
find_report (GPtrArray *reports, const char *rule)
{
  for (guint i = 0; i < reports->len; i++)
    if (json_object_has_member (reports->pdata[i], "rule")
        && strcmp (json_object_get_string_member (reports->pdata[i], "rule"), rule) == 0)
      return reports->pdata[i];
  return NULL;
}
