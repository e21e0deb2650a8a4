/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/vgpu/driver/work.h"

struct CUgraphNode_st
{
  CUgraph graph;
  VgpuWork item;
  CUgraphNode *after; /* what comes before it */
  size_t after_count;
  CUgraphNode origin; /* of a copy */
  bool done;
};

struct CUgraph_st
{
  CUgraphNode *nodes;
  size_t count;
};

CUgraph vgpu_graph_new (void);
void vgpu_graph_free (CUgraph graph);
CUgraph vgpu_graph_copy (CUgraph graph);
/* Takes the item. */
CUgraphNode vgpu_graph_add (CUgraph graph, const VgpuWork *item, const CUgraphNode *after,
                            size_t count);
