/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sandbox/spec-private.h"

#define MIB (1024ull * 1024)

const AssaySandboxLimits ASSAY_SANDBOX_LIMITS_DEFAULT = {
    .memory_bytes = 4096 * MIB,
    .scratch_bytes = 256 * MIB,
    .file_bytes = 1024 * MIB,
    .log_bytes = MIB,
    .channel_bytes = 64 * MIB,
    .wall_seconds = 60,
    .cpu_seconds = 240,
    .open_files = 256,
};

static void
mount_free (gpointer data)
{
  AssaySandboxMount *mount = data;
  g_free (mount->outside);
  g_free (mount->inside);
  g_free (mount);
}

static void
share_free (gpointer data)
{
  AssaySandboxShare *share = data;
  assay_memory_unref (share->memory);
  g_free (share);
}

AssaySandboxSpec *
assay_sandbox_spec_new (const char *program)
{
  AssaySandboxSpec *spec = g_new0 (AssaySandboxSpec, 1);
  spec->argv = g_ptr_array_new_with_free_func (g_free);
  spec->mounts = g_ptr_array_new_with_free_func (mount_free);
  spec->environment = g_ptr_array_new_with_free_func (g_free);
  spec->shares = g_ptr_array_new_with_free_func (share_free);
  spec->limits = ASSAY_SANDBOX_LIMITS_DEFAULT;
  g_ptr_array_add (spec->argv, g_strdup (program));
  return spec;
}

void
assay_sandbox_spec_free (AssaySandboxSpec *spec)
{
  g_ptr_array_unref (spec->argv);
  g_ptr_array_unref (spec->mounts);
  g_ptr_array_unref (spec->environment);
  g_ptr_array_unref (spec->shares);
  g_free (spec);
}

void
assay_sandbox_spec_add_argument (AssaySandboxSpec *spec, const char *argument)
{
  g_ptr_array_add (spec->argv, g_strdup (argument));
}

void
assay_sandbox_spec_show (AssaySandboxSpec *spec, const char *outside, const char *inside)
{
  AssaySandboxMount *mount = g_new0 (AssaySandboxMount, 1);
  mount->outside = g_strdup (outside);
  mount->inside = g_strdup (inside);
  g_ptr_array_add (spec->mounts, mount);
}

const char *
assay_sandbox_spec_path (const AssaySandboxSpec *spec, AssaySandboxTier tier, const char *inside)
{
  for (guint i = 0; i < spec->mounts->len && tier == ASSAY_TIER_NONE; i++)
    {
      const AssaySandboxMount *mount = g_ptr_array_index (spec->mounts, i);
      if (g_str_equal (mount->inside, inside))
        return mount->outside;
    }
  return inside;
}

void
assay_sandbox_spec_set_environment (AssaySandboxSpec *spec, const char *key, const char *value)
{
  g_ptr_array_add (spec->environment, g_strdup (key));
  g_ptr_array_add (spec->environment, g_strdup (value));
}

void
assay_sandbox_spec_pass (AssaySandboxSpec *spec, AssayMemory *memory, int number)
{
  AssaySandboxShare *share = g_new0 (AssaySandboxShare, 1);
  g_return_if_fail (number > 3 && number < ASSAY_FILTER_FD);
  share->memory = assay_memory_ref (memory);
  share->number = number;
  g_ptr_array_add (spec->shares, share);
}

void
assay_sandbox_spec_allow_gpu (AssaySandboxSpec *spec)
{
  spec->gpu = TRUE;
}

AssaySandboxLimits *
assay_sandbox_spec_limits (AssaySandboxSpec *spec)
{
  return &spec->limits;
}
