/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/target/cuda-abi-more.h"
#include "engine/target/limits.h"
#include "engine/target/vgpu-extension.h"
#include "engine/vgpu/driver/fatbin.h"
#include "engine/vgpu/exec/machine.h"
#include "engine/vgpu/exec/memory.h"

#include <pthread.h>

/* The façade: the CUDA driver API over the virtual GPU. One device, one lock around everything but
 * host functions; what streams are given is in work.h. */

#define VGPU_EXPORT __attribute__ ((visibility ("default")))

/* Every function of the interface, and those of the extension. */
#define VGPU_PROTOTYPE(symbol, member, parameters) VGPU_EXPORT CUresult symbol parameters;
ASSAY_CUDA_DRIVER (VGPU_PROTOTYPE)
ASSAY_CUDA_DRIVER_MORE (VGPU_PROTOTYPE)
#undef VGPU_PROTOTYPE
#define VGPU_PROTOTYPE(symbol, result, parameters) VGPU_EXPORT result symbol parameters;
ASSAY_VGPU_EXTENSION (VGPU_PROTOTYPE)
#undef VGPU_PROTOTYPE

#define VGPU_LIMITS 8

struct CUfunc_st
{
  VgpuKernel *kernel; /* NULL until somebody asks for it */
  const VgpuFunction *entry;
  CUmodule module;
  bool large_clusters; /* more than eight blocks were asked for */
  uint32_t max_dynamic_shared;
  struct CUfunc_st *next;
};

struct CUmod_st
{
  CUcontext context;
  VgpuSource source;
  VgpuTexts texts;
  CUfunction functions;
  uint64_t *addresses; /* of the module's variables in memory */
  size_t address_count;
  struct CUmod_st *next;
};

struct CUarray_st
{
  VgpuImages images; /* of one level */
  int format;
  unsigned int flags;
  bool is_level; /* of a mipmapped array, which owns the memory */
  struct CUarray_st *next;
};

struct CUmipmappedArray_st
{
  VgpuImages images;
  CUarray levels; /* one for each, in order */
  struct CUmipmappedArray_st *next;
};

struct VgpuWork;

struct CUctx_st
{
  VgpuMemory *memory;
  CUmodule modules;
  VgpuTextures textures;
  CUarray arrays;
  CUmipmappedArray mipmaps;
  CUstream legacy, per_thread, streams;
  CUevent events;
  struct VgpuWork *queue, **queue_tail; /* submitted, and not yet run */
  uint64_t submitted, polls, next_stream;
  CUmemoryPool pool;
  double modelled;    /* seconds, by the model of time, since the context was made */
  uint64_t workspace; /* of cooperative launches; 0: none yet */
  size_t limits[VGPU_LIMITS];
  CUresult sticky; /* what a fault left behind: every later call returns it */
  bool primary;
  uint32_t references;
};

/* Between two events: NaN, since there is no time here; this computer's; or a model's. */
typedef enum
{
  VGPU_TIME_NONE,
  VGPU_TIME_HOST,
  VGPU_TIME_MODEL
} VgpuTime;

typedef struct
{
  const AssayTargetLimits *target;
  uint32_t checks;
  VgpuMathMode math;
  uint32_t threads; /* 0: as many as there are processors */
  uint64_t seed;
  uint64_t max_instructions;
  uint64_t print_cap;
  bool continue_on_fault;
  bool print_to_stdout;
  int time;    /* VgpuTime: what lies between events */
  int streams; /* VgpuStreamMode */
} VgpuSettings;

typedef struct
{
  pthread_mutex_t lock;
  bool ready;
  VgpuSettings settings;
  struct CUctx_st *primary;
  atomic_int interrupt;
} VgpuDriver;

extern VgpuDriver vgpu_driver;

/* Takes the lock and finds the calling thread's context; the result is what the call returns if it
 * is not CUDA_SUCCESS, and then the lock is not held. */
CUresult vgpu_enter (CUcontext *context);
CUresult vgpu_leave (CUresult result);

/* Keeps a sentence for assayVgpuLastError. */
void vgpu_explain (const char *format, ...) __attribute__ ((format (printf, 1, 2)));

/* Applies "key=value;…"; false if any of it is unknown. */
bool vgpu_settings_apply (const char *text);
void vgpu_settings_defaults (void);
uint32_t vgpu_settings_threads (void);

/* image: PTX text, or a fat binary with such. */
CUresult vgpu_module_load (CUcontext context, const void *image, CUmodule *module, char *error);
/* Builds a function's kernel if that has not been done. */
CUresult vgpu_function_ready (CUfunction function, char *error);
void vgpu_module_free (CUmodule module);

/* Whether that is an array of the context, a level of a mipmapped one included. */
bool vgpu_is_array (CUcontext context, CUarray array);
bool vgpu_is_mipmap (CUcontext context, CUmipmappedArray mipmap);
/* The texel of a CUarray_format; false for those that are not there. */
bool vgpu_texel_of (int format, unsigned int channels, VgpuTexel *texel);
/* Forgets arrays and objects; their memory goes with the context's. */
void vgpu_arrays_clear (CUcontext context);

/* The context of the calling thread, or NULL. */
CUcontext vgpu_current (void);
