/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gtk/gtk.h>

#include "app/task-item.h"

G_BEGIN_DECLS

#define ASSAY_TYPE_QUEUE_ROW (assay_queue_row_get_type ())
G_DECLARE_FINAL_TYPE (AssayQueueRow, assay_queue_row, ASSAY, QUEUE_ROW, GtkWidget)

/* One task in the queue; NULL unbinds. */
void assay_queue_row_set_task (AssayQueueRow *self, AssayTaskItem *task);

G_END_DECLS
