/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gio/gio.h>

#include "app/finding-item.h"
#include "app/run-event.h"
#include "engine/record/run.h"

G_BEGIN_DECLS

#define ASSAY_TYPE_RUN_MODEL (assay_run_model_get_type ())
G_DECLARE_FINAL_TYPE (AssayRunModel, assay_run_model, ASSAY, RUN_MODEL, GObject)

/* One run as it grows: started from nothing and fed by events, or read from its folder. Records that
 * were once shown stay in memory as long as the model, so a thread that holds a reference to the
 * model may read them.
 *
 * Signal "changed" (AssayRunChange): which parts are new. */

typedef enum
{
  ASSAY_RUN_CHANGED_STATE = 1 << 0,
  ASSAY_RUN_CHANGED_STAGES = 1 << 1,
  ASSAY_RUN_CHANGED_COMPILE = 1 << 2,
  ASSAY_RUN_CHANGED_WORKLOADS = 1 << 3,
  ASSAY_RUN_CHANGED_AUDIT = 1 << 4,
  ASSAY_RUN_CHANGED_FINDINGS = 1 << 5,
  ASSAY_RUN_CHANGED_LOG = 1 << 6,
  ASSAY_RUN_CHANGED_TIMES = 1 << 7,
  ASSAY_RUN_CHANGED_ALL = (1 << 8) - 1,
} AssayRunChange;

AssayRunModel *assay_run_model_new (const char *id, const char *folder);
/* Takes a whole record, as read from run.json. */
void assay_run_model_take (AssayRunModel *self, AssayRun *run);
/* Moves what the event carries into the model. */
void assay_run_model_apply (AssayRunModel *self, AssayRunEvent *event);
/* The engine died: running stages become errors with that reason. */
void assay_run_model_mark_lost (AssayRunModel *self, const char *reason);

const char *assay_run_model_get_id (AssayRunModel *self);
const char *assay_run_model_get_folder (AssayRunModel *self);
const AssayRun *assay_run_model_get (AssayRunModel *self);
/* AssayFindingItem, sorted. */
GListModel *assay_run_model_get_findings (AssayRunModel *self);
/* How many findings of each severity; `counts` has four entries. */
void assay_run_model_count (AssayRunModel *self, guint *counts);
gboolean assay_run_model_is_running (AssayRunModel *self);
gboolean assay_run_model_is_lost (AssayRunModel *self);
/* Status of each of ASSAY_N_STAGES stages. */
void assay_run_model_get_stages (AssayRunModel *self, int *statuses);
/* The running stage or -1, its share and what it does just now. */
int assay_run_model_get_current (AssayRunModel *self, double *fraction, const char **text);
/* Log lines of this session, newest last, at most 256 KiB. */
const char *assay_run_model_get_log (AssayRunModel *self);
gint64 assay_run_model_get_last_event (AssayRunModel *self);

const AssayWorkloadRecord *assay_run_model_find_workload (AssayRunModel *self, const char *name);

/* The record as it stands, for a thread: the lists are copies, what they hold belongs to the model,
 * which the snapshot keeps. (transfer full) */
typedef struct
{
  AssayRun run;
  AssayRunModel *model;
} AssayRunSnapshot;
AssayRunSnapshot *assay_run_model_snapshot (AssayRunModel *self);
void assay_run_snapshot_free (AssayRunSnapshot *snapshot);

/* Reads <folder>/run.json on a thread. */
void assay_run_model_load_async (const char *folder, GCancellable *cancellable,
                                 GAsyncReadyCallback callback, gpointer user_data);
AssayRunModel *assay_run_model_load_finish (GAsyncResult *result, GError **error);
/* Reads the folder again into this model; errors leave it as it is. */
void assay_run_model_reload (AssayRunModel *self);

G_END_DECLS
