/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The part of the CUDA driver's binary interface that Assay uses, at its 12.0 level.
 *
 * One list serves both sides: ASSAY_CUDA_DRIVER is expanded into a table of pointers by whoever
 * opens a driver, and into prototypes by the virtual GPU, which is one. Symbols carry the version
 * suffix of the interface described here; names and values are the published ones of cuda.h, and a
 * test compares them with that header where a toolkit is installed. */

typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct
{
  char bytes[16];
} CUuuid;
typedef void (*CUhostFn) (void *data);

/* clang-format off */
#define ASSAY_CUDA_RESULTS(X) \
  X (CUDA_SUCCESS, 0, "no error") \
  X (CUDA_ERROR_INVALID_VALUE, 1, "invalid argument") \
  X (CUDA_ERROR_OUT_OF_MEMORY, 2, "out of memory") \
  X (CUDA_ERROR_NOT_INITIALIZED, 3, "initialization error") \
  X (CUDA_ERROR_DEINITIALIZED, 4, "driver shutting down") \
  X (CUDA_ERROR_STUB_LIBRARY, 34, "CUDA driver is a stub library") \
  X (CUDA_ERROR_NO_DEVICE, 100, "no CUDA-capable device is detected") \
  X (CUDA_ERROR_INVALID_DEVICE, 101, "invalid device ordinal") \
  X (CUDA_ERROR_INVALID_IMAGE, 200, "device kernel image is invalid") \
  X (CUDA_ERROR_INVALID_CONTEXT, 201, "invalid device context") \
  X (CUDA_ERROR_NO_BINARY_FOR_GPU, 209, "no kernel image is available for execution on the device") \
  X (CUDA_ERROR_ECC_UNCORRECTABLE, 214, "uncorrectable ECC error encountered") \
  X (CUDA_ERROR_UNSUPPORTED_LIMIT, 215, "limit is not supported on this architecture") \
  X (CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, 217, "peer access is not supported between these two devices") \
  X (CUDA_ERROR_INVALID_PTX, 218, "a PTX JIT compilation failed") \
  X (CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222, "the provided PTX was compiled with an unsupported toolchain.") \
  X (CUDA_ERROR_INVALID_SOURCE, 300, "device kernel image is invalid") \
  X (CUDA_ERROR_FILE_NOT_FOUND, 301, "file not found") \
  X (CUDA_ERROR_OPERATING_SYSTEM, 304, "OS call failed or operation not supported on this OS") \
  X (CUDA_ERROR_INVALID_HANDLE, 400, "invalid resource handle") \
  X (CUDA_ERROR_ILLEGAL_STATE, 401, "the operation cannot be performed in the present state") \
  X (CUDA_ERROR_NOT_FOUND, 500, "named symbol not found") \
  X (CUDA_ERROR_NOT_READY, 600, "device not ready") \
  X (CUDA_ERROR_ILLEGAL_ADDRESS, 700, "an illegal memory access was encountered") \
  X (CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701, "too many resources requested for launch") \
  X (CUDA_ERROR_LAUNCH_TIMEOUT, 702, "the launch timed out and was terminated") \
  X (CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED, 704, "peer access is already enabled") \
  X (CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, 705, "peer access has not been enabled") \
  X (CUDA_ERROR_CONTEXT_IS_DESTROYED, 709, "context is destroyed") \
  X (CUDA_ERROR_ASSERT, 710, "device-side assert triggered") \
  X (CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, 712, "part or all of the requested memory range is already mapped") \
  X (CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, 713, "pointer does not correspond to a registered memory region") \
  X (CUDA_ERROR_HARDWARE_STACK_ERROR, 714, "hardware stack error") \
  X (CUDA_ERROR_ILLEGAL_INSTRUCTION, 715, "an illegal instruction was encountered") \
  X (CUDA_ERROR_MISALIGNED_ADDRESS, 716, "misaligned address") \
  X (CUDA_ERROR_INVALID_ADDRESS_SPACE, 717, "operation not supported on global/shared address space") \
  X (CUDA_ERROR_INVALID_PC, 718, "invalid program counter") \
  X (CUDA_ERROR_LAUNCH_FAILED, 719, "unspecified launch failure") \
  X (CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, 720, "too many blocks in cooperative launch") \
  X (CUDA_ERROR_NOT_PERMITTED, 800, "operation not permitted") \
  X (CUDA_ERROR_NOT_SUPPORTED, 801, "operation not supported") \
  X (CUDA_ERROR_SYSTEM_NOT_READY, 802, "system not yet initialized") \
  X (CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 803, "system has unsupported display driver / cuda driver combination") \
  X (CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, 804, "forward compatibility was attempted on non supported HW") \
  X (CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, 900, "operation not permitted when stream is capturing") \
  X (CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, 901, "operation failed due to a previous error during capture") \
  X (CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, 903, "capture was not ended in the same stream as it began") \
  X (CUDA_ERROR_STREAM_CAPTURE_UNJOINED, 904, "capturing stream has unjoined work") \
  X (CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, 906, "operation would make the legacy stream depend on a capturing blocking stream") \
  X (CUDA_ERROR_CAPTURED_EVENT, 907, "operation not permitted on an event last recorded in a capturing stream") \
  X (CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, 910, "the graph update was not performed because it included changes which violated constraints specific to instantiated graph update") \
  X (CUDA_ERROR_INVALID_CLUSTER_SIZE, 912, "invalid cluster size") \
  X (CUDA_ERROR_UNKNOWN, 999, "unknown error")

