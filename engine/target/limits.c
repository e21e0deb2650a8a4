/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/target/limits.h"

#include <stdio.h>
#include <string.h>

#define KIB 1024u
#define MIB (1024ull * 1024ull)
#define GIB (1024ull * MIB)

/* What has not changed since sm_50. */
#define COMMON                                                                                     \
  .warp_size = 32, .max_threads_per_block = 1024, .max_block_dim = {1024, 1024, 64},               \
  .max_grid_dim = {2147483647u, 65535u, 65535u}, .shared_per_block = 48 * KIB,                     \
  .registers_per_sm = 65536, .registers_per_block = 65536, .registers_per_thread = 255,            \
  .register_granularity = 256

/* clang-format off */
static const AssayTargetLimits targets[] = {
  { COMMON, .name = "sm_75", .typical_part = "T4", .major = 7, .minor = 5,
    .shared_per_block_optin = 64 * KIB, .shared_per_sm = 64 * KIB, .shared_reserved = 0, .shared_granularity = 256,
    .max_warps_per_sm = 32, .max_blocks_per_sm = 16, .sm_count = 40,
    .l2_bytes = 4 * MIB, .memory_bytes = 16 * GIB },
  { COMMON, .name = "sm_80", .typical_part = "A100 SXM 80GB", .major = 8, .minor = 0,
    .shared_per_block_optin = 163 * KIB, .shared_per_sm = 164 * KIB, .shared_reserved = 1 * KIB, .shared_granularity = 128,
    .max_warps_per_sm = 64, .max_blocks_per_sm = 32, .sm_count = 108,
    .l2_bytes = 40 * MIB, .memory_bytes = 80 * GIB },
  { COMMON, .name = "sm_86", .typical_part = "A40", .major = 8, .minor = 6,
    .shared_per_block_optin = 99 * KIB, .shared_per_sm = 100 * KIB, .shared_reserved = 1 * KIB, .shared_granularity = 128,
    .max_warps_per_sm = 48, .max_blocks_per_sm = 16, .sm_count = 84,
    .l2_bytes = 6 * MIB, .memory_bytes = 48 * GIB },
  { COMMON, .name = "sm_87", .typical_part = "Jetson AGX Orin", .major = 8, .minor = 7,
    .shared_per_block_optin = 163 * KIB, .shared_per_sm = 164 * KIB, .shared_reserved = 1 * KIB, .shared_granularity = 128,
    .max_warps_per_sm = 48, .max_blocks_per_sm = 16, .sm_count = 16,
    .l2_bytes = 4 * MIB, .memory_bytes = 64 * GIB },
  { COMMON, .name = "sm_89", .typical_part = "L40S", .major = 8, .minor = 9,
    .shared_per_block_optin = 99 * KIB, .shared_per_sm = 100 * KIB, .shared_reserved = 1 * KIB, .shared_granularity = 128,
    .max_warps_per_sm = 48, .max_blocks_per_sm = 24, .sm_count = 142,
    .l2_bytes = 96 * MIB, .memory_bytes = 48 * GIB },
  { COMMON, .name = "sm_90", .typical_part = "H100 SXM", .major = 9, .minor = 0,
    .shared_per_block_optin = 227 * KIB, .shared_per_sm = 228 * KIB, .shared_reserved = 1 * KIB, .shared_granularity = 128,
    .max_warps_per_sm = 64, .max_blocks_per_sm = 32, .sm_count = 132,
    .l2_bytes = 50 * MIB, .memory_bytes = 80 * GIB, .has_clusters = true },
  { COMMON, .name = "sm_100", .typical_part = "B200", .major = 10, .minor = 0,
    .shared_per_block_optin = 227 * KIB, .shared_per_sm = 228 * KIB, .shared_reserved = 1 * KIB, .shared_granularity = 128,
    .max_warps_per_sm = 64, .max_blocks_per_sm = 32, .sm_count = 148,
    .l2_bytes = 126 * MIB, .memory_bytes = 180 * GIB, .has_clusters = true },
  { COMMON, .name = "sm_103", .typical_part = "B300", .major = 10, .minor = 3,
    .shared_per_block_optin = 227 * KIB, .shared_per_sm = 228 * KIB, .shared_reserved = 1 * KIB, .shared_granularity = 128,
    .max_warps_per_sm = 64, .max_blocks_per_sm = 32, .sm_count = 148,
    .l2_bytes = 126 * MIB, .memory_bytes = 288 * GIB, .has_clusters = true },
  { COMMON, .name = "sm_110", .typical_part = "Jetson Thor", .major = 11, .minor = 0,
    .shared_per_block_optin = 227 * KIB, .shared_per_sm = 228 * KIB, .shared_reserved = 1 * KIB, .shared_granularity = 128,
    .max_warps_per_sm = 48, .max_blocks_per_sm = 24, .sm_count = 20,
    .l2_bytes = 32 * MIB, .memory_bytes = 128 * GIB, .has_clusters = true },
  { COMMON, .name = "sm_120", .typical_part = "RTX PRO 6000", .major = 12, .minor = 0,
    .shared_per_block_optin = 99 * KIB, .shared_per_sm = 100 * KIB, .shared_reserved = 1 * KIB, .shared_granularity = 128,
    .max_warps_per_sm = 48, .max_blocks_per_sm = 24, .sm_count = 188,
    .l2_bytes = 128 * MIB, .memory_bytes = 96 * GIB, .has_clusters = true },
  { COMMON, .name = "sm_121", .typical_part = "GB10", .major = 12, .minor = 1,
    .shared_per_block_optin = 99 * KIB, .shared_per_sm = 100 * KIB, .shared_reserved = 1 * KIB, .shared_granularity = 128,
    .max_warps_per_sm = 48, .max_blocks_per_sm = 24, .sm_count = 48,
    .l2_bytes = 24 * MIB, .memory_bytes = 128 * GIB, .has_clusters = true },
};
/* clang-format on */

