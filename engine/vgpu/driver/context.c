/* SPDX-License-Identifier: Apache-2.0 */
/* Initialisation, the device, contexts. */
#include "engine/vgpu/check/record.h"
#include "engine/vgpu/driver/work.h"
#include "engine/vgpu/exec/run.h"
#include "engine/vgpu/ptx/arena.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of a program that cannot be run at all. */
#define REFUSED_STATUS 125

VgpuDriver vgpu_driver = {.lock = PTHREAD_MUTEX_INITIALIZER};

#define MAX_PUSHED 32
static __thread CUcontext current_stack[MAX_PUSHED];
static __thread int current_depth; /* the current context is the last of the stack */

CUcontext
vgpu_current (void)
{
  return current_depth > 0 ? current_stack[current_depth - 1] : NULL;
}

CUresult
vgpu_enter (CUcontext *context)
{
  if (!vgpu_driver.ready)
    return CUDA_ERROR_NOT_INITIALIZED;
  pthread_mutex_lock (&vgpu_driver.lock);
  *context = vgpu_current ();
  if (*context == NULL)
    return vgpu_leave (CUDA_ERROR_INVALID_CONTEXT);
  if ((*context)->sticky != CUDA_SUCCESS)
    return vgpu_leave ((*context)->sticky);
  return CUDA_SUCCESS;
}

CUresult
vgpu_leave (CUresult result)
{
  pthread_mutex_unlock (&vgpu_driver.lock);
  return result;
}

