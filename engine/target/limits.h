/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an NVIDIA architecture allows a launch to ask for.
 *
 * Source: CUDA C++ Programming Guide, appendix "Compute Capabilities", table "Technical
 * Specifications per Compute Capability"; PTX ISA for the grid limits; the data sheet of the named
 * part for multiprocessors, cache and memory. Sizes are bytes. */
typedef struct
{
  const char *name;         /* "sm_80" */
  const char *typical_part; /* a part of this architecture, whose sizes follow */
  int major;
  int minor;
  uint32_t warp_size;
  uint32_t max_threads_per_block;
  uint32_t max_block_dim[3];
  uint32_t max_grid_dim[3];
  uint32_t shared_per_block;       /* static, or dynamic without asking */
  uint32_t shared_per_block_optin; /* with CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES */
  uint32_t shared_per_sm;
  uint32_t shared_reserved;    /* per block, by the system */
  uint32_t shared_granularity; /* shared memory is given to a block in multiples of this */
  uint32_t registers_per_sm;
  uint32_t registers_per_block;
  uint32_t registers_per_thread;
  uint32_t register_granularity; /* registers are given to a warp in multiples of this */
  uint32_t max_warps_per_sm;
  uint32_t max_blocks_per_sm;
  uint32_t sm_count;
  uint64_t l2_bytes;
  uint64_t memory_bytes;
  bool has_clusters;
} AssayTargetLimits;

/* Looks an architecture up by name ("sm_80", "compute_80", "80", "sm_90a"); NULL if unknown. */
const AssayTargetLimits *assay_target_limits (const char *name);

/* All architectures in ascending order; count receives their number. */
const AssayTargetLimits *assay_target_limits_all (size_t *count);

typedef struct
{
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t static_shared;
  uint32_t dynamic_shared;
  uint32_t dynamic_shared_limit; /* raised by attribute; 0: not raised */
  uint32_t registers_per_thread; /* 0: unknown, not checked */
} AssayLaunch;

typedef enum
{
  ASSAY_LAUNCH_FITS,
  ASSAY_LAUNCH_BLOCK_EMPTY,
  ASSAY_LAUNCH_BLOCK_DIM,
  ASSAY_LAUNCH_BLOCK_THREADS,
  ASSAY_LAUNCH_GRID_EMPTY,
  ASSAY_LAUNCH_GRID_DIM,
  ASSAY_LAUNCH_SHARED_STATIC,
  ASSAY_LAUNCH_SHARED_NOT_OPTED_IN,
  ASSAY_LAUNCH_SHARED,
  ASSAY_LAUNCH_REGISTERS_PER_THREAD,
  ASSAY_LAUNCH_REGISTERS
} AssayLaunchProblem;

/* The first limit that launch breaks on target. If text is not NULL, a sentence naming the limit
 * and both numbers is written there (at most size bytes, empty when the launch fits). */
AssayLaunchProblem assay_launch_check (const AssayTargetLimits *target, const AssayLaunch *launch,
                                       char *text, size_t size);

/* The finding of RULES that a problem belongs to, such as "launch.block-too-large"; NULL for
 * ASSAY_LAUNCH_FITS. */
const char *assay_launch_problem_rule (AssayLaunchProblem problem);

typedef enum
{
  ASSAY_LIMITED_BY_WARPS,
  ASSAY_LIMITED_BY_REGISTERS,
  ASSAY_LIMITED_BY_SHARED,
  ASSAY_LIMITED_BY_BLOCKS
} AssayOccupancyLimit;
extern const char *const assay_occupancy_limits[]; /* "warps", "registers", … by the limit */

/* How many blocks of a launch one multiprocessor holds at a time; all 0 if the launch does not fit. */
typedef struct
{
  uint32_t blocks;
  uint32_t warps;                 /* resident */
  double share;                   /* of the warps that the multiprocessor could hold, 0 to 1 */
  AssayOccupancyLimit limited_by; /* what allows no further block; the first of equal ones */
} AssayOccupancy;

/* Registers are given to warps in multiples of 256, and each quarter of a multiprocessor has a quarter
 * of them. */
AssayOccupancy assay_launch_occupancy (const AssayTargetLimits *target, const AssayLaunch *launch);

/* Its blocks alone. */
uint32_t assay_launch_blocks_per_sm (const AssayTargetLimits *target, const AssayLaunch *launch);