#define TARGETS (sizeof targets / sizeof targets[0])

const AssayTargetLimits *
assay_target_limits_all (size_t *count)
{
  *count = TARGETS;
  return targets;
}

const AssayTargetLimits *
assay_target_limits (const char *name)
{
  if (name == NULL)
    return NULL;
  const char *digits = name;
  if (strncmp (name, "sm_", 3) == 0)
    digits = name + 3;
  else if (strncmp (name, "compute_", 8) == 0)
    digits = name + 8;
  size_t length = strspn (digits, "0123456789");
  /* A trailing a or f asks for more instructions, not for other limits. */
  if (length == 0
      || (digits[length] != '\0' && strcmp (digits + length, "a") != 0
          && strcmp (digits + length, "f") != 0))
    return NULL;
  for (size_t i = 0; i < TARGETS; i++)
    if (strncmp (targets[i].name + 3, digits, length) == 0 && targets[i].name[3 + length] == '\0')
      return &targets[i];
  return NULL;
}

static const char axes[] = "xyz";

static AssayLaunchProblem
check_block (const AssayTargetLimits *target, const AssayLaunch *launch, char *text, size_t size)
{
  uint64_t threads = 1;
  for (int axis = 0; axis < 3; axis++)
    {
      if (launch->block[axis] == 0)
        {
          snprintf (text, size, "the block has no threads: dimension %c is 0", axes[axis]);
          return ASSAY_LAUNCH_BLOCK_EMPTY;
        }
      if (launch->block[axis] > target->max_block_dim[axis])
        {
          snprintf (text, size, "block dimension %c is %u, %s allows %u", axes[axis],
                    launch->block[axis], target->name, target->max_block_dim[axis]);
          return ASSAY_LAUNCH_BLOCK_DIM;
        }
      threads *= launch->block[axis];
    }
  if (threads <= target->max_threads_per_block)
    return ASSAY_LAUNCH_FITS;
  snprintf (text, size, "a block of %u×%u×%u is %llu threads, %s allows %u", launch->block[0],
            launch->block[1], launch->block[2], (unsigned long long) threads, target->name,
            target->max_threads_per_block);
  return ASSAY_LAUNCH_BLOCK_THREADS;
}

