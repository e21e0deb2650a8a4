/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gtk/gtk.h>

#include "app/task-item.h"

G_BEGIN_DECLS

#define ASSAY_TYPE_QUEUE_PANE (assay_queue_pane_get_type ())
G_DECLARE_FINAL_TYPE (AssayQueuePane, assay_queue_pane, ASSAY, QUEUE_PANE, GtkWidget)

/* The tasks to review: filter, state of each review, worst finding. Signal "chosen" (AssayTaskItem). */
void assay_queue_pane_set_tasks (AssayQueuePane *self, GListModel *tasks);
void assay_queue_pane_select (AssayQueuePane *self, AssayTaskItem *task);
/* Moves the selection among the tasks that the filter shows. */
void assay_queue_pane_step (AssayQueuePane *self, int step);
void assay_queue_pane_focus_filter (AssayQueuePane *self);

G_END_DECLS
