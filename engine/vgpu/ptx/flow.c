/* SPDX-License-Identifier: Apache-2.0 */
/* Basic blocks, and the immediate post-dominators where diverged lanes meet again. */
#include "engine/vgpu/ptx/builder.h"

#include <stdlib.h>
#include <string.h>

/* While code is flat, branch targets are indices of instructions; later of block headers. */
typedef struct
{
  VgpuBuilder *builder;
  uint32_t *block_of; /* per instruction */
  uint32_t *first;    /* per block, in flat code; one more at the end */
  size_t count;
  uint32_t (*next)[2]; /* successors; VGPU_NONE: none, count: the end of the kernel */
  uint32_t *post;      /* immediate post-dominator; count: the end */
  uint32_t *order;     /* number in a reverse walk from the end; VGPU_NONE: no way to it */
} Flow;

static bool
is_branch (uint16_t op)
{
  return op == VGPU_OP_BRANCH || op == VGPU_OP_JUMP;
}

/* CALL_SELECT goes through to the next instruction, but lanes meet at its target. */
static bool
has_target (uint16_t op)
{
  return is_branch (op) || op == VGPU_OP_CALL_SELECT;
}

static bool
ends_block (uint16_t op)
{
  return is_branch (op) || op == VGPU_OP_RETURN || op == VGPU_OP_CALL_RETURN || op == VGPU_OP_TRAP;
}

static bool
cut_blocks (Flow *flow)
{
  VgpuKernel *kernel = flow->builder->kernel;
  size_t count = kernel->code_count;
  bool *leads = vgpu_arena_take (&flow->builder->arena, count + 1);
  leads[0] = true;
  for (size_t i = 0; i < count; i++)
    {
      const VgpuIns *ins = &kernel->code[i];
      if (has_target (ins->op))
        {
          if (ins->target >= count)
            return vgpu_builder_fail (flow->builder, "a branch out of the kernel");
          leads[ins->target] = true;
        }
      if (ends_block (ins->op))
        leads[i + 1] = true;
    }
  flow->block_of = vgpu_arena_take (&flow->builder->arena, count * sizeof *flow->block_of);
  flow->first = vgpu_arena_take (&flow->builder->arena, (count + 1) * sizeof *flow->first);
  for (size_t i = 0; i < count; i++)
    {
      if (leads[i])
        flow->first[flow->count++] = (uint32_t) i;
      flow->block_of[i] = (uint32_t) flow->count - 1;
    }
  flow->first[flow->count] = (uint32_t) count;
  return true;
}

static void
link_blocks (Flow *flow)
{
  const VgpuKernel *kernel = flow->builder->kernel;
  flow->next = vgpu_arena_take (&flow->builder->arena, flow->count * sizeof *flow->next);
  for (size_t b = 0; b < flow->count; b++)
    {
      const VgpuIns *last = &kernel->code[flow->first[b + 1] - 1];
      uint32_t through = b + 1 < flow->count ? (uint32_t) b + 1 : (uint32_t) flow->count;
      flow->next[b][0] = flow->next[b][1] = VGPU_NONE;
      /* What traps goes nowhere: nobody meets anybody behind it. */
      if (last->op == VGPU_OP_RETURN || last->op == VGPU_OP_CALL_RETURN)
        flow->next[b][0] = (uint32_t) flow->count;
      else if (last->op != VGPU_OP_TRAP)
        {
          if (is_branch (last->op))
            flow->next[b][0] = flow->block_of[last->target];
          if (last->op != VGPU_OP_JUMP)
            flow->next[b][1] = through;
        }
    }
}

