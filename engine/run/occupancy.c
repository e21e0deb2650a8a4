/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/occupancy.h"

#include "engine/target/limits.h"

/* Apart from the rest of the room: the target's launch and the record's share a name. */

static uint32_t
cut (gint64 value)
{
  return (uint32_t) CLAMP (value, 0, (gint64) G_MAXUINT32);
}

void
assay_launch_fit (const char *target, const gint64 *grid, const gint64 *block,
                  gint64 dynamic_shared, gint64 static_shared, gint64 registers,
                  AssayLaunchFit *fit)
{
  const AssayTargetLimits *limits = assay_target_limits (target);
  *fit = (AssayLaunchFit) {.known = limits != NULL};
  if (!limits)
    return;
  AssayLaunch launch = {.dynamic_shared = cut (dynamic_shared),
                        .static_shared = cut (static_shared),
                        .registers_per_thread = cut (registers),
                        .dynamic_shared_limit = limits->shared_per_block_optin};
  for (int i = 0; i < 3; i++)
    {
      launch.grid[i] = cut (grid[i]);
      launch.block[i] = cut (block[i]);
    }
  if (assay_launch_check (limits, &launch, fit->problem, sizeof fit->problem) != ASSAY_LAUNCH_FITS)
    return;
  AssayOccupancy occupancy = assay_launch_occupancy (limits, &launch);
  fit->blocks = occupancy.blocks;
  fit->warps = occupancy.warps;
  fit->share = occupancy.share;
  fit->limited_by = assay_occupancy_limits[occupancy.limited_by];
}
