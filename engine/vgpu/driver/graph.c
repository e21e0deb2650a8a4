/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: items with edges. An instance is a copy; running it runs the items in an order that the edges
 * allow, which is that in which they were added unless an edge added later says otherwise. */
#include "engine/vgpu/driver/graph.h"

#include "engine/vgpu/ptx/arena.h"

#include <stdlib.h>
#include <string.h>

CUgraph
vgpu_graph_new (void)
{
  return vgpu_take (sizeof (struct CUgraph_st));
}

static void
add_edge (CUgraphNode node, CUgraphNode after)
{
  for (size_t i = 0; i < node->after_count; i++)
    if (node->after[i] == after)
      return;
  node->after = vgpu_retake (node->after, (node->after_count + 1) * sizeof *node->after);
  node->after[node->after_count++] = after;
}

CUgraphNode
vgpu_graph_add (CUgraph graph, const VgpuWork *item, const CUgraphNode *after, size_t count)
{
  CUgraphNode node = vgpu_take (sizeof *node);
  node->graph = graph;
  node->item = *item;
  node->item.next = NULL;
  for (size_t i = 0; i < count; i++)
    add_edge (node, after[i]);
  graph->nodes = vgpu_retake (graph->nodes, (graph->count + 1) * sizeof *graph->nodes);
  graph->nodes[graph->count++] = node;
  return node;
}

void
vgpu_graph_free (CUgraph graph)
{
  for (size_t i = 0; i < graph->count; i++)
    {
      CUgraphNode node = graph->nodes[i];
      if (node->item.kind == VGPU_WORK_GRAPH)
        vgpu_graph_free (node->item.graph);
      vgpu_work_clear (&node->item);
      free (node->after);
      free (node);
    }
  free (graph->nodes);
  free (graph);
}

static size_t
index_of (CUgraph graph, CUgraphNode node)
{
  size_t i = 0;
  while (i < graph->count && graph->nodes[i] != node)
    i++;
  return i;
}

CUgraph
vgpu_graph_copy (CUgraph graph)
{
  CUgraph copy = vgpu_graph_new ();
  for (size_t i = 0; i < graph->count; i++)
    {
      VgpuWork item = vgpu_work_copy (&graph->nodes[i]->item);
      if (item.kind == VGPU_WORK_GRAPH)
        item.graph = vgpu_graph_copy (item.graph);
      vgpu_graph_add (copy, &item, NULL, 0);
      copy->nodes[i]->origin = graph->nodes[i];
    }
  for (size_t i = 0; i < graph->count; i++)
    for (size_t j = 0; j < graph->nodes[i]->after_count; j++)
      {
        size_t at = index_of (graph, graph->nodes[i]->after[j]);
        if (at < copy->count)
          add_edge (copy->nodes[i], copy->nodes[at]);
      }
  return copy;
}

static CUresult
run_node (CUcontext context, CUgraphNode node)
{
  CUresult result = CUDA_SUCCESS;
  if (node->done)
    return CUDA_SUCCESS;
  node->done = true;
  for (size_t i = 0; result == CUDA_SUCCESS && i < node->after_count; i++)
    result = run_node (context, node->after[i]);
  return result == CUDA_SUCCESS ? vgpu_work_run (context, &node->item) : result;
}

CUresult
vgpu_graph_run (CUcontext context, CUgraph graph)
{
  CUresult result = CUDA_SUCCESS;
  for (size_t i = 0; i < graph->count; i++)
    graph->nodes[i]->done = false;
  for (size_t i = 0; result == CUDA_SUCCESS && i < graph->count; i++)
    result = run_node (context, graph->nodes[i]);
  return result;
}

/* ---- the interface ---- */

struct CUgraphExec_st
{
  CUgraph graph; /* a copy */
};

