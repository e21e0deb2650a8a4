/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs. */
#include "engine/vgpu/runtime/runtime.h"

#include <stdint.h>

static cudaError
kernel_node (const AssayRuntimeKernelNode *from, AssayKernelNode *to)
{
  if (from == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  *to = (AssayKernelNode) {.grid = {from->grid.x, from->grid.y, from->grid.z},
                           .block = {from->block.x, from->block.y, from->block.z},
                           .shared_bytes = from->shared,
                           .parameters = from->parameters,
                           .extra = from->extra};
  return cudart_function (from->function, &to->function);
}

cudaError
cudaGraphCreate (CUgraph *graph, unsigned int flags)
{
  CUDART_CALL (cuGraphCreate (graph, flags));
}

cudaError
cudaGraphDestroy (CUgraph graph)
{
  CUDART_CALL (cuGraphDestroy (graph));
}

cudaError
cudaGraphClone (CUgraph *clone, CUgraph graph)
{
  CUDART_CALL (cuGraphClone (clone, graph));
}

cudaError
cudaGraphAddKernelNode (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                        const AssayRuntimeKernelNode *kernel)
{
  AssayKernelNode converted;
  cudaError code = kernel_node (kernel, &converted);
  return cudart_result (code != CUDA_SUCCESS ? code
                                             : (cudaError) cuGraphAddKernelNode_v2 (
                                                 node, graph, after, count, &converted));
}

cudaError
cudaGraphAddMemAllocNode (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                          AssayMemoryNode *memory)
{
  CUDART_CALL (cuGraphAddMemAllocNode (node, graph, after, count, memory));
}

cudaError
cudaGraphMemAllocNodeGetParams (CUgraphNode node, AssayMemoryNode *memory)
{
  CUDART_CALL (cuGraphMemAllocNodeGetParams (node, memory));
}

cudaError
cudaGraphAddMemFreeNode (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                         void *pointer)
{
  CUDART_CALL (cuGraphAddMemFreeNode (node, graph, after, count, (uintptr_t) pointer));
}

/* Memory of graphs goes when its context does. */
cudaError
cudaDeviceGraphMemTrim (int device)
{
  return cudart_result (device == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE);
}

cudaError
cudaGraphAddMemcpyNode (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                        const AssayCopy3DParameters *copy)
{
  AssayCopy3D converted;
  CUresult result = cudart_copy_3d (copy, &converted);
  if (result == CUDA_SUCCESS)
    result = cuGraphAddMemcpyNode (node, graph, after, count, &converted, NULL);
  return cudart_result ((cudaError) result);
}

cudaError
cudaGraphAddMemcpyNode1D (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                          void *to, const void *from, size_t bytes, int kind)
{
  AssayCopy3DParameters copy = {.from = {(void *) (uintptr_t) from, bytes, bytes, 1},
                                .to = {to, bytes, bytes, 1},
                                .extent = {bytes, 1, 1},
                                .kind = kind};
  return cudaGraphAddMemcpyNode (node, graph, after, count, &copy);
}

cudaError
cudaGraphAddMemsetNode (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                        const AssayRuntimeMemsetNode *fill)
{
  if (fill == NULL)
    return cudart_result (CUDA_ERROR_INVALID_VALUE);
  AssayMemsetNode converted = {.to = (uintptr_t) fill->to,
                               .pitch = fill->pitch,
                               .value = fill->value,
                               .size = fill->size,
                               .width = fill->width,
                               .height = fill->height};
  CUDART_CALL (cuGraphAddMemsetNode (node, graph, after, count, &converted, NULL));
}

cudaError
cudaGraphAddHostNode (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                      const AssayHostNode *host)
{
  CUDART_CALL (cuGraphAddHostNode (node, graph, after, count, host));
}

cudaError
cudaGraphAddEmptyNode (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count)
{
  CUDART_CALL (cuGraphAddEmptyNode (node, graph, after, count));
}

cudaError
cudaGraphAddChildGraphNode (CUgraphNode *node, CUgraph graph, const CUgraphNode *after,
                            size_t count, CUgraph child)
{
  CUDART_CALL (cuGraphAddChildGraphNode (node, graph, after, count, child));
}

cudaError
cudaGraphAddDependencies (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                          const void *edges, size_t count)
{
  (void) edges;
  CUDART_CALL (cuGraphAddDependencies (graph, from, to, count));
}

cudaError
cudaGraphGetNodes (CUgraph graph, CUgraphNode *nodes, size_t *count)
{
  CUDART_CALL (cuGraphGetNodes (graph, nodes, count));
}

cudaError
cudaGraphGetRootNodes (CUgraph graph, CUgraphNode *nodes, size_t *count)
{
  CUDART_CALL (cuGraphGetRootNodes (graph, nodes, count));
}

cudaError
cudaGraphNodeGetType (CUgraphNode node, int *type)
{
  CUDART_CALL (cuGraphNodeGetType (node, type));
}

cudaError
cudaGraphInstantiate (CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
  CUDART_CALL (cuGraphInstantiateWithFlags (exec, graph, flags));
}

cudaError
cudaGraphInstantiateWithFlags (CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
  CUDART_CALL (cuGraphInstantiateWithFlags (exec, graph, flags));
}

cudaError
cudaGraphKernelNodeSetParams (CUgraphNode node, const AssayRuntimeKernelNode *kernel)
{
  AssayKernelNode converted;
  cudaError code = kernel_node (kernel, &converted);
  return cudart_result (
      code != CUDA_SUCCESS ? code : (cudaError) cuGraphKernelNodeSetParams_v2 (node, &converted));
}

cudaError
cudaGraphExecKernelNodeSetParams (CUgraphExec exec, CUgraphNode node,
                                  const AssayRuntimeKernelNode *kernel)
{
  AssayKernelNode converted;
  cudaError code = kernel_node (kernel, &converted);
  return cudart_result (code != CUDA_SUCCESS ? code
                                             : (cudaError) cuGraphExecKernelNodeSetParams_v2 (
                                                 exec, node, &converted));
}

cudaError
cudaGraphExecUpdate (CUgraphExec exec, CUgraph graph, void *info)
{
  CUDART_CALL (cuGraphExecUpdate_v2 (exec, graph, info));
}

cudaError
cudaGraphExecDestroy (CUgraphExec exec)
{
  CUDART_CALL (cuGraphExecDestroy (exec));
}

cudaError
cudaGraphLaunch (CUgraphExec exec, CUstream stream)
{
  CUDART_CALL (cuGraphLaunch (exec, stream));
}

cudaError
cudaGraphUpload (CUgraphExec exec, CUstream stream)
{
  CUDART_CALL (cuGraphUpload (exec, stream));
}