/* Which of two successors does nothing but return: 0 or 1; -1: neither, or there is no other. */
static int
returning_side (const Flow *flow, size_t b)
{
  const VgpuKernel *kernel = flow->builder->kernel;
  if (flow->next[b][0] == VGPU_NONE || flow->next[b][1] == VGPU_NONE
      || flow->next[b][0] == flow->next[b][1])
    return -1;
  for (int i = 0; i < 2; i++)
    {
      uint32_t to = flow->next[b][i];
      if (to < flow->count && flow->first[to + 1] - flow->first[to] == 1
          && kernel->code[flow->first[to]].op == VGPU_OP_RETURN)
        return i;
    }
  return -1;
}

/* Marks the blocks from which the end can be reached. */
static void
mark_reaching (const Flow *flow, bool *reaches)
{
  bool changed = true;
  memset (reaches, 0, flow->count);
  while (changed)
    {
      changed = false;
      for (size_t b = flow->count; b-- > 0;)
        for (int i = 0; !reaches[b] && i < 2; i++)
          {
            uint32_t to = flow->next[b][i];
            if (to != VGPU_NONE && (to == flow->count || reaches[to]))
              reaches[b] = changed = true;
          }
    }
}

/* A thread that leaves early must not keep the others of its warp apart until the end: an edge to
 * a bare return does not count, where the other side has a way to the end of its own. Loops that
 * end in a return keep that edge. */
static void
cut_early_returns (Flow *flow)
{
  VgpuArena *arena = &flow->builder->arena;
  bool *reaches = vgpu_arena_take (arena, flow->count);
  uint32_t *cut = vgpu_arena_take (arena, flow->count * sizeof *cut);
  int *sides = vgpu_arena_take (arena, flow->count * sizeof *sides);
  for (size_t b = 0; b < flow->count; b++)
    {
      sides[b] = returning_side (flow, b);
      if (sides[b] < 0)
        continue;
      cut[b] = flow->next[b][sides[b]];
      flow->next[b][sides[b]] = VGPU_NONE;
    }
  /* First the edges out of loops come back, then whatever is still needed. */
  for (int round = 0; round < 2; round++)
    {
      mark_reaching (flow, reaches);
      for (size_t b = 0; b < flow->count; b++)
        {
          bool loops = sides[b] >= 0 && flow->next[b][1 - sides[b]] <= b;
          if (sides[b] < 0 || reaches[b] || (round == 0 && !loops))
            continue;
          flow->next[b][sides[b]] = cut[b];
          sides[b] = -1;
        }
    }
}

/* Depth-first from the end along edges backwards; blocks come out in post-order. */
static uint32_t *
walk_backwards (Flow *flow, uint32_t *visited)
{
  VgpuArena *arena = &flow->builder->arena;
  size_t nodes = flow->count + 1;
  uint32_t *degree = vgpu_arena_take (arena, (nodes + 1) * sizeof *degree);
  uint32_t *edges = vgpu_arena_take (arena, flow->count * 2 * sizeof *edges);
  uint32_t *stack = vgpu_arena_take (arena, nodes * sizeof *stack);
  uint32_t *at = vgpu_arena_take (arena, nodes * sizeof *at);
  uint32_t *list = vgpu_arena_take (arena, nodes * sizeof *list);
  for (size_t b = 0; b < flow->count; b++)
    for (int i = 0; i < 2; i++)
      if (flow->next[b][i] != VGPU_NONE)
        degree[flow->next[b][i] + 1]++;
  for (size_t i = 0; i < nodes; i++)
    degree[i + 1] += degree[i];
  for (size_t i = 0; i < nodes; i++)
    at[i] = degree[i];
  for (size_t b = 0; b < flow->count; b++)
    for (int i = 0; i < 2; i++)
      if (flow->next[b][i] != VGPU_NONE)
        edges[at[flow->next[b][i]]++] = (uint32_t) b;
  for (size_t i = 0; i < nodes; i++)
    {
      at[i] = degree[i];
      flow->order[i] = VGPU_NONE;
    }
  size_t depth = 0;
  *visited = 0;
  bool *seen = vgpu_arena_take (arena, nodes);
  stack[depth++] = (uint32_t) flow->count;
  seen[flow->count] = true;
  while (depth > 0)
    {
      uint32_t node = stack[depth - 1];
      if (at[node] < degree[node + 1])
        {
          uint32_t before = edges[at[node]++];
          if (!seen[before])
            {
              seen[before] = true;
              stack[depth++] = before;
            }
          continue;
        }
      depth--;
      flow->order[node] = *visited;
      list[(*visited)++] = node;
    }
  return list;
}