CUresult
cuInit (unsigned int flags)
{
  CUresult result = CUDA_SUCCESS;
  if (flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  pthread_mutex_lock (&vgpu_driver.lock);
  if (!vgpu_driver.ready)
    {
      const char *environment = getenv ("ASSAY_VGPU");
      vgpu_settings_defaults ();
      if (environment != NULL && !vgpu_settings_apply (environment))
        {
          fprintf (stderr, "%s (in ASSAY_VGPU)\n", assayVgpuLastError ());
          result = CUDA_ERROR_INVALID_VALUE;
        }
      vgpu_driver.ready = true;
    }
  pthread_mutex_unlock (&vgpu_driver.lock);
  return result;
}

CUresult
cuDriverGetVersion (int *version)
{
  if (version == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  *version = 13000;
  return CUDA_SUCCESS;
}

static const struct
{
  CUresult code;
  const char *name, *text;
} results[] = {
#define RESULT(symbol, value, sentence) {symbol, #symbol, sentence},
    ASSAY_CUDA_RESULTS (RESULT)
#undef RESULT
};

CUresult
cuGetErrorName (CUresult error, const char **text)
{
  for (size_t i = 0; text != NULL && i < sizeof results / sizeof results[0]; i++)
    if (results[i].code == error)
      {
        *text = results[i].name;
        return CUDA_SUCCESS;
      }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult
cuGetErrorString (CUresult error, const char **text)
{
  for (size_t i = 0; text != NULL && i < sizeof results / sizeof results[0]; i++)
    if (results[i].code == error)
      {
        *text = results[i].text;
        return CUDA_SUCCESS;
      }
  return CUDA_ERROR_INVALID_VALUE;
}

/* Names are asked for with or without their version. */
CUresult
cuGetProcAddress_v2 (const char *symbol, void **function, int cuda_version, uint64_t flags,
                     CUdriverProcAddressQueryResult *status)
{
  static const struct
  {
    const char *name;
    void *function;
  } functions[] = {
#define FUNCTION(name, member, parameters) {#name, (void *) name},
      ASSAY_CUDA_DRIVER (FUNCTION) ASSAY_CUDA_DRIVER_MORE (FUNCTION)
#undef FUNCTION
  };
  if (symbol == NULL || function == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  size_t length = strlen (symbol);
  *function = NULL;
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
    if (strncmp (functions[i].name, symbol, length) == 0
        && (functions[i].name[length] == '\0'
            || strncmp (functions[i].name + length, "_v", 2) == 0))
      *function = functions[i].function;
  if (status != NULL)
    *status =
        *function != NULL ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return *function != NULL ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

/* The default runtime is part of the program itself and cannot do without private tables. */
static bool
comes_from_program (const void *address)
{
  Dl_info here;
  return dladdr (address, &here) != 0 && here.dli_fname != NULL
         && strstr (here.dli_fname, ".so") == NULL;
}

static void
refuse_static_runtime (void)
{
  static const char text[] =
      "the program was linked with the static CUDA runtime, which asks for private tables of "
      "NVIDIA's "
      "driver: build it with -cudart shared, as by NVCC_APPEND_FLAGS=\"-cudart shared\"";
  fprintf (stderr, "virtual GPU: %s\n", text);
  vgpu_report_launch ("env.interpreter-gap", text, NULL);
  fflush (NULL);
  _exit (REFUSED_STATUS);
}

/* The private tables of the real driver. It has to be exported all the same: NVRTC looks for it in
 * whatever calls itself libcuda.so.1, and takes a refusal well but its absence badly. */
CUresult
cuGetExportTable (const void **table, const CUuuid *id)
{
  (void) id;
  if (comes_from_program (__builtin_return_address (0)))
    refuse_static_runtime ();
  if (table != NULL)
    *table = NULL;
  return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult
check_device (CUdevice device)
{
  if (!vgpu_driver.ready)
    return CUDA_ERROR_NOT_INITIALIZED;
  return device == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult
cuDeviceGet (CUdevice *device, int ordinal)
{
  if (device == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  *device = ordinal;
  return check_device (ordinal);
}

CUresult
cuDeviceGetCount (int *count)
{
  if (count == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  *count = 1;
  return check_device (0);
}

CUresult
cuDeviceGetName (char *name, int length, CUdevice device)
{
  if (name == NULL || length < 1)
    return CUDA_ERROR_INVALID_VALUE;
  CUresult result = check_device (device);
  if (result == CUDA_SUCCESS)
    snprintf (name, (size_t) length, "Assay virtual GPU (%s)", vgpu_driver.settings.target->name);
  return result;
}

CUresult
cuDeviceGetUuid_v2 (CUuuid *uuid, CUdevice device)
{
  if (uuid == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  memcpy (uuid->bytes, "Assay virtualGPU", sizeof uuid->bytes);
  return check_device (device);
}

CUresult
cuDeviceTotalMem_v2 (size_t *bytes, CUdevice device)
{
  if (bytes == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  CUresult result = check_device (device);
  if (result == CUDA_SUCCESS)
    *bytes = vgpu_driver.settings.target->memory_bytes;
  return result;
}

static int
attribute_of (const AssayTargetLimits *t, CUdevice_attribute attribute)
{
  const struct
  {
    CUdevice_attribute attribute;
    uint64_t value;
  } values[] = {
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, t->max_threads_per_block},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, t->max_block_dim[0]},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, t->max_block_dim[1]},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, t->max_block_dim[2]},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, t->max_grid_dim[0]},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, t->max_grid_dim[1]},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, t->max_grid_dim[2]},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, t->shared_per_block},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, t->shared_per_block_optin},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, t->shared_per_sm},
      {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, t->shared_reserved},
      {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536},
      {CU_DEVICE_ATTRIBUTE_WARP_SIZE, t->warp_size},
      {CU_DEVICE_ATTRIBUTE_MAX_PITCH, 2147483647},
      {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, t->registers_per_block},
      {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, t->registers_per_sm},
      {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512},
      {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, t->sm_count},
      {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
      {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
      {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, t->l2_bytes},
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, t->max_warps_per_sm * t->warp_size},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, t->max_blocks_per_sm},
      {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, (uint64_t) t->major},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, (uint64_t) t->minor},
      {CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED, 1},
      {CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED, 1},
      {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
      {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
      {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1},
      {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 1},
      {CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED, 1},
      {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 1024},
      {(CUdevice_attribute) 84, 0}, /* more than one device on the board */
      {(CUdevice_attribute) 89, 1}, /* managed memory from host and device at once */
  };
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
    if (values[i].attribute == attribute)
      return (int) values[i].value;
  /* Everything else is a feature that is not there, or a clock rate: there is no time here. */
  return 0;
}

CUresult
cuDeviceGetAttribute (int *value, CUdevice_attribute attribute, CUdevice device)
{
  if (value == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  CUresult result = check_device (device);
  if (result == CUDA_SUCCESS)
    *value = attribute_of (vgpu_driver.settings.target, attribute);
  return result;
}

static CUcontext
new_context (bool primary)
{
  CUcontext context = vgpu_take (sizeof *context);
  context->memory = vgpu_memory_new ();
  context->primary = primary;
  context->queue_tail = &context->queue;
  context->legacy = vgpu_take (sizeof *context->legacy);
  context->per_thread = vgpu_take (sizeof *context->per_thread);
  context->legacy->context = context->per_thread->context = context;
  return context;
}

static void
report_leak (VgpuAllocation *allocation, void *data)
{
  char text[160];
  if (allocation->module)
    return;
  snprintf (text, sizeof text, "allocation %s of %llu bytes was never freed", allocation->name,
            (unsigned long long) (allocation->hi - allocation->lo));
  vgpu_report_launch ("mem.leak", text, NULL);
}

static void
report_leaks (CUcontext context)
{
  if (vgpu_driver.settings.checks & VGPU_CHECK_LEAK)
    vgpu_memory_each (context->memory, report_leak, NULL);
}

/* A program that ends with its primary context in use has not freed what is left there. */
static __attribute__ ((destructor)) void
at_exit (void)
{
  if (vgpu_driver.primary != NULL)
    report_leaks (vgpu_driver.primary);
}

static void
clear_context (CUcontext context)
{
  vgpu_streams_clear (context);
  report_leaks (context);
  while (context->modules != NULL)
    {
      CUmodule next = context->modules->next;
      vgpu_module_free (context->modules);
      context->modules = next;
    }
  vgpu_arrays_clear (context);
  vgpu_memory_free (context->memory);
  context->memory = NULL;
  context->workspace = 0;
}

CUresult
cuDevicePrimaryCtxRetain (CUcontext *context, CUdevice device)
{
  CUresult result = check_device (device);
  if (result != CUDA_SUCCESS)
    return result;
  if (context == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  pthread_mutex_lock (&vgpu_driver.lock);
  if (vgpu_driver.primary == NULL)
    vgpu_driver.primary = new_context (true);
  vgpu_driver.primary->references++;
  *context = vgpu_driver.primary;
  return vgpu_leave (CUDA_SUCCESS);
}

/* The structure stays: other threads may still have it as current. */
static void
reset_primary (void)
{
  CUcontext context = vgpu_driver.primary;
  if (context == NULL)
    return;
  clear_context (context);
  context->memory = vgpu_memory_new ();
  context->sticky = CUDA_SUCCESS;
}

CUresult
cuDevicePrimaryCtxRelease_v2 (CUdevice device)
{
  CUresult result = check_device (device);
  if (result != CUDA_SUCCESS)
    return result;
  pthread_mutex_lock (&vgpu_driver.lock);
  if (vgpu_driver.primary == NULL || vgpu_driver.primary->references == 0)
    return vgpu_leave (CUDA_ERROR_INVALID_CONTEXT);
  if (--vgpu_driver.primary->references == 0)
    reset_primary ();
  return vgpu_leave (CUDA_SUCCESS);
}

CUresult
cuDevicePrimaryCtxReset_v2 (CUdevice device)
{
  CUresult result = check_device (device);
  if (result != CUDA_SUCCESS)
    return result;
  pthread_mutex_lock (&vgpu_driver.lock);
  reset_primary ();
  return vgpu_leave (CUDA_SUCCESS);
}

CUresult
cuDevicePrimaryCtxGetState (CUdevice device, unsigned int *flags, int *active)
{
  if (flags == NULL || active == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  *flags = 0;
  *active = vgpu_driver.primary != NULL && vgpu_driver.primary->references > 0;
  return check_device (device);
}

CUresult
cuCtxCreate_v2 (CUcontext *context, unsigned int flags, CUdevice device)
{
  CUresult result = check_device (device);
  if (result != CUDA_SUCCESS)
    return result;
  if (context == NULL || current_depth == MAX_PUSHED)
    return CUDA_ERROR_INVALID_VALUE;
  *context = new_context (false);
  current_stack[current_depth++] = *context;
  return CUDA_SUCCESS;
}

CUresult
cuCtxDestroy_v2 (CUcontext context)
{
  if (context == NULL || context->primary)
    return CUDA_ERROR_INVALID_CONTEXT;
  pthread_mutex_lock (&vgpu_driver.lock);
  int kept = 0;
  for (int i = 0; i < current_depth; i++)
    if (current_stack[i] != context)
      current_stack[kept++] = current_stack[i];
  current_depth = kept;
  clear_context (context);
  while (context->streams != NULL)
    {
      CUstream next = context->streams->next;
      free (context->streams->tips);
      free (context->streams);
      context->streams = next;
    }
  while (context->events != NULL)
    {
      CUevent next = context->events->next;
      free (context->events->tips);
      free (context->events);
      context->events = next;
    }
  free (context->legacy);
  free (context->per_thread);
  free (context->pool);
  free (context);
  return vgpu_leave (CUDA_SUCCESS);
}

CUresult
cuCtxSetCurrent (CUcontext context)
{
  if (!vgpu_driver.ready)
    return CUDA_ERROR_NOT_INITIALIZED;
  if (current_depth > 0)
    current_depth--;
  if (context != NULL)
    current_stack[current_depth++] = context;
  return CUDA_SUCCESS;
}

CUresult
cuCtxGetCurrent (CUcontext *context)
{
  if (context == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  if (!vgpu_driver.ready)
    return CUDA_ERROR_NOT_INITIALIZED;
  *context = vgpu_current ();
  return CUDA_SUCCESS;
}

CUresult
cuCtxPushCurrent_v2 (CUcontext context)
{
  if (!vgpu_driver.ready)
    return CUDA_ERROR_NOT_INITIALIZED;
  if (context == NULL || current_depth == MAX_PUSHED)
    return CUDA_ERROR_INVALID_VALUE;
  current_stack[current_depth++] = context;
  return CUDA_SUCCESS;
}

CUresult
cuCtxPopCurrent_v2 (CUcontext *context)
{
  if (!vgpu_driver.ready)
    return CUDA_ERROR_NOT_INITIALIZED;
  if (current_depth == 0)
    return CUDA_ERROR_INVALID_CONTEXT;
  current_depth--;
  if (context != NULL)
    *context = current_stack[current_depth];
  return CUDA_SUCCESS;
}

CUresult
cuCtxGetDevice (CUdevice *device)
{
  if (device == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  *device = 0;
  return vgpu_current () != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult
cuCtxSynchronize (void)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  return result != CUDA_SUCCESS ? result : vgpu_leave (vgpu_wait_all (context));
}
