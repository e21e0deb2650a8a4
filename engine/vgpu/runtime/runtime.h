/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/target/vgpu-extension.h"
#include "engine/vgpu/runtime/abi.h"

#include <stdbool.h>

/* The CUDA runtime over the virtual GPU's driver, and over nothing of it but its public interface. */

#define CUDART_DRIVER(symbol, member, parameters) CUresult symbol parameters;
ASSAY_CUDA_DRIVER (CUDART_DRIVER)
ASSAY_CUDA_DRIVER_MORE (CUDART_DRIVER)
#undef CUDART_DRIVER
#define CUDART_EXTENSION(symbol, result, parameters) result symbol parameters;
ASSAY_VGPU_EXTENSION (CUDART_EXTENSION)
#undef CUDART_EXTENSION

/* Device code of one translation unit, or of a linked program. */
typedef struct CudartModule
{
  void *image;
  CUmodule module; /* NULL until it is needed */
  cudaError failure;
  struct CudartModule *next;
} CudartModule;

/* A kernel or a variable, known to host code by an address. */
typedef struct CudartSymbol
{
  const void *host;
  const char *name; /* in the PTX */
  CudartModule *module;
  bool is_managed;
  CUfunction function; /* NULL until it is needed */
  struct CudartSymbol *next;
} CudartSymbol;

/* Makes the primary context current where none is. */
cudaError cudart_begin (void);

/* What the host code calls by this address; NULL if nothing was registered for it. */
CudartSymbol *cudart_symbol (const void *host);
cudaError cudart_function (const void *host, CUfunction *function);
cudaError cudart_variable (const void *host, CUdeviceptr *pointer, size_t *bytes);

/* Loads a module; a failure is remembered, and told on stderr, once. */
cudaError cudart_load (CudartModule *module);

/* Remembers an error for cudaGetLastError and returns it. */
cudaError cudart_result (int code);

/* A launch that was refused: reported at the end, unless the program asks for the error. */
void cudart_launch_failed (const char *kernel, cudaError code);

/* Every module is to be loaded anew. */
void cudart_forget_modules (void);

/* What a kind of copy says about the memory of either side, as the driver numbers it. */
int cudart_type_to (int kind);
int cudart_type_from (int kind);

/* The driver's form of a copy. */
CUresult cudart_copy_3d (const AssayCopy3DParameters *asked, AssayCopy3D *copy);

/* Bytes of one texel. */
CUresult cudart_texel_bytes (CUarray array, size_t *bytes);

/* Says on stderr and in the report stream that the virtual GPU lacks something. */
void cudart_refuse (const char *what, const char *why);

/* `call` as the body of an entry point: with a context, its result remembered. */
#define CUDART_CALL(call)                                                                          \
  do                                                                                               \
    {                                                                                              \
      cudaError begun = cudart_begin ();                                                           \
      return cudart_result (begun != CUDA_SUCCESS ? begun : (cudaError) (call));                   \
    }                                                                                              \
  while (0)
