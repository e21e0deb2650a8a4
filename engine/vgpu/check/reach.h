/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What one request of a warp touches, for the checkers. */

/* How the addresses of one warp request lie to one another. Most requests are unit-stride or all
 * the same, and then one step does the work of 32. */
typedef enum
{
  VGPU_SHAPE_MIXED,
  VGPU_SHAPE_UNIT, /* lane's address is that of lane 0 plus lane times the bytes of a lane */
  VGPU_SHAPE_SAME
} VgpuShape;

/* Neighbouring lanes whose bytes lie side by side, or are the same: one stretch without holes. */
typedef struct
{
  int32_t from; /* away from the first lane of the request */
  uint32_t bytes;
  uint8_t lane;  /* the first of them */
  bool together; /* some of the lanes touch the same bytes */
} VgpuRun;

typedef struct
{
  VgpuShape shape;
  uint32_t mask;
  uint32_t bytes;          /* of one lane */
  uint64_t first;          /* address of the first active lane */
  const int32_t *relative; /* of each lane, what its address is away from first */
  uint32_t count;
  VgpuRun runs[32];
} VgpuReach;

/* How the lanes of a request lie, as the instruction remembers it for the next one: that it lies
 * likewise is soon seen. */
typedef struct
{
  uint64_t first; /* address of the first active lane */
  uint32_t mask;
  uint32_t stride; /* bytes of a lane; 0: only mask and relative hold */
  VgpuShape shape;
  VgpuShape half[2]; /* of a mixed request, that of its halves; filled for AVX-512 only */
  int32_t low, high; /* least and greatest of relative, over active lanes */
  bool far;          /* some lane is more than 1 GiB away: relative is meaningless */
  VgpuReach reach;   /* count 0: not worked out yet */
  int32_t relative[32] __attribute__ ((aligned (64))); /* 0 in inactive lanes */
} VgpuPattern;

/* Fills the runs from the rest. */
static inline void
vgpu_reach_find_runs (VgpuReach *reach)
{
  uint32_t mask = reach->mask, before = 0;
  VgpuRun *run = reach->runs;
  reach->count = 0;
  for (uint32_t left = mask; left != 0; left &= left - 1)
    {
      const uint32_t lane = (uint32_t) __builtin_ctz (left);
      const int64_t step = (int64_t) reach->relative[lane] - reach->relative[before];
      if (reach->count > 0 && lane == before + 1 && (step == 0 || step == reach->bytes))
        {
          run->bytes += (uint32_t) step;
          run->together |= step == 0;
        }
      else
        {
          run = &reach->runs[reach->count++];
          *run = (VgpuRun) {reach->relative[lane], reach->bytes, (uint8_t) lane, false};
        }
      before = lane;
    }
}

/* The reach of a request whose shape nobody has looked at. */
static inline void
vgpu_reach_lanes (VgpuReach *reach, uint64_t first, const int32_t *relative, uint32_t mask,
                  uint32_t bytes)
{
  reach->shape = VGPU_SHAPE_MIXED;
  reach->mask = mask;
  reach->bytes = bytes;
  reach->first = first;
  reach->relative = relative;
  vgpu_reach_find_runs (reach);
}