static AssayLaunchProblem
check_grid (const AssayTargetLimits *target, const AssayLaunch *launch, char *text, size_t size)
{
  for (int axis = 0; axis < 3; axis++)
    {
      if (launch->grid[axis] == 0)
        {
          snprintf (text, size, "the grid has no blocks: dimension %c is 0", axes[axis]);
          return ASSAY_LAUNCH_GRID_EMPTY;
        }
      if (launch->grid[axis] > target->max_grid_dim[axis])
        {
          snprintf (text, size, "grid dimension %c is %u, %s allows %u", axes[axis],
                    launch->grid[axis], target->name, target->max_grid_dim[axis]);
          return ASSAY_LAUNCH_GRID_DIM;
        }
    }
  return ASSAY_LAUNCH_FITS;
}

static AssayLaunchProblem
check_shared (const AssayTargetLimits *target, const AssayLaunch *launch, char *text, size_t size)
{
  uint64_t total = (uint64_t) launch->static_shared + launch->dynamic_shared;
  if (launch->static_shared > target->shared_per_block)
    {
      snprintf (text, size, "%u bytes of static shared memory, %s allows %u", launch->static_shared,
                target->name, target->shared_per_block);
      return ASSAY_LAUNCH_SHARED_STATIC;
    }
  if (total > target->shared_per_block_optin)
    {
      snprintf (text, size, "%llu bytes of shared memory per block, %s allows %u",
                (unsigned long long) total, target->name, target->shared_per_block_optin);
      return ASSAY_LAUNCH_SHARED;
    }
  uint64_t usual = target->shared_per_block - launch->static_shared;
  uint64_t limit = launch->dynamic_shared_limit > usual ? launch->dynamic_shared_limit : usual;
  if (launch->dynamic_shared <= limit)
    return ASSAY_LAUNCH_FITS;
  snprintf (text, size,
            "%u bytes of dynamic shared memory, more than %llu: raise the function's "
            "MAX_DYNAMIC_SHARED_SIZE_BYTES first",
            launch->dynamic_shared, (unsigned long long) limit);
  return ASSAY_LAUNCH_SHARED_NOT_OPTED_IN;
}

static uint32_t
warps_of (const AssayTargetLimits *target, const AssayLaunch *launch)
{
  uint64_t threads = (uint64_t) launch->block[0] * launch->block[1] * launch->block[2];
  return (uint32_t) ((threads + target->warp_size - 1) / target->warp_size);
}

/* A multiprocessor is four parts, each with a quarter of the registers and of the warps. */
#define PARTS 4

static uint32_t
registers_per_warp (const AssayTargetLimits *target, const AssayLaunch *launch)
{
  uint32_t needed = launch->registers_per_thread * target->warp_size;
  uint32_t unit = target->register_granularity;
  return (needed + unit - 1) / unit * unit;
}

/* Warps that `registers` registers allow, spread over the four parts. */
static uint32_t
warps_by_registers (const AssayTargetLimits *target, const AssayLaunch *launch, uint32_t registers)
{
  return PARTS * (registers / PARTS / registers_per_warp (target, launch));
}

static AssayLaunchProblem
check_registers (const AssayTargetLimits *target, const AssayLaunch *launch, char *text,
                 size_t size)
{
  if (launch->registers_per_thread == 0)
    return ASSAY_LAUNCH_FITS;
  if (launch->registers_per_thread > target->registers_per_thread)
    {
      snprintf (text, size, "%u registers per thread, %s has %u", launch->registers_per_thread,
                target->name, target->registers_per_thread);
      return ASSAY_LAUNCH_REGISTERS_PER_THREAD;
    }
  uint32_t warps = warps_of (target, launch);
  uint32_t most = warps_by_registers (target, launch, target->registers_per_block);
  if (warps <= most)
    return ASSAY_LAUNCH_FITS;
  snprintf (text, size,
            "a block of %u warps with %u registers per thread, %s holds %u such warps: %u in each "
            "quarter of its %u registers",
            warps, launch->registers_per_thread, target->name, most, most / PARTS,
            target->registers_per_block);
  return ASSAY_LAUNCH_REGISTERS;
}

