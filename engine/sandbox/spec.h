/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/sandbox/memory.h"

G_BEGIN_DECLS

/* What one sandboxed process shall see, and what it may use. */

typedef enum
{
  ASSAY_TIER_NONE,       /* no protection; only by explicit consent */
  ASSAY_TIER_BUBBLEWRAP, /* namespaces, read-only system, seccomp */
} AssaySandboxTier;

typedef struct
{
  guint64 memory_bytes;  /* of the whole process tree */
  guint64 scratch_bytes; /* of /tmp and /scratch each */
  guint64 file_bytes;    /* of one file */
  guint64 log_bytes;     /* kept of stdout and of stderr, each */
  guint64 channel_bytes; /* accepted on the channel in all */
  double wall_seconds;
  guint cpu_seconds;
  guint open_files;
} AssaySandboxLimits;

/* 4 GiB, 256 MiB, 1 GiB, 1 MiB, 64 MiB, 60 s, 240 s of processor time, 256 files. */
extern const AssaySandboxLimits ASSAY_SANDBOX_LIMITS_DEFAULT;

typedef struct _AssaySandboxSpec AssaySandboxSpec;

/* `program` is a path inside the sandbox: of the system, or one that is shown. */
AssaySandboxSpec *assay_sandbox_spec_new (const char *program);
void assay_sandbox_spec_free (AssaySandboxSpec *spec);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssaySandboxSpec, assay_sandbox_spec_free)

void assay_sandbox_spec_add_argument (AssaySandboxSpec *spec, const char *argument);
/* Makes a file or folder of this computer readable at `inside` (an absolute path). With the `none`
 * tier it stays where it is: ask assay_sandbox_spec_path () for the name the worker must use. */
void assay_sandbox_spec_show (AssaySandboxSpec *spec, const char *outside, const char *inside);
const char *assay_sandbox_spec_path (const AssaySandboxSpec *spec, AssaySandboxTier tier,
                                     const char *inside);
void assay_sandbox_spec_set_environment (AssaySandboxSpec *spec, const char *key,
                                         const char *value);
/* The worker gets `memory` as descriptor `number` (4 or more). The spec keeps a reference. */
void assay_sandbox_spec_pass (AssaySandboxSpec *spec, AssayMemory *memory, int number);
/* The device nodes of NVIDIA's driver and /sys. */
void assay_sandbox_spec_allow_gpu (AssaySandboxSpec *spec);
AssaySandboxLimits *assay_sandbox_spec_limits (AssaySandboxSpec *spec);

G_END_DECLS
