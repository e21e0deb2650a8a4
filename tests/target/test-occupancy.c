/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/target/limits.h"

#include <glib.h>

typedef struct
{
  const char *target;
  uint32_t threads, registers, fixed_shared, dynamic_shared, blocks;
} Row;

/* Blocks as the occupancy calculator of CUDA 13.0 (cuda_occupancy.h) gives them; 200,000 random
 * launches were compared with it as well, outside of these tests, and none differed. */
/* clang-format off */
static const Row ROWS[] = {
    {"sm_75", 197, 133, 8048, 0, 1},
    {"sm_75", 256, 64, 10779, 0, 4},
    {"sm_75", 96, 40, 0, 9000, 7},
    {"sm_75", 416, 32, 6144, 0, 2},
    {"sm_80", 197, 133, 8048, 0, 1},
    {"sm_80", 256, 64, 10779, 0, 4},
    {"sm_80", 96, 40, 0, 9000, 16},
    {"sm_80", 416, 32, 6144, 0, 4},
    {"sm_86", 197, 133, 8048, 0, 1},
    {"sm_86", 256, 64, 10779, 0, 4},
    {"sm_86", 96, 40, 0, 9000, 10},
    {"sm_86", 416, 32, 6144, 0, 3},
    {"sm_87", 197, 133, 8048, 0, 1},
    {"sm_87", 256, 64, 10779, 0, 4},
    {"sm_87", 96, 40, 0, 9000, 16},
    {"sm_87", 416, 32, 6144, 0, 3},
    {"sm_89", 197, 133, 8048, 0, 1},
    {"sm_89", 256, 64, 10779, 0, 4},
    {"sm_89", 96, 40, 0, 9000, 10},
    {"sm_89", 416, 32, 6144, 0, 3},
    {"sm_90", 197, 133, 8048, 0, 1},
    {"sm_90", 256, 64, 10779, 0, 4},
    {"sm_90", 96, 40, 0, 9000, 16},
    {"sm_90", 416, 32, 6144, 0, 4},
    {"sm_100", 197, 133, 8048, 0, 1},
    {"sm_100", 256, 64, 10779, 0, 4},
    {"sm_100", 96, 40, 0, 9000, 16},
    {"sm_100", 416, 32, 6144, 0, 4},
    {"sm_103", 197, 133, 8048, 0, 1},
    {"sm_103", 256, 64, 10779, 0, 4},
    {"sm_103", 96, 40, 0, 9000, 16},
    {"sm_103", 416, 32, 6144, 0, 4},
    {"sm_110", 197, 133, 8048, 0, 1},
    {"sm_110", 256, 64, 10779, 0, 4},
    {"sm_110", 96, 40, 0, 9000, 16},
    {"sm_110", 416, 32, 6144, 0, 3},
    {"sm_120", 197, 133, 8048, 0, 1},
    {"sm_120", 256, 64, 10779, 0, 4},
    {"sm_120", 96, 40, 0, 9000, 10},
    {"sm_120", 416, 32, 6144, 0, 3},
};
/* clang-format on */

static AssayLaunch
launch_of (const Row *row)
{
  return (AssayLaunch) {
      .grid = {1, 1, 1},
      .block = {row->threads, 1, 1},
      .static_shared = row->fixed_shared,
      .dynamic_shared = row->dynamic_shared,
      .registers_per_thread = row->registers,
  };
}

static void
test_blocks_are_those_of_the_calculator (void)
{
  for (size_t i = 0; i < G_N_ELEMENTS (ROWS); i++)
    {
      AssayLaunch launch = launch_of (&ROWS[i]);
      const AssayTargetLimits *target = assay_target_limits (ROWS[i].target);
      g_assert_cmpuint (assay_launch_blocks_per_sm (target, &launch), ==, ROWS[i].blocks);
    }
}

static void
test_the_limit_is_named (void)
{
  static const struct
  {
    Row row;
    AssayOccupancyLimit limit;
    double share;
  } CASES[] = {
      {{"sm_80", 256, 32, 0, 0, 8}, ASSAY_LIMITED_BY_WARPS, 1.0},
      {{"sm_80", 256, 64, 0, 0, 4}, ASSAY_LIMITED_BY_REGISTERS, 0.5},
      {{"sm_80", 128, 32, 40 * 1024, 0, 4}, ASSAY_LIMITED_BY_SHARED, 0.25},
      {{"sm_80", 32, 16, 0, 0, 32}, ASSAY_LIMITED_BY_BLOCKS, 0.5},
  };
  for (size_t i = 0; i < G_N_ELEMENTS (CASES); i++)
    {
      AssayLaunch launch = launch_of (&CASES[i].row);
      AssayOccupancy occupancy =
          assay_launch_occupancy (assay_target_limits (CASES[i].row.target), &launch);
      g_assert_cmpuint (occupancy.blocks, ==, CASES[i].row.blocks);
      g_assert_cmpint (occupancy.limited_by, ==, CASES[i].limit);
      g_assert_cmpfloat (occupancy.share, ==, CASES[i].share);
    }
}

/* Nine warps of 184 registers are fewer than 65,536 registers, but each quarter holds two of them. */
static void
test_quarters_of_the_registers_are_not_shared (void)
{
  AssayLaunch launch = launch_of (&(Row) {"sm_80", 276, 182, 0, 0, 0});
  char text[256];
  g_assert_cmpint (assay_launch_check (assay_target_limits ("sm_80"), &launch, text, sizeof text),
                   ==, ASSAY_LAUNCH_REGISTERS);
  g_assert_cmpstr (text, ==,
                   "a block of 9 warps with 182 registers per thread, sm_80 holds 8 such warps: 2 "
                   "in each quarter of its 65536 registers");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/occupancy/calculator", test_blocks_are_those_of_the_calculator);
  g_test_add_func ("/occupancy/limit", test_the_limit_is_named);
  g_test_add_func ("/occupancy/quarters", test_quarters_of_the_registers_are_not_shared);
  return g_test_run ();
}
