/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "app/draft.h"
#include "app/engine-client.h"
#include "app/task-item.h"

G_BEGIN_DECLS

#define ASSAY_TYPE_SESSION (assay_session_get_type ())
G_DECLARE_FINAL_TYPE (AssaySession, assay_session, ASSAY, SESSION, GObject)

/* What all windows share: the workspace, the queue of tasks, the engine, and what is remembered from
 * one start to the next (<user state>/assay/session.json: open tasks, page, sizes, colours). */

/* `workspace` NULL: <user data>/assay/workspace. The folder is made when something is written. */
AssaySession *assay_session_new (const char *workspace);
const char *assay_session_get_workspace (AssaySession *self);
AssayEngineClient *assay_session_get_engine (AssaySession *self);
/* AssayTaskItem */
GListModel *assay_session_get_tasks (AssaySession *self);
/* Adds the folder to the queue, or finds it there; reads it on a thread. (transfer none) */
AssayTaskItem *assay_session_add_task (AssaySession *self, const char *folder);
/* Adds every task folder below `folder`, or the folder itself; FALSE where there is none. */
gboolean assay_session_add_tasks_below (AssaySession *self, const char *folder);

/* The rubric reviews are written by; NULL with `problem` set when it cannot be read. */
const AssayRubric *assay_session_get_rubric (AssaySession *self, const char **problem);
/* The review of that candidate; open ones stay open, with their undo steps. */
void assay_session_open_draft_async (AssaySession *self, AssayTaskItem *task, const char *candidate,
                                     GCancellable *cancellable, GAsyncReadyCallback callback,
                                     gpointer user_data);
AssayDraft *assay_session_open_draft_finish (AssaySession *self, GAsyncResult *result,
                                             GError **error);
/* Saves every open review, on this thread; FALSE with the first error. */
gboolean assay_session_save_drafts (AssaySession *self, GError **error);

/* Remembered values; `otherwise` where nothing is remembered. Strings stay the session's. */
const char *assay_session_get_string (AssaySession *self, const char *key);
gint64 assay_session_get_int (AssaySession *self, const char *key, gint64 otherwise);
void assay_session_set_string (AssaySession *self, const char *key, const char *value);
void assay_session_set_int (AssaySession *self, const char *key, gint64 value);
/* Folders of the tasks that were open last time. (transfer full) */
GStrv assay_session_get_last_tasks (AssaySession *self);
/* Writes now, for the end of the program; otherwise a change is written two seconds later. */
void assay_session_flush (AssaySession *self);

G_END_DECLS
