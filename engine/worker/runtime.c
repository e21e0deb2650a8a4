/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/worker/runtime.h"

#include "engine/worker/runtime-abi.h"

/* A kernel or variable that the library registered when it was loaded. */
typedef struct
{
  const void *host;
  const char *name;
  CUfunction function; /* once it was asked for */
} Registered;

typedef struct
{
  AssayDim3 grid, block;
  size_t shared;
  void *stream;
} Configuration;

AssayRuntimeState assay_runtime;
static GPtrArray *registered; /* Registered * */
static GArray *configurations;

void
assay_runtime_begin (const AssayDriver *driver, CUmodule module, AssayRuntimeLaunched launched,
                     gpointer data)
{
  assay_runtime =
      (AssayRuntimeState) {.driver = driver, .module = module, .launched = launched, .data = data};
}

int
assay_runtime_unread_error (const char **kernel)
{
  *kernel = assay_runtime.failed_kernel;
  return assay_runtime.failed_kernel ? assay_runtime.last_error : CUDA_SUCCESS;
}

int
assay_runtime_result (int code)
{
  if (code != CUDA_SUCCESS && code != CUDA_ERROR_NOT_READY)
    assay_runtime.last_error = code;
  return code;
}

CUstream
assay_runtime_stream (void *stream)
{
  return (guintptr) stream <= 2 ? NULL : stream;
}

/* ---- what nvcc's own start-up code calls ---- */

void **
__cudaRegisterFatBinary (void *fat_binary)
{
  static void *handle;
  handle = fat_binary;
  return &handle;
}

void
__cudaRegisterFatBinaryEnd (void **handle)
{
  (void) handle;
}

void
__cudaUnregisterFatBinary (void **handle)
{
  (void) handle;
}

char
__cudaInitModule (void **handle)
{
  (void) handle;
  return 1;
}

static void
add (const void *host, const char *name)
{
  Registered *entry = g_new0 (Registered, 1);
  if (!registered)
    registered = g_ptr_array_new ();
  entry->host = host;
  entry->name = name;
  g_ptr_array_add (registered, entry);
}

void
__cudaRegisterFunction (void **handle, const char *host, char *device, const char *name,
                        int thread_limit, void *thread, void *block, void *block_size,
                        void *grid_size, int *warp_size)
{
  add (host, name);
}

void
__cudaRegisterVar (void **handle, char *host, char *device, const char *name, int external,
                   size_t bytes, int constant, int global)
{
  add (host, name);
}

static Registered *
find (const void *host)
{
  for (guint i = 0; registered && i < registered->len; i++)
    {
      Registered *entry = g_ptr_array_index (registered, i);
      if (entry->host == host)
        return entry;
    }
  return NULL;
}

/* ---- launches ---- */

unsigned int
__cudaPushCallConfiguration (AssayDim3 grid, AssayDim3 block, size_t shared, void *stream)
{
  Configuration configuration = {grid, block, shared, stream};
  if (!configurations)
    configurations = g_array_new (FALSE, FALSE, sizeof (Configuration));
  g_array_append_val (configurations, configuration);
  return 0;
}

int
__cudaPopCallConfiguration (AssayDim3 *grid, AssayDim3 *block, size_t *shared, void *stream)
{
  if (!configurations || configurations->len == 0)
    return assay_runtime_result (ASSAY_CUDA_ERROR_INVALID_CONFIGURATION);
  const Configuration *last =
      &g_array_index (configurations, Configuration, configurations->len - 1);
  *grid = last->grid;
  *block = last->block;
  *shared = last->shared;
  *(void **) stream = last->stream;
  g_array_set_size (configurations, configurations->len - 1);
  return CUDA_SUCCESS;
}

static int
resolve (Registered *entry)
{
  if (!entry)
    return ASSAY_CUDA_ERROR_INVALID_DEVICE_FUNCTION;
  if (entry->function)
    return CUDA_SUCCESS;
  return assay_runtime.driver->call.module_get_function (&entry->function, assay_runtime.module,
                                                         entry->name);
}

static int
launch (Registered *entry, AssayDim3 grid, AssayDim3 block, void **arguments, size_t shared,
        void *stream)
{
  const unsigned int shape[6] = {grid.x, grid.y, grid.z, block.x, block.y, block.z};
  int code = resolve (entry);
  if (code == CUDA_SUCCESS)
    code = assay_runtime.driver->call.launch_kernel (
        entry->function, grid.x, grid.y, grid.z, block.x, block.y, block.z, (unsigned) shared,
        assay_runtime_stream (stream), arguments, NULL);
  /* The runtime has a word of its own for a shape that no device takes. */
  if (code == CUDA_ERROR_INVALID_VALUE)
    code = ASSAY_CUDA_ERROR_INVALID_CONFIGURATION;
  if (code == CUDA_SUCCESS)
    assay_runtime.launched (entry->name, entry->function, shape, shared, assay_runtime.data);
  else
    assay_runtime.failed_kernel = entry ? entry->name : "";
  return assay_runtime_result (code);
}

int
__cudaGetKernel (void **kernel, const void *host)
{
  *kernel = find (host);
  return *kernel ? CUDA_SUCCESS : assay_runtime_result (ASSAY_CUDA_ERROR_INVALID_DEVICE_FUNCTION);
}

