/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/record/run.h"

G_BEGIN_DECLS

/* The index of runs: a SQLite file in the workspace (WAL, the engine is the only writer). The run
 * folders are the truth; the index is rebuilt from them whenever it is missing, damaged or of another
 * version. One thread at a time. */
typedef struct _AssayStore AssayStore;

/* One run as a list shows it. */
typedef struct
{
  char *id, *task, *candidate, *device, *folder, *started, *finished;
  int state; /* AssayStatus */
  gint64 blockers, majors, minors;
} AssayRunSummary;

ASSAY_JSON_DECLARE (AssayRunSummary, assay_run_summary, ASSAY_RUN_SUMMARY_TABLE)
AssayRunSummary *assay_run_summarise (const AssayRun *run, const char *folder);

/* Makes `workspace` where it does not exist, and takes up what stands in its runs folder. */
AssayStore *assay_store_open (const char *workspace, GError **error);
void assay_store_free (AssayStore *store);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssayStore, assay_store_free)

gboolean assay_store_put (AssayStore *store, const AssayRunSummary *summary, GError **error);
/* Takes up run folders that other engines made meanwhile, looks again at those that were running, and
 * marks as errors those whose engine is gone. */
gboolean assay_store_reconcile (AssayStore *store, GError **error);

/* (transfer full): AssayRunSummary *, newest first. */
GPtrArray *assay_store_list (AssayStore *store, GError **error);
/* (transfer full): NULL with ASSAY_ERROR_NOT_FOUND. */
AssayRunSummary *assay_store_find (AssayStore *store, const char *id, GError **error);

/* A run folder is locked while an engine works on it. The lock goes with the process, however that
 * ends. Returns a descriptor to keep open, -1 when another engine has it. */
int assay_run_folder_lock (const char *folder);

G_END_DECLS