static uint32_t
meet (const Flow *flow, uint32_t a, uint32_t b)
{
  while (a != b)
    {
      while (flow->order[a] < flow->order[b])
        a = flow->post[a];
      while (flow->order[b] < flow->order[a])
        b = flow->post[b];
    }
  return a;
}

/* Cooper, Harvey, Kennedy, "A simple, fast dominance algorithm", 2001, on the reversed graph. */
static void
find_post_dominators (Flow *flow)
{
  VgpuArena *arena = &flow->builder->arena;
  uint32_t visited;
  flow->order = vgpu_arena_take (arena, (flow->count + 1) * sizeof *flow->order);
  flow->post = vgpu_arena_take (arena, (flow->count + 1) * sizeof *flow->post);
  uint32_t *list = walk_backwards (flow, &visited);
  for (size_t i = 0; i <= flow->count; i++)
    flow->post[i] = VGPU_NONE;
  flow->post[flow->count] = (uint32_t) flow->count;
  bool changed = true;
  while (changed)
    {
      changed = false;
      for (uint32_t i = visited; i-- > 0;)
        {
          uint32_t node = list[i], found = VGPU_NONE;
          if (node == flow->count)
            continue;
          for (int j = 0; j < 2; j++)
            {
              uint32_t next = flow->next[node][j];
              if (next == VGPU_NONE || flow->order[next] == VGPU_NONE
                  || flow->post[next] == VGPU_NONE)
                continue;
              found = found == VGPU_NONE ? next : meet (flow, found, next);
            }
          if (found != flow->post[node])
            {
              flow->post[node] = found;
              changed = true;
            }
        }
    }
}

static void
count_flops (VgpuBasicBlock *block, const VgpuIns *ins)
{
  const VgpuOperation *operation = &vgpu_operations[ins->op];
  bool fused = strncmp (operation->id, "FMA", 3) == 0 || strncmp (operation->id, "MAD", 3) == 0;
  uint32_t flops = fused ? 2 : 1;
  switch (operation->kind)
    {
    case VGPU_KIND_SINGLE:
    case VGPU_KIND_MODIFIED:
    case VGPU_KIND_APPROXIMATE:
      block->flops32 += flops;
      return;
    case VGPU_KIND_DOUBLE:
      block->flops64 += flops;
      return;
    case VGPU_KIND_HALF:
      block->flops16 += flops * operation->bytes[0] / 2;
      return;
    default:
      if (ins->op == VGPU_OP_MMA)
        block->flops16 += (uint32_t) ins->imm;
      else if (ins->op == VGPU_OP_DIV_APPROX)
        block->flops32++;
    }
}

