/* SPDX-License-Identifier: Apache-2.0 */
/* What host code registers before main (), and finding it again. */
#include "engine/vgpu/runtime/runtime.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define BUCKETS 4096

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CudartSymbol *symbols[BUCKETS];
static CudartModule *modules;

static size_t
bucket_of (const void *host)
{
  return (size_t) (((uintptr_t) host >> 3) * 0x9e3779b97f4a7c15u >> 40) % BUCKETS;
}

void **
__cudaRegisterFatBinary (void *image)
{
  CudartModule *module = calloc (1, sizeof *module);
  if (module == NULL)
    abort ();
  module->image = image;
  pthread_mutex_lock (&lock);
  module->next = modules;
  modules = module;
  pthread_mutex_unlock (&lock);
  return (void **) module;
}

void
__cudaRegisterFatBinaryEnd (void **handle)
{
  (void) handle;
}

/* Host code unregisters at the very end, when others may still want the device. */
void
__cudaUnregisterFatBinary (void **handle)
{
  (void) handle;
}

static CudartSymbol *
add (void **handle, const void *host, const char *name)
{
  CudartSymbol *symbol = calloc (1, sizeof *symbol);
  if (symbol == NULL)
    abort ();
  symbol->host = host;
  symbol->name = name;
  symbol->module = (CudartModule *) handle;
  pthread_mutex_lock (&lock);
  symbol->next = symbols[bucket_of (host)];
  symbols[bucket_of (host)] = symbol;
  pthread_mutex_unlock (&lock);
  return symbol;
}

void
__cudaRegisterFunction (void **handle, const char *host, char *device, const char *name,
                        int thread_limit, void *thread, void *block, void *block_size,
                        void *grid_size, int *warp_size)
{
  (void) device;
  (void) thread_limit;
  (void) thread;
  (void) block;
  (void) block_size;
  (void) grid_size;
  (void) warp_size;
  add (handle, host, name);
}

void
__cudaRegisterVar (void **handle, char *host, char *device, const char *name, int external,
                   size_t bytes, int constant, int global)
{
  (void) device;
  (void) external;
  (void) bytes;
  (void) constant;
  (void) global;
  add (handle, host, name);
}

void
__cudaRegisterManagedVar (void **handle, void **host, char *device, const char *name, int external,
                          size_t bytes, int constant, int global)
{
  (void) device;
  (void) external;
  (void) bytes;
  (void) constant;
  (void) global;
  add (handle, host, name)->is_managed = true;
}

void
__cudaRegisterHostVar (void **handle, const char *name, char *host, size_t bytes)
{
  (void) handle;
  (void) name;
  (void) host;
  (void) bytes;
}

CudartSymbol *
cudart_symbol (const void *host)
{
  pthread_mutex_lock (&lock);
  CudartSymbol *found = symbols[bucket_of (host)];
  while (found != NULL && found->host != host)
    found = found->next;
  pthread_mutex_unlock (&lock);
  return found;
}

/* The host's pointer to a managed variable: its memory is the host's as well. */
static void
point_managed (CudartModule *module)
{
  for (size_t i = 0; i < BUCKETS; i++)
    for (CudartSymbol *s = symbols[i]; s != NULL; s = s->next)
      {
        CUdeviceptr pointer;
        if (s->module == module && s->is_managed
            && cuModuleGetGlobal_v2 (&pointer, NULL, module->module, s->name) == CUDA_SUCCESS)
          *(void **) (uintptr_t) s->host = (void *) (uintptr_t) pointer;
      }
}

cudaError
cudart_load (CudartModule *module)
{
  cudaError begun = cudart_begin ();
  if (begun != CUDA_SUCCESS)
    return begun;
  if (module->module != NULL || module->failure != CUDA_SUCCESS)
    return module->failure;
  CUmodule loaded = NULL;
  module->failure = (cudaError) cuModuleLoadData (&loaded, module->image);
  if (module->failure != CUDA_SUCCESS)
    {
      cudart_refuse ("the program's device code", assayVgpuLastError ());
      return module->failure;
    }
  module->module = loaded;
  point_managed (module);
  return CUDA_SUCCESS;
}

char
__cudaInitModule (void **handle)
{
  return cudart_load ((CudartModule *) handle) == CUDA_SUCCESS;
}

static bool
is_registered (const CudartSymbol *symbol)
{
  for (size_t i = 0; i < BUCKETS; i++)
    for (const CudartSymbol *s = symbols[i]; s != NULL; s = s->next)
      if (s == symbol)
        return true;
  return false;
}

cudaError
cudart_function (const void *host, CUfunction *function)
{
  CudartSymbol *symbol = cudart_symbol (host);
  *function = NULL;
  /* What __cudaGetKernel gave out may stand for the host's address. */
  if (symbol == NULL && is_registered (host))
    symbol = (CudartSymbol *) (uintptr_t) host;
  if (symbol == NULL)
    return CUDART_INVALID_FUNCTION;
  cudaError loaded = cudart_load (symbol->module);
  if (loaded != CUDA_SUCCESS)
    return loaded;
  if (symbol->function == NULL)
    {
      CUresult result = cuModuleGetFunction (function, symbol->module->module, symbol->name);
      if (result == CUDA_ERROR_INVALID_PTX)
        cudart_refuse (symbol->name, assayVgpuLastError ());
      if (result != CUDA_SUCCESS)
        return result == CUDA_ERROR_NOT_FOUND ? CUDART_INVALID_FUNCTION : (cudaError) result;
      symbol->function = *function;
    }
  *function = symbol->function;
  return CUDA_SUCCESS;
}

cudaError
cudart_variable (const void *host, CUdeviceptr *pointer, size_t *bytes)
{
  CudartSymbol *symbol = cudart_symbol (host);
  if (symbol == NULL)
    return CUDART_INVALID_SYMBOL;
  cudaError loaded = cudart_load (symbol->module);
  if (loaded != CUDA_SUCCESS)
    return loaded;
  CUresult result = cuModuleGetGlobal_v2 (pointer, bytes, symbol->module->module, symbol->name);
  return result == CUDA_ERROR_NOT_FOUND ? CUDART_INVALID_SYMBOL : (cudaError) result;
}

/* After cudaDeviceReset everything is loaded anew. */
void
cudart_forget_modules (void)
{
  pthread_mutex_lock (&lock);
  for (CudartModule *m = modules; m != NULL; m = m->next)
    {
      m->module = NULL;
      m->failure = CUDA_SUCCESS;
    }
  for (size_t i = 0; i < BUCKETS; i++)
    for (CudartSymbol *s = symbols[i]; s != NULL; s = s->next)
      s->function = NULL;
  pthread_mutex_unlock (&lock);
}