CUresult
cuGraphCreate (CUgraph *graph, unsigned int flags)
{
  if (graph == NULL || flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  *graph = vgpu_graph_new ();
  return CUDA_SUCCESS;
}

CUresult
cuGraphDestroy (CUgraph graph)
{
  if (graph == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  vgpu_graph_free (graph);
  return CUDA_SUCCESS;
}

CUresult
cuGraphClone (CUgraph *clone, CUgraph graph)
{
  if (clone == NULL || graph == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  *clone = vgpu_graph_copy (graph);
  return CUDA_SUCCESS;
}

/* Takes the item. */
static CUresult
add (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count, VgpuWork *item)
{
  if (node == NULL || graph == NULL || (count > 0 && after == NULL))
    {
      vgpu_work_clear (item);
      return CUDA_ERROR_INVALID_VALUE;
    }
  *node = vgpu_graph_add (graph, item, after, count);
  return CUDA_SUCCESS;
}

static CUresult
kernel_item (const AssayKernelNode *kernel, VgpuWork *item)
{
  CUcontext context;
  uint32_t shape[6];
  if (kernel == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  memcpy (shape, kernel->grid, sizeof kernel->grid);
  memcpy (shape + 3, kernel->block, sizeof kernel->block);
  return vgpu_leave (vgpu_launch_prepare (kernel->function, shape, kernel->shared_bytes,
                                          kernel->parameters, kernel->extra, false, item));
}

CUresult
cuGraphAddKernelNode_v2 (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                         const AssayKernelNode *kernel)
{
  VgpuWork item;
  CUresult result = kernel_item (kernel, &item);
  return result != CUDA_SUCCESS ? result : add (node, graph, after, count, &item);
}

CUresult
cuGraphAddMemcpyNode (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                      const AssayCopy3D *copy, CUcontext context)
{
  VgpuWork item = {.kind = VGPU_WORK_COPY};
  (void) context;
  if (copy == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  if (!vgpu_copy_3d (copy, &item.copy))
    return CUDA_ERROR_NOT_SUPPORTED;
  return add (node, graph, after, count, &item);
}

CUresult
cuGraphAddMemsetNode (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                      const AssayMemsetNode *fill, CUcontext context)
{
  (void) context;
  if (fill == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  VgpuWork item = {
      .kind = VGPU_WORK_FILL,
      .fill = {fill->to, fill->pitch, fill->value, fill->size, fill->width, fill->height}};
  return add (node, graph, after, count, &item);
}

CUresult
cuGraphAddHostNode (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                    const AssayHostNode *host)
{
  if (host == NULL || host->function == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  VgpuWork item = {.kind = VGPU_WORK_CALL, .call = {host->function, host->data}};
  return add (node, graph, after, count, &item);
}

CUresult
cuGraphAddEmptyNode (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count)
{
  VgpuWork item = {.kind = VGPU_WORK_NOTHING};
  return add (node, graph, after, count, &item);
}

CUresult
vgpu_graph_memory (CUcontext context, size_t bytes, VgpuWork *item)
{
  uint64_t total = vgpu_driver.settings.target->memory_bytes;
  uint64_t used = vgpu_memory_used (context->memory);
  VgpuAllocation *allocation = NULL;
  if (bytes == 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (used <= total && bytes <= total - used)
    allocation = vgpu_memory_allocate (context->memory, bytes, NULL,
                                       (vgpu_driver.settings.checks & VGPU_CHECK_UNINIT) != 0);
  if (allocation == NULL)
    return CUDA_ERROR_OUT_OF_MEMORY;
  allocation->graph = true;
  *item = (VgpuWork) {.kind = VGPU_WORK_TAKE, .free = allocation->lo};
  return CUDA_SUCCESS;
}

CUresult
cuGraphAddMemAllocNode (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                        AssayMemoryNode *memory)
{
  CUcontext context;
  VgpuWork item;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  if (memory == NULL)
    return vgpu_leave (CUDA_ERROR_INVALID_VALUE);
  result = vgpu_graph_memory (context, memory->bytes, &item);
  if (result == CUDA_SUCCESS)
    {
      memory->pointer = item.free;
      result = add (node, graph, after, count, &item);
    }
  return vgpu_leave (result);
}

CUresult
cuGraphMemAllocNodeGetParams (CUgraphNode node, AssayMemoryNode *memory)
{
  CUdeviceptr base;
  if (node == NULL || memory == NULL || node->item.kind != VGPU_WORK_TAKE)
    return CUDA_ERROR_INVALID_VALUE;
  memset (memory, 0, sizeof *memory);
  memory->pointer = node->item.free;
  return cuMemGetAddressRange_v2 (&base, &memory->bytes, memory->pointer);
}

CUresult
cuGraphAddMemFreeNode (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                       CUdeviceptr pointer)
{
  VgpuWork item = {.kind = VGPU_WORK_FREE, .free = pointer};
  return pointer == 0 ? CUDA_ERROR_INVALID_VALUE : add (node, graph, after, count, &item);
}

CUresult
cuGraphAddChildGraphNode (CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                          CUgraph child)
{
  if (child == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  VgpuWork item = {.kind = VGPU_WORK_GRAPH, .graph = vgpu_graph_copy (child)};
  return add (node, graph, after, count, &item);
}

CUresult
cuGraphAddDependencies (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count)
{
  if (graph == NULL || (count > 0 && (from == NULL || to == NULL)))
    return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; i++)
    add_edge (to[i], from[i]);
  return CUDA_SUCCESS;
}

static CUresult
list_nodes (CUgraph graph, CUgraphNode *nodes, size_t *count, bool roots)
{
  size_t found = 0;
  if (graph == NULL || count == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < graph->count; i++)
    {
      if (roots && graph->nodes[i]->after_count > 0)
        continue;
      if (nodes != NULL && found < *count)
        nodes[found] = graph->nodes[i];
      found++;
    }
  if (nodes == NULL || found < *count)
    *count = found;
  return CUDA_SUCCESS;
}

CUresult
cuGraphGetNodes (CUgraph graph, CUgraphNode *nodes, size_t *count)
{
  return list_nodes (graph, nodes, count, false);
}

CUresult
cuGraphGetRootNodes (CUgraph graph, CUgraphNode *nodes, size_t *count)
{
  return list_nodes (graph, nodes, count, true);
}

CUresult
cuGraphNodeGetType (CUgraphNode node, int *type)
{
  static const int types[] = {
      [VGPU_WORK_LAUNCH] = 0, [VGPU_WORK_COPY] = 1,   [VGPU_WORK_FILL] = 2,
      [VGPU_WORK_CALL] = 3,   [VGPU_WORK_GRAPH] = 4,  [VGPU_WORK_NOTHING] = 5,
      [VGPU_WORK_WAIT] = 6,   [VGPU_WORK_RECORD] = 7, [VGPU_WORK_TAKE] = 10,
      [VGPU_WORK_FREE] = 11,  [VGPU_WORK_WRITE] = 12};
  if (node == NULL || type == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  *type = types[node->item.kind];
  return CUDA_SUCCESS;
}

CUresult
cuGraphKernelNodeSetParams_v2 (CUgraphNode node, const AssayKernelNode *kernel)
{
  VgpuWork item;
  if (node == NULL || node->item.kind != VGPU_WORK_LAUNCH)
    return CUDA_ERROR_INVALID_VALUE;
  CUresult result = kernel_item (kernel, &item);
  if (result != CUDA_SUCCESS)
    return result;
  vgpu_work_clear (&node->item);
  node->item = item;
  return CUDA_SUCCESS;
}

CUresult
cuGraphInstantiateWithFlags (CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
  (void) flags;
  if (exec == NULL || graph == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  *exec = vgpu_take (sizeof **exec);
  (*exec)->graph = vgpu_graph_copy (graph);
  return CUDA_SUCCESS;
}

CUresult
cuGraphExecKernelNodeSetParams_v2 (CUgraphExec exec, CUgraphNode node,
                                   const AssayKernelNode *kernel)
{
  for (size_t i = 0; exec != NULL && i < exec->graph->count; i++)
    if (exec->graph->nodes[i]->origin == node)
      return cuGraphKernelNodeSetParams_v2 (exec->graph->nodes[i], kernel);
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult
cuGraphExecUpdate_v2 (CUgraphExec exec, CUgraph graph, void *info)
{
  if (info != NULL)
    memset (info, 0, sizeof (int) + 4 + 2 * sizeof (void *));
  if (exec == NULL || graph == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  bool same = exec->graph->count == graph->count;
  for (size_t i = 0; same && i < graph->count; i++)
    same = exec->graph->nodes[i]->item.kind == graph->nodes[i]->item.kind;
  if (!same)
    {
      if (info != NULL)
        *(int *) info = 2; /* the topology has changed */
      return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    }
  CUgraph copy = vgpu_graph_copy (graph);
  vgpu_graph_free (exec->graph);
  exec->graph = copy;
  return CUDA_SUCCESS;
}

CUresult
cuGraphExecDestroy (CUgraphExec exec)
{
  CUcontext context;
  if (exec == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  if (vgpu_enter (&context) == CUDA_SUCCESS)
    vgpu_leave (vgpu_wait_all (context));
  vgpu_graph_free (exec->graph);
  free (exec);
  return CUDA_SUCCESS;
}

CUresult
cuGraphLaunch (CUgraphExec exec, CUstream stream)
{
  CUcontext context;
  if (exec == NULL)
    return CUDA_ERROR_INVALID_HANDLE;
  CUresult result = vgpu_enter (&context);
  if (result != CUDA_SUCCESS)
    return result;
  VgpuWork item = {.kind = VGPU_WORK_GRAPH, .graph = exec->graph};
  if (vgpu_is_capturing (context, stream))
    item.graph = vgpu_graph_copy (exec->graph);
  return vgpu_leave (vgpu_submit (context, stream, &item));
}

CUresult
cuGraphUpload (CUgraphExec exec, CUstream stream)
{
  (void) stream;
  return exec != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