#define ASSAY_CUDA_DEVICE_ATTRIBUTES(X) \
  X (CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1) \
  X (CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 2) \
  X (CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 3) \
  X (CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 4) \
  X (CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 5) \
  X (CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 6) \
  X (CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 7) \
  X (CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 8) \
  X (CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 9) \
  X (CU_DEVICE_ATTRIBUTE_WARP_SIZE, 10) \
  X (CU_DEVICE_ATTRIBUTE_MAX_PITCH, 11) \
  X (CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 12) \
  X (CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 13) \
  X (CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 14) \
  X (CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16) \
  X (CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT, 17) \
  X (CU_DEVICE_ATTRIBUTE_INTEGRATED, 18) \
  X (CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 19) \
  X (CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, 20) \
  X (CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 31) \
  X (CU_DEVICE_ATTRIBUTE_ECC_ENABLED, 32) \
  X (CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 33) \
  X (CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, 34) \
  X (CU_DEVICE_ATTRIBUTE_TCC_DRIVER, 35) \
  X (CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 36) \
  X (CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 37) \
  X (CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 38) \
  X (CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 39) \
  X (CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 40) \
  X (CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 41) \
  X (CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, 50) \
  X (CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75) \
  X (CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76) \
  X (CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 78) \
  X (CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED, 79) \
  X (CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED, 80) \
  X (CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 81) \
  X (CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 82) \
  X (CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 83) \
  X (CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED, 90) \
  X (CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 95) \
  X (CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 97) \
  X (CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 106) \
  X (CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 111) \
  X (CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 115) \
  X (CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 120)

#define ASSAY_CUDA_FUNCTION_ATTRIBUTES(X) \
  X (CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0) \
  X (CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1) \
  X (CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, 2) \
  X (CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 3) \
  X (CU_FUNC_ATTRIBUTE_NUM_REGS, 4) \
  X (CU_FUNC_ATTRIBUTE_PTX_VERSION, 5) \
  X (CU_FUNC_ATTRIBUTE_BINARY_VERSION, 6) \
  X (CU_FUNC_ATTRIBUTE_CACHE_MODE_CA, 7) \
  X (CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 8) \
  X (CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 9) \
  X (CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 14)
/* clang-format on */

typedef enum
{
#define ASSAY_CUDA_ENUM(name, value, ...) name = value,
  ASSAY_CUDA_RESULTS (ASSAY_CUDA_ENUM)
} CUresult;

typedef enum
{
  ASSAY_CUDA_DEVICE_ATTRIBUTES (ASSAY_CUDA_ENUM)
} CUdevice_attribute;

typedef enum
{
  ASSAY_CUDA_FUNCTION_ATTRIBUTES (ASSAY_CUDA_ENUM)
#undef ASSAY_CUDA_ENUM
} CUfunction_attribute;

/* Options of cuModuleLoadDataEx. Values travel in an array of void *, integers cast to pointers. */
typedef enum
{
  CU_JIT_MAX_REGISTERS = 0,
  CU_JIT_THREADS_PER_BLOCK = 1,
  CU_JIT_WALL_TIME = 2,
  CU_JIT_INFO_LOG_BUFFER = 3,
  CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4,
  CU_JIT_ERROR_LOG_BUFFER = 5,
  CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
  CU_JIT_OPTIMIZATION_LEVEL = 7,
  CU_JIT_TARGET = 9,
  CU_JIT_GENERATE_DEBUG_INFO = 11,
  CU_JIT_LOG_VERBOSE = 12,
  CU_JIT_GENERATE_LINE_INFO = 13
} CUjit_option;

typedef enum
{
  CU_GET_PROC_ADDRESS_SUCCESS = 0,
  CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND = 1,
  CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT = 2
} CUdriverProcAddressQueryResult;

