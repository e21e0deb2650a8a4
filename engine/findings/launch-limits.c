/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/target/limits.h"

#include <glib.h>

/* Apart from the rest of the room: the target's launch and the record's share a name. */
const char *assay_derive_launch_rule (const char *target, const gint64 *grid, const gint64 *block,
                                      gint64 shared, gint64 registers, char *text, gsize size);
guint64 assay_derive_target_memory (const char *target);

static uint32_t
cut (gint64 value)
{
  return (uint32_t) CLAMP (value, 0, (gint64) G_MAXUINT32);
}

const char *
assay_derive_launch_rule (const char *target, const gint64 *grid, const gint64 *block,
                          gint64 shared, gint64 registers, char *text, gsize size)
{
  const AssayTargetLimits *limits = assay_target_limits (target);
  if (!limits)
    return NULL;
  AssayLaunch launch = {.dynamic_shared = cut (shared),
                        .registers_per_thread = cut (registers),
                        .dynamic_shared_limit = limits->shared_per_block_optin};
  for (int i = 0; i < 3; i++)
    {
      launch.grid[i] = cut (grid[i]);
      launch.block[i] = cut (block[i]);
    }
  return assay_launch_problem_rule (assay_launch_check (limits, &launch, text, size));
}

guint64
assay_derive_target_memory (const char *target)
{
  const AssayTargetLimits *limits = assay_target_limits (target);
  return limits ? limits->memory_bytes : 0;
}
