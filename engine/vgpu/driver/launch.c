/* SPDX-License-Identifier: Apache-2.0 */
/* Functions and their launches. */
#include "engine/vgpu/check/record.h"
#include "engine/vgpu/driver/work.h"
#include "engine/vgpu/exec/run.h"
#include "engine/vgpu/ptx/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t
most_threads (const VgpuFunction *function, const AssayTargetLimits *target)
{
  uint64_t threads = 1;
  for (int axis = 0; axis < 3; axis++)
    threads *= function->max_threads[axis];
  return threads > 0 && threads < target->max_threads_per_block ? (uint32_t) threads
                                                                : target->max_threads_per_block;
}

CUresult
cuFuncGetAttribute (int *value, CUfunction_attribute attribute, CUfunction function)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  if (value == NULL)
    return vgpu_leave (CUDA_ERROR_INVALID_VALUE);
  if (function == NULL)
    return vgpu_leave (CUDA_ERROR_INVALID_HANDLE);
  const VgpuKernel *kernel = function->kernel;
  const AssayTargetLimits *target = vgpu_driver.settings.target;
  const VgpuSource *source = kernel->source;
  switch (attribute)
    {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = (int) most_threads (kernel->function, target);
      break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = (int) kernel->static_shared;
      break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = (int) kernel->local_bytes;
      break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      *value = atoi (source->target + 3);
      break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = target->major * 10 + target->minor;
      break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = (int) (function->max_dynamic_shared > 0
                          ? function->max_dynamic_shared
                          : target->shared_per_block - kernel->static_shared);
      break;
    default:
      /* Registers are ptxas's affair: 0 says that they are not known. */
      *value = 0;
    }
  return vgpu_leave (CUDA_SUCCESS);
}

CUresult
cuFuncSetAttribute (CUfunction function, CUfunction_attribute attribute, int value)
{
  CUcontext context;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  if (function == NULL)
    return vgpu_leave (CUDA_ERROR_INVALID_HANDLE);
  if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
    return vgpu_leave (CUDA_SUCCESS);
  if (attribute == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED)
    {
      function->large_clusters = value != 0;
      return vgpu_leave (CUDA_SUCCESS);
    }
  const AssayTargetLimits *target = vgpu_driver.settings.target;
  uint64_t total = (uint64_t) function->kernel->static_shared + (uint32_t) value;
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0
      || total > target->shared_per_block_optin)
    return vgpu_leave (CUDA_ERROR_INVALID_VALUE);
  function->max_dynamic_shared = (uint32_t) value;
  return vgpu_leave (CUDA_SUCCESS);
}