int
__cudaLaunchKernel (void *kernel, AssayDim3 grid, AssayDim3 block, void **arguments, size_t shared,
                    void *stream)
{
  return launch (kernel, grid, block, arguments, shared, stream);
}

int
cudaLaunchKernel (const void *host, AssayDim3 grid, AssayDim3 block, void **arguments,
                  size_t shared, void *stream)
{
  return launch (find (host), grid, block, arguments, shared, stream);
}

int
cudaFuncSetAttribute (const void *host, int attribute, int value)
{
  Registered *entry = find (host);
  int code = resolve (entry);
  if (code == CUDA_SUCCESS)
    code = assay_runtime.driver->call.func_set_attribute (entry->function,
                                                          (CUfunction_attribute) attribute, value);
  return assay_runtime_result (code);
}

int
cudaFuncGetAttributes (AssayFuncAttributes *attributes, const void *host)
{
  static const CUfunction_attribute wanted[] = {
      CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES,
      CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,  CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
      CU_FUNC_ATTRIBUTE_NUM_REGS,          CU_FUNC_ATTRIBUTE_PTX_VERSION,
      CU_FUNC_ATTRIBUTE_BINARY_VERSION,
  };
  int values[G_N_ELEMENTS (wanted)] = {0};
  Registered *entry = find (host);
  int code = resolve (entry);
  for (gsize i = 0; i < G_N_ELEMENTS (wanted) && code == CUDA_SUCCESS; i++)
    code = assay_runtime.driver->call.func_get_attribute (&values[i], wanted[i], entry->function);
  if (code == CUDA_SUCCESS)
    *attributes = (AssayFuncAttributes) {
        .shared_bytes = (size_t) values[0],
        .const_bytes = (size_t) values[1],
        .local_bytes = (size_t) values[2],
        .max_threads = values[3],
        .registers = values[4],
        .ptx_version = values[5],
        .binary_version = values[6],
        .max_dynamic_shared = 48 * 1024,
    };
  return assay_runtime_result (code);
}

int
cudaFuncSetCacheConfig (const void *host, int config)
{
  Registered *entry = find (host);
  int code = resolve (entry);
  if (code == CUDA_SUCCESS)
    code = assay_runtime.driver->call.func_set_cache_config (entry->function, config);
  return assay_runtime_result (code);
}

int
cudaOccupancyMaxActiveBlocksPerMultiprocessor (int *blocks, const void *host, int block_size,
                                               size_t shared)
{
  Registered *entry = find (host);
  int code = resolve (entry);
  if (code == CUDA_SUCCESS)
    code = assay_runtime.driver->call.occupancy_max_active_blocks (blocks, entry->function,
                                                                   block_size, shared);
  return assay_runtime_result (code);
}

int
cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags (int *blocks, const void *host,
                                                        int block_size, size_t shared,
                                                        unsigned int flags)
{
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor (blocks, host, block_size, shared);
}

/* ---- errors ---- */

int
cudaGetLastError (void)
{
  int code = cudaPeekAtLastError ();
  assay_runtime.last_error = CUDA_SUCCESS;
  return code;
}

int
cudaPeekAtLastError (void)
{
  assay_runtime.failed_kernel = NULL;
  return assay_runtime.last_error;
}

const char *
cudaGetErrorString (int error)
{
  if (error == ASSAY_CUDA_ERROR_INVALID_CONFIGURATION)
    return "invalid configuration argument";
  if (error == ASSAY_CUDA_ERROR_INVALID_DEVICE_FUNCTION)
    return "invalid device function";
  return assay_driver_error_text (error);
}

const char *
cudaGetErrorName (int error)
{
  if (error == ASSAY_CUDA_ERROR_INVALID_CONFIGURATION)
    return "cudaErrorInvalidConfiguration";
  return assay_driver_error_name (error);
}

/* ---- variables ---- */

int
cudaGetSymbolAddress (void **pointer, const void *symbol)
{
  CUdeviceptr address = 0;
  size_t bytes = 0;
  Registered *entry = find (symbol);
  int code = entry ? assay_runtime.driver->call.module_get_global (
                 &address, &bytes, assay_runtime.module, entry->name)
                   : ASSAY_CUDA_ERROR_INVALID_SYMBOL;
  *pointer = (void *) (guintptr) address;
  return assay_runtime_result (code);
}

int
cudaMemcpyToSymbol (const void *symbol, const void *from, size_t bytes, size_t offset, int kind)
{
  void *to = NULL;
  int code = cudaGetSymbolAddress (&to, symbol);
  return code == CUDA_SUCCESS ? cudaMemcpy ((char *) to + offset, from, bytes, kind) : code;
}

int
cudaMemcpyToSymbolAsync (const void *symbol, const void *from, size_t bytes, size_t offset,
                         int kind, void *stream)
{
  void *to = NULL;
  int code = cudaGetSymbolAddress (&to, symbol);
  return code == CUDA_SUCCESS ? cudaMemcpyAsync ((char *) to + offset, from, bytes, kind, stream)
                              : code;
}

int
cudaMemcpyFromSymbol (void *to, const void *symbol, size_t bytes, size_t offset, int kind)
{
  void *from = NULL;
  int code = cudaGetSymbolAddress (&from, symbol);
  return code == CUDA_SUCCESS ? cudaMemcpy (to, (char *) from + offset, bytes, kind) : code;
}