typedef enum
{
  CU_POINTER_ATTRIBUTE_CONTEXT = 1,
  CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
  CU_POINTER_ATTRIBUTE_DEVICE_POINTER = 3,
  CU_POINTER_ATTRIBUTE_HOST_POINTER = 4,
  CU_POINTER_ATTRIBUTE_IS_MANAGED = 8,
  CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9
} CUpointer_attribute;

/* The markers of cuLaunchKernel's last argument. */
#define ASSAY_CU_LAUNCH_PARAM_END ((void *) 0x00)
#define ASSAY_CU_LAUNCH_PARAM_BUFFER_POINTER ((void *) 0x01)
#define ASSAY_CU_LAUNCH_PARAM_BUFFER_SIZE ((void *) 0x02)

/* X (exported symbol, member name in a table, parameters): every function returns CUresult. */
/* clang-format off */
#define ASSAY_CUDA_DRIVER(X) \
  X (cuInit, init, (unsigned int flags)) \
  X (cuDriverGetVersion, driver_get_version, (int *version)) \
  X (cuGetErrorName, get_error_name, (CUresult error, const char **text)) \
  X (cuGetErrorString, get_error_string, (CUresult error, const char **text)) \
  X (cuGetProcAddress_v2, get_proc_address, \
     (const char *symbol, void **function, int cuda_version, uint64_t flags, \
      CUdriverProcAddressQueryResult *status)) \
  X (cuGetExportTable, get_export_table, (const void **table, const CUuuid *id)) \
  X (cuDeviceGet, device_get, (CUdevice *device, int ordinal)) \
  X (cuDeviceGetCount, device_get_count, (int *count)) \
  X (cuDeviceGetName, device_get_name, (char *name, int length, CUdevice device)) \
  X (cuDeviceGetUuid_v2, device_get_uuid, (CUuuid *uuid, CUdevice device)) \
  X (cuDeviceTotalMem_v2, device_total_mem, (size_t *bytes, CUdevice device)) \
  X (cuDeviceGetAttribute, device_get_attribute, \
     (int *value, CUdevice_attribute attribute, CUdevice device)) \
  X (cuDevicePrimaryCtxRetain, primary_ctx_retain, (CUcontext *context, CUdevice device)) \
  X (cuDevicePrimaryCtxRelease_v2, primary_ctx_release, (CUdevice device)) \
  X (cuDevicePrimaryCtxReset_v2, primary_ctx_reset, (CUdevice device)) \
  X (cuDevicePrimaryCtxGetState, primary_ctx_get_state, \
     (CUdevice device, unsigned int *flags, int *active)) \
  X (cuCtxCreate_v2, ctx_create, (CUcontext *context, unsigned int flags, CUdevice device)) \
  X (cuCtxDestroy_v2, ctx_destroy, (CUcontext context)) \
  X (cuCtxSetCurrent, ctx_set_current, (CUcontext context)) \
  X (cuCtxGetCurrent, ctx_get_current, (CUcontext *context)) \
  X (cuCtxPushCurrent_v2, ctx_push_current, (CUcontext context)) \
  X (cuCtxPopCurrent_v2, ctx_pop_current, (CUcontext *context)) \
  X (cuCtxGetDevice, ctx_get_device, (CUdevice *device)) \
  X (cuCtxSynchronize, ctx_synchronize, (void)) \
  X (cuModuleLoadData, module_load_data, (CUmodule *module, const void *image)) \
  X (cuModuleLoadDataEx, module_load_data_ex, \
     (CUmodule *module, const void *image, unsigned int option_count, CUjit_option *options, \
      void **option_values)) \
  X (cuModuleUnload, module_unload, (CUmodule module)) \
  X (cuModuleGetFunction, module_get_function, \
     (CUfunction *function, CUmodule module, const char *name)) \
  X (cuModuleGetGlobal_v2, module_get_global, \
     (CUdeviceptr *pointer, size_t *bytes, CUmodule module, const char *name)) \
  X (cuFuncGetAttribute, func_get_attribute, \
     (int *value, CUfunction_attribute attribute, CUfunction function)) \
  X (cuFuncSetAttribute, func_set_attribute, \
     (CUfunction function, CUfunction_attribute attribute, int value)) \
  X (cuFuncSetCacheConfig, func_set_cache_config, (CUfunction function, int config)) \
  X (cuMemGetInfo_v2, mem_get_info, (size_t *free_bytes, size_t *total_bytes)) \
  X (cuMemAlloc_v2, mem_alloc, (CUdeviceptr *pointer, size_t bytes)) \
  X (cuMemAllocManaged, mem_alloc_managed, \
     (CUdeviceptr *pointer, size_t bytes, unsigned int flags)) \
  X (cuMemFree_v2, mem_free, (CUdeviceptr pointer)) \
  X (cuMemGetAddressRange_v2, mem_get_address_range, \
     (CUdeviceptr *base, size_t *bytes, CUdeviceptr pointer)) \
  X (cuMemHostAlloc, mem_host_alloc, (void **pointer, size_t bytes, unsigned int flags)) \
  X (cuMemFreeHost, mem_free_host, (void *pointer)) \
  X (cuMemHostGetDevicePointer_v2, mem_host_get_device_pointer, \
     (CUdeviceptr *device_pointer, void *host_pointer, unsigned int flags)) \
  X (cuPointerGetAttribute, pointer_get_attribute, \
     (void *data, CUpointer_attribute attribute, CUdeviceptr pointer)) \
  X (cuMemcpyHtoD_v2, memcpy_htod, (CUdeviceptr to, const void *from, size_t bytes)) \
  X (cuMemcpyDtoH_v2, memcpy_dtoh, (void *to, CUdeviceptr from, size_t bytes)) \
  X (cuMemcpyDtoD_v2, memcpy_dtod, (CUdeviceptr to, CUdeviceptr from, size_t bytes)) \
  X (cuMemcpyHtoDAsync_v2, memcpy_htod_async, \
     (CUdeviceptr to, const void *from, size_t bytes, CUstream stream)) \
  X (cuMemcpyDtoHAsync_v2, memcpy_dtoh_async, \
     (void *to, CUdeviceptr from, size_t bytes, CUstream stream)) \
  X (cuMemcpyDtoDAsync_v2, memcpy_dtod_async, \
     (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)) \
  X (cuMemsetD8_v2, memset_d8, (CUdeviceptr to, unsigned char value, size_t count)) \
  X (cuMemsetD16_v2, memset_d16, (CUdeviceptr to, unsigned short value, size_t count)) \
  X (cuMemsetD32_v2, memset_d32, (CUdeviceptr to, unsigned int value, size_t count)) \
  X (cuMemsetD8Async, memset_d8_async, \
     (CUdeviceptr to, unsigned char value, size_t count, CUstream stream)) \
  X (cuMemsetD32Async, memset_d32_async, \
     (CUdeviceptr to, unsigned int value, size_t count, CUstream stream)) \
  X (cuStreamCreate, stream_create, (CUstream *stream, unsigned int flags)) \
  X (cuStreamDestroy_v2, stream_destroy, (CUstream stream)) \
  X (cuStreamSynchronize, stream_synchronize, (CUstream stream)) \
  X (cuStreamQuery, stream_query, (CUstream stream)) \
  X (cuStreamWaitEvent, stream_wait_event, (CUstream stream, CUevent event, unsigned int flags)) \
  X (cuLaunchHostFunc, launch_host_func, (CUstream stream, CUhostFn function, void *data)) \
  X (cuEventCreate, event_create, (CUevent *event, unsigned int flags)) \
  X (cuEventDestroy_v2, event_destroy, (CUevent event)) \
  X (cuEventRecord, event_record, (CUevent event, CUstream stream)) \
  X (cuEventSynchronize, event_synchronize, (CUevent event)) \
  X (cuEventQuery, event_query, (CUevent event)) \
  X (cuEventElapsedTime, event_elapsed_time, (float *milliseconds, CUevent from, CUevent to)) \
  X (cuOccupancyMaxActiveBlocksPerMultiprocessor, occupancy_max_active_blocks, \
     (int *blocks, CUfunction function, int block_size, size_t dynamic_shared)) \
  X (cuLaunchKernel, launch_kernel, \
     (CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, \
      unsigned int block_x, unsigned int block_y, unsigned int block_z, \
      unsigned int shared_bytes, CUstream stream, void **parameters, void **extra))
/* clang-format on */

#define ASSAY_CUDA_POINTER_TYPE(symbol, member, parameters)                                        \
  typedef CUresult (*symbol##_fn) parameters;
ASSAY_CUDA_DRIVER (ASSAY_CUDA_POINTER_TYPE)
#undef ASSAY_CUDA_POINTER_TYPE

/* The driver as a table of pointers, for whoever opened a library. */
typedef struct
{
#define ASSAY_CUDA_MEMBER(symbol, member, parameters) symbol##_fn member;
  ASSAY_CUDA_DRIVER (ASSAY_CUDA_MEMBER)
#undef ASSAY_CUDA_MEMBER
} AssayCudaDriver;