CUresult
cuFuncSetCacheConfig (CUfunction function, int config)
{
  return function != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult
check_limits (CUfunction function, const VgpuLaunch *launch)
{
  const VgpuKernel *kernel = function->kernel;
  AssayLaunch asked = {.static_shared = kernel->static_shared,
                       .dynamic_shared = launch->dynamic_shared,
                       .dynamic_shared_limit = function->max_dynamic_shared};
  char text[256];
  memcpy (asked.grid, launch->grid, sizeof asked.grid);
  memcpy (asked.block, launch->block, sizeof asked.block);
  AssayLaunchProblem problem =
      assay_launch_check (vgpu_driver.settings.target, &asked, text, sizeof text);
  const char *rule = assay_launch_problem_rule (problem);
  uint32_t threads = launch->block[0] * launch->block[1] * launch->block[2];
  uint32_t most = most_threads (kernel->function, vgpu_driver.settings.target);
  if (rule == NULL && threads > most)
    {
      rule = "launch.block-too-large";
      snprintf (text, sizeof text, "a block of %u threads, the kernel's launch bounds allow %u",
                threads, most);
    }
  if (rule == NULL && kernel->function->threads_required && threads != most)
    {
      rule = "launch.block-too-large";
      snprintf (text, sizeof text, "a block of %u threads, the kernel requires %u", threads, most);
    }
  if (rule == NULL)
    return CUDA_SUCCESS;
  vgpu_explain ("%s: %s", kernel->name, text);
  vgpu_report_launch (rule, text, kernel->name);
  return CUDA_ERROR_INVALID_VALUE;
}

/* The parameters as one buffer, from either form that the call allows. */
static unsigned char *
collect_parameters (const VgpuKernel *kernel, void **parameters, void **extra)
{
  unsigned char *buffer = vgpu_take (kernel->parameter_bytes + 16);
  if (parameters != NULL)
    {
      for (size_t i = 0; i < kernel->parameter_count; i++)
        {
          if (parameters[i] == NULL)
            {
              free (buffer);
              return NULL;
            }
          memcpy (buffer + kernel->parameters[i].offset, parameters[i],
                  kernel->parameters[i].bytes);
        }
      return buffer;
    }
  const void *from = NULL;
  size_t bytes = 0;
  for (size_t i = 0; extra != NULL && extra[i] != ASSAY_CU_LAUNCH_PARAM_END; i += 2)
    {
      if (extra[i] == ASSAY_CU_LAUNCH_PARAM_BUFFER_POINTER)
        from = extra[i + 1];
      else if (extra[i] == ASSAY_CU_LAUNCH_PARAM_BUFFER_SIZE)
        bytes = *(const size_t *) extra[i + 1];
    }
  if (kernel->parameter_count > 0 && (from == NULL || bytes < kernel->parameter_bytes))
    {
      free (buffer);
      return NULL;
    }
  if (from != NULL)
    memcpy (buffer, from, bytes < kernel->parameter_bytes ? bytes : kernel->parameter_bytes);
  return buffer;
}

static bool
is_memory_fault (CUresult result)
{
  return result == CUDA_ERROR_ILLEGAL_ADDRESS || result == CUDA_ERROR_MISALIGNED_ADDRESS;
}

/* What cooperative groups keep for the barrier of a grid: some words, zero at first. */
#define WORKSPACE_BYTES 256

static uint64_t
workspace_of (CUcontext context)
{
  if (context->workspace == 0)
    {
      VgpuAllocation *allocation =
          vgpu_memory_allocate (context->memory, WORKSPACE_BYTES, "grid workspace", false);
      if (allocation == NULL)
        return 0;
      allocation->module = true;
      context->workspace = allocation->lo;
    }
  memset ((void *) (uintptr_t) context->workspace, 0, WORKSPACE_BYTES);
  return context->workspace;
}

CUresult
vgpu_launch_work (CUcontext context, const VgpuLaunchWork *work)
{
  const VgpuSettings *settings = &vgpu_driver.settings;
  VgpuLaunch launch = {.kernel = work->function->kernel,
                       .memory = context->memory,
                       .textures = &context->textures,
                       .grid = {work->grid[0], work->grid[1], work->grid[2]},
                       .block = {work->block[0], work->block[1], work->block[2]},
                       .cluster = {work->cluster[0], work->cluster[1], work->cluster[2]},
                       .dynamic_shared = work->shared,
                       .parameters = work->parameters,
                       .checks = settings->checks,
                       .math = settings->math,
                       .threads = vgpu_settings_threads (),
                       .seed = settings->seed,
                       .max_instructions = settings->max_instructions,
                       .print_cap = settings->print_cap,
                       .print_to_stdout = settings->print_to_stdout,
                       .sm_count = settings->target->sm_count,
                       .cooperative = work->cooperative,
                       .grid_workspace = work->cooperative ? workspace_of (context) : 0,
                       .interrupt = &vgpu_driver.interrupt};
  CUresult result = (CUresult) vgpu_launch_run (&launch);
  context->modelled += vgpu_time_of_launch (
      atomic_load (&launch.instructions), (uint64_t) work->grid[0] * work->grid[1] * work->grid[2]);
  atomic_store (&vgpu_driver.interrupt, 0);
  if (result != CUDA_SUCCESS && !(settings->continue_on_fault && is_memory_fault (result)))
    context->sticky = result;
  return context->sticky;
}

static bool
may_wait_for_blocks (CUfunction function, const VgpuLaunchWork *launch)
{
  AssayLaunch shape = {.static_shared = function->kernel->static_shared,
                       .dynamic_shared = launch->shared,
                       .dynamic_shared_limit = function->max_dynamic_shared};
  memcpy (shape.grid, launch->grid, sizeof shape.grid);
  memcpy (shape.block, launch->block, sizeof shape.block);
  const AssayTargetLimits *target = vgpu_driver.settings.target;
  uint64_t blocks = (uint64_t) launch->grid[0] * launch->grid[1] * launch->grid[2];
  return blocks <= (uint64_t) assay_launch_blocks_per_sm (target, &shape) * target->sm_count;
}

#define PORTABLE_CLUSTER 8
#define LARGEST_CLUSTER 16

/* Takes a cluster's dimensions; 0 in the first: none were given. */
static CUresult
take_cluster (const CUfunction function, const uint32_t *cluster, VgpuLaunchWork *work)
{
  uint64_t size = (uint64_t) cluster[0] * cluster[1] * cluster[2];
  if (cluster[0] == 0)
    return CUDA_SUCCESS;
  if (size > 1 && !vgpu_driver.settings.target->has_clusters)
    {
      vgpu_explain ("%s: the target has no clusters of blocks", function->kernel->name);
      return CUDA_ERROR_NOT_SUPPORTED;
    }
  uint32_t most = function->large_clusters ? LARGEST_CLUSTER : PORTABLE_CLUSTER;
  bool divides = size > 0;
  for (int i = 0; divides && i < 3; i++)
    divides = work->grid[i] % cluster[i] == 0;
  if (!divides || size > most)
    {
      vgpu_explain ("%s: a cluster of %u x %u x %u blocks: at most %u, and they divide the grid",
                    function->kernel->name, cluster[0], cluster[1], cluster[2], most);
      return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    }
  memcpy (work->cluster, cluster, sizeof work->cluster);
  return CUDA_SUCCESS;
}

CUresult
vgpu_launch_prepare (CUfunction function, const uint32_t *shape, size_t shared, void **parameters,
                     void **extra, bool cooperative, VgpuWork *item)
{
  VgpuLaunch launch = {.dynamic_shared = (uint32_t) shared};
  VgpuLaunchWork work = {
      .function = function, .shared = (uint32_t) shared, .cooperative = cooperative};
  memcpy (launch.grid, shape, sizeof launch.grid);
  memcpy (launch.block, shape + 3, sizeof launch.block);
  memcpy (work.grid, shape, sizeof work.grid);
  memcpy (work.block, shape + 3, sizeof work.block);
  if (function == NULL || function->kernel == NULL)
    return CUDA_ERROR_INVALID_HANDLE;
  CUresult result =
      shared <= UINT32_MAX ? check_limits (function, &launch) : CUDA_ERROR_INVALID_VALUE;
  if (result != CUDA_SUCCESS)
    return result;
  result = take_cluster (function, function->kernel->function->cluster, &work);
  if (result != CUDA_SUCCESS)
    return result;
  if (cooperative && !may_wait_for_blocks (function, &work))
    return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
  work.parameters = collect_parameters (function->kernel, parameters, extra);
  if (work.parameters == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  *item = (VgpuWork) {.kind = VGPU_WORK_LAUNCH, .launch = work};
  return CUDA_SUCCESS;
}

static CUresult
submit_launch (CUfunction function, const uint32_t *shape, size_t shared, CUstream stream,
               void **parameters, void **extra, bool cooperative, const uint32_t *cluster)
{
  CUcontext context;
  VgpuWork item;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  result = vgpu_launch_prepare (function, shape, shared, parameters, extra, cooperative, &item);
  if (result != CUDA_SUCCESS)
    return vgpu_leave (result);
  result = cluster != NULL ? take_cluster (function, cluster, &item.launch) : CUDA_SUCCESS;
  if (result == CUDA_SUCCESS)
    return vgpu_leave (vgpu_submit (context, stream, &item));
  vgpu_work_clear (&item);
  return vgpu_leave (result);
}

CUresult
cuLaunchKernel (CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                unsigned int block_x, unsigned int block_y, unsigned int block_z,
                unsigned int shared_bytes, CUstream stream, void **parameters, void **extra)
{
  const uint32_t shape[6] = {grid_x, grid_y, grid_z, block_x, block_y, block_z};
  return submit_launch (function, shape, shared_bytes, stream, parameters, extra, false, NULL);
}

CUresult
cuLaunchCooperativeKernel (CUfunction function, unsigned int grid_x, unsigned int grid_y,
                           unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                           unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                           void **parameters)
{
  const uint32_t shape[6] = {grid_x, grid_y, grid_z, block_x, block_y, block_z};
  return submit_launch (function, shape, shared_bytes, stream, parameters, NULL, true, NULL);
}

enum
{
  ATTRIBUTE_COOPERATIVE = 2,
  ATTRIBUTE_CLUSTER = 4
};

CUresult
cuLaunchKernelEx (const AssayLaunchConfig *config, CUfunction function, void **parameters,
                  void **extra)
{
  bool cooperative = false;
  const uint32_t *cluster = NULL;
  if (config == NULL || (config->attribute_count > 0 && config->attributes == NULL))
    return CUDA_ERROR_INVALID_VALUE;
  for (unsigned int i = 0; i < config->attribute_count; i++)
    {
      const AssayLaunchAttribute *attribute = &config->attributes[i];
      if (attribute->number == ATTRIBUTE_COOPERATIVE)
        cooperative = attribute->cooperative != 0;
      if (attribute->number == ATTRIBUTE_CLUSTER)
        cluster = attribute->cluster;
    }
  uint32_t shape[6];
  memcpy (shape, config->grid, sizeof config->grid);
  memcpy (shape + 3, config->block, sizeof config->block);
  return submit_launch (function, shape, config->shared_bytes, config->stream, parameters, extra,
                        cooperative, cluster);
}