AssayLaunchProblem
assay_launch_check (const AssayTargetLimits *target, const AssayLaunch *launch, char *text,
                    size_t size)
{
  static AssayLaunchProblem (*const checks[]) (const AssayTargetLimits *, const AssayLaunch *,
                                               char *, size_t) = {check_block, check_grid,
                                                                  check_shared, check_registers};
  char ignored[1];
  if (text == NULL || size == 0)
    {
      text = ignored;
      size = sizeof ignored;
    }
  text[0] = '\0';
  for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
    {
      AssayLaunchProblem problem = checks[i](target, launch, text, size);
      if (problem != ASSAY_LAUNCH_FITS)
        return problem;
    }
  return ASSAY_LAUNCH_FITS;
}

const char *
assay_launch_problem_rule (AssayLaunchProblem problem)
{
  static const char *const rules[] = {
      [ASSAY_LAUNCH_BLOCK_EMPTY] = "launch.block-too-large",
      [ASSAY_LAUNCH_BLOCK_DIM] = "launch.block-too-large",
      [ASSAY_LAUNCH_BLOCK_THREADS] = "launch.block-too-large",
      [ASSAY_LAUNCH_GRID_EMPTY] = "launch.grid-limit",
      [ASSAY_LAUNCH_GRID_DIM] = "launch.grid-limit",
      [ASSAY_LAUNCH_SHARED_STATIC] = "launch.shared-limit",
      [ASSAY_LAUNCH_SHARED_NOT_OPTED_IN] = "launch.shared-limit",
      [ASSAY_LAUNCH_SHARED] = "launch.shared-limit",
      [ASSAY_LAUNCH_REGISTERS_PER_THREAD] = "launch.registers",
      [ASSAY_LAUNCH_REGISTERS] = "launch.registers",
  };
  return problem == ASSAY_LAUNCH_FITS ? NULL : rules[problem];
}

static uint32_t
blocks_by_shared (const AssayTargetLimits *target, const AssayLaunch *launch)
{
  uint32_t bytes = launch->static_shared + launch->dynamic_shared + target->shared_reserved;
  uint32_t unit = target->shared_granularity;
  bytes = (bytes + unit - 1) / unit * unit;
  return bytes > 0 ? target->shared_per_sm / bytes : UINT32_MAX;
}

static uint32_t
blocks_by_registers (const AssayTargetLimits *target, const AssayLaunch *launch)
{
  if (launch->registers_per_thread == 0)
    return UINT32_MAX;
  return warps_by_registers (target, launch, target->registers_per_sm) / warps_of (target, launch);
}

const char *const assay_occupancy_limits[] = {"warps", "registers", "shared memory", "blocks"};

AssayOccupancy
assay_launch_occupancy (const AssayTargetLimits *target, const AssayLaunch *launch)
{
  AssayOccupancy occupancy = {0};
  AssayLaunch one = *launch;
  for (int axis = 0; axis < 3; axis++)
    one.grid[axis] = 1;
  if (assay_launch_check (target, &one, NULL, 0) != ASSAY_LAUNCH_FITS)
    return occupancy;
  const uint32_t allowed[] = {
      [ASSAY_LIMITED_BY_WARPS] = target->max_warps_per_sm / warps_of (target, launch),
      [ASSAY_LIMITED_BY_REGISTERS] = blocks_by_registers (target, launch),
      [ASSAY_LIMITED_BY_SHARED] = blocks_by_shared (target, launch),
      [ASSAY_LIMITED_BY_BLOCKS] = target->max_blocks_per_sm,
  };
  occupancy.blocks = UINT32_MAX;
  for (int limit = 0; limit <= ASSAY_LIMITED_BY_BLOCKS; limit++)
    if (allowed[limit] < occupancy.blocks)
      {
        occupancy.blocks = allowed[limit];
        occupancy.limited_by = (AssayOccupancyLimit) limit;
      }
  occupancy.warps = occupancy.blocks * warps_of (target, launch);
  occupancy.share = (double) occupancy.warps / target->max_warps_per_sm;
  return occupancy;
}

uint32_t
assay_launch_blocks_per_sm (const AssayTargetLimits *target, const AssayLaunch *launch)
{
  return assay_launch_occupancy (target, launch).blocks;
}