/* Writes the final code: a header before each block, targets as indices of headers. */
static void
write_code (Flow *flow, const bool *meets)
{
  VgpuKernel *kernel = flow->builder->kernel;
  size_t total = kernel->code_count + flow->count;
  VgpuIns *code = vgpu_take (total * sizeof *code);
  kernel->blocks = vgpu_take (flow->count * sizeof *kernel->blocks);
  kernel->block_count = flow->count;
  for (size_t b = 0; b < flow->count; b++)
    {
      VgpuBasicBlock *block = &kernel->blocks[b];
      uint32_t header = flow->first[b] + (uint32_t) b;
      int last_line = -1;
      block->first = header;
      for (uint32_t i = flow->first[b]; i < flow->first[b + 1]; i++)
        {
          VgpuIns *ins = &code[i + b + 1];
          *ins = kernel->code[i];
          block->count += ins->line != last_line;
          last_line = ins->line;
          count_flops (block, ins);
          if (!has_target (ins->op))
            continue;
          uint32_t target = flow->block_of[ins->target];
          if (ins->op == VGPU_OP_CALL_SELECT)
            {
              ins->reconverge = target;
              continue;
            }
          bool back = target <= b;
          uint32_t meeting = flow->post[b];
          ins->target = flow->first[target] + target;
          ins->reconverge = meeting == flow->count ? VGPU_NONE : meeting;
          if (back)
            ins->op = ins->op == VGPU_OP_BRANCH ? VGPU_OP_BRANCH_BACK : VGPU_OP_JUMP_BACK;
        }
      VgpuIns *head = &code[header];
      *head = code[header + 1];
      head->op = meets[b] ? VGPU_OP_BLOCK_MEET : VGPU_OP_BLOCK;
      head->taint = VGPU_TAINT_NONE;
      head->is_guarded = 0;
      head->site = (uint32_t) b;
      head->imm = block->count;
    }
  for (size_t i = 0; i < kernel->callable_count; i++)
    {
      uint32_t block = flow->block_of[kernel->callables[i].entry];
      kernel->callables[i].entry = flow->first[block] + block;
    }
  free (kernel->code);
  kernel->code = code;
  kernel->code_count = total;
}

static bool
has_site (uint16_t op)
{
  return (op >= VGPU_OP_LOAD_GLOBAL && op <= VGPU_OP_ATOM_GENERIC) || op == VGPU_OP_COPY_ASYNC
         || op == VGPU_OP_BULK_COPY || op == VGPU_OP_BULK_TENSOR || op == VGPU_OP_LOAD_MATRIX
         || op == VGPU_OP_STORE_MATRIX || op == VGPU_OP_WMMA_LOAD || op == VGPU_OP_WMMA_STORE
         || (op >= VGPU_OP_TEXTURE_FETCH && op <= VGPU_OP_SURFACE_ACCESS) || op == VGPU_OP_WIDE_LOAD
         || op == VGPU_OP_WIDE_STORE || op == VGPU_OP_STORE_ASYNC;
}

static void
choose_handlers (VgpuKernel *kernel)
{
  kernel->plain = vgpu_handlers_are_plain ();
  for (size_t i = 0; i < kernel->code_count; i++)
    {
      VgpuIns *ins = &kernel->code[i];
      ins->guarded = vgpu_handlers[ins->op];
      ins->run = ins->is_guarded ? vgpu_handlers[VGPU_OP_GUARD] : ins->guarded;
      if (ins->flags & VGPU_INS_WATCHED)
        ins->run = vgpu_handlers[VGPU_OP_WATCH];
      if (has_site (ins->op))
        ins->site = (uint32_t) kernel->site_count++;
    }
}

bool
vgpu_build_flow (VgpuBuilder *builder)
{
  Flow flow = {.builder = builder};
  if (!cut_blocks (&flow))
    return false;
  link_blocks (&flow);
  cut_early_returns (&flow);
  find_post_dominators (&flow);
  bool *meets = vgpu_arena_take (&builder->arena, flow.count);
  for (size_t b = 0; b < flow.count; b++)
    {
      uint16_t op = builder->kernel->code[flow.first[b + 1] - 1].op;
      if (op == VGPU_OP_BRANCH && flow.post[b] < flow.count)
        meets[flow.post[b]] = true;
      for (uint32_t i = flow.first[b]; i < flow.first[b + 1]; i++)
        if (builder->kernel->code[i].op == VGPU_OP_CALL_SELECT)
          meets[flow.block_of[builder->kernel->code[i].target]] = true;
    }
  write_code (&flow, meets);
  vgpu_watch_accumulators (builder);
  choose_handlers (builder->kernel);
  vgpu_hoist (builder->kernel);
  return true;
}
