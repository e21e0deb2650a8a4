/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gio/gio.h>

#include "app/run-model.h"
#include "engine/task/task.h"

G_BEGIN_DECLS

typedef enum
{
  ASSAY_REVIEW_NEW,
  ASSAY_REVIEW_DRAFT,
  ASSAY_REVIEW_SUBMITTED,
} AssayReviewState;

#define ASSAY_TYPE_TASK_ITEM (assay_task_item_get_type ())
G_DECLARE_FINAL_TYPE (AssayTaskItem, assay_task_item, ASSAY, TASK_ITEM, GObject)

/* A task in the queue: its folder, what was read from it, its latest run per candidate, and where
 * its review stands. Properties: id, subtitle, state (AssayReviewState), severity (the worst, or
 * -1), count-text, loaded.
 *
 * Signal "run-replaced" (candidate): another run of that candidate is the latest now. */
AssayTaskItem *assay_task_item_new (const char *folder);
const char *assay_task_item_get_folder (AssayTaskItem *self);
const char *assay_task_item_get_id (AssayTaskItem *self);

/* Reads the folder on a thread; runs no foreign code. A faulty task loads too: `problem` tells. */
void assay_task_item_load_async (AssayTaskItem *self, GCancellable *cancellable,
                                 GAsyncReadyCallback callback, gpointer user_data);
gboolean assay_task_item_load_finish (AssayTaskItem *self, GAsyncResult *result, GError **error);
gboolean assay_task_item_is_loaded (AssayTaskItem *self);

/* NULL until loaded, and where the folder cannot be read at all. */
const AssayTask *assay_task_item_get_task (AssayTaskItem *self);
/* All faults of the task, a line each; NULL where it is sound. */
const char *assay_task_item_get_problem (AssayTaskItem *self);
const char *assay_task_item_get_spec (AssayTaskItem *self);
/* Text of a file that the task names (sources, specification, task.json); NULL where unread. */
const char *assay_task_item_get_text (AssayTaskItem *self, const char *relative);
/* SHA-256 of such a file, hex; NULL where unread. */
const char *assay_task_item_get_hash (AssayTaskItem *self, const char *relative);

AssayRunModel *assay_task_item_get_run (AssayTaskItem *self, const char *candidate);
void assay_task_item_set_run (AssayTaskItem *self, const char *candidate, AssayRunModel *run);
AssayReviewState assay_task_item_get_state (AssayTaskItem *self);
void assay_task_item_set_state (AssayTaskItem *self, AssayReviewState state);

/* Finds the latest run of each candidate below <workspace>/runs/<id>/ and reads it. */
void assay_task_item_find_runs (AssayTaskItem *self, const char *workspace);

G_END_DECLS
