/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/draft.h"

#include "engine/base/json.h"

#define SAVE_AFTER_S 3
#define RETRY_AFTER_S 5

struct _AssayDraft
{
  GObject parent;
  AssayReviewEditor *editor;
  AssayTaskItem *task;
  char *folder;
  GPtrArray *missing; /* NULL: to be worked out */
  guint save_source;
  gboolean dirty, saving;
  char *problem, *saved_at;
  gint64 last_change;
};

enum
{
  CHANGED,
  SAVED,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (AssayDraft, assay_draft, G_TYPE_OBJECT)

/* --- opening, on a thread -------------------------------------------------------------------- */

typedef struct
{
  AssayTaskItem *task;
  char *candidate, *workspace;
  const AssayRubric *rubric;
} Open;

static void
open_free (gpointer data)
{
  Open *open = data;

  g_object_unref (open->task);
  g_free (open->candidate);
  g_free (open->workspace);
  g_free (open);
}

typedef struct
{
  AssayReview *review;
  char *folder;
} Opened;

static void
opened_free (gpointer data)
{
  Opened *opened = data;

  g_clear_pointer (&opened->review, assay_review_free);
  g_free (opened->folder);
  g_free (opened);
}

/* The latest review of this task and candidate; unreadable ones are left where they are. */
static void
find_review (const Open *open, const char *reviews, Opened *opened)
{
  g_autoptr (GDir) dir = g_dir_open (reviews, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *folder = g_build_filename (reviews, name, NULL);
      g_autoptr (GError) error = NULL;
      g_autoptr (AssayReview) review = assay_review_load (folder, &error);

      if (review == NULL || g_strcmp0 (review->task.id, assay_task_item_get_id (open->task)) != 0
          || g_strcmp0 (review->candidate, open->candidate) != 0
          || (opened->review != NULL && g_strcmp0 (opened->review->started, review->started) > 0))
        continue;
      g_clear_pointer (&opened->review, assay_review_free);
      g_free (opened->folder);
      opened->review = g_steal_pointer (&review);
      opened->folder = g_strdup (folder);
    }
}

static char *
task_hash (const AssayTask *task)
{
  g_autoptr (JsonNode) hashes = assay_task_hashes (task, NULL);
  g_autofree char *text = hashes != NULL ? assay_json_write (hashes) : NULL;

  return text != NULL ? g_compute_checksum_for_string (G_CHECKSUM_SHA256, text, -1) : NULL;
}

static void
open_thread (GTask *gtask, gpointer source, gpointer data, GCancellable *cancellable)
{
  Open *open = data;
  g_autofree char *reviews = g_build_filename (open->workspace, "reviews", NULL);
  const AssayTask *task = assay_task_item_get_task (open->task);
  Opened *opened = g_new0 (Opened, 1);

  find_review (open, reviews, opened);
  if (opened->review == NULL)
    {
      g_autofree char *hash = task_hash (task);

      opened->review =
          assay_review_start (open->rubric, task->id, hash, open->candidate,
                              ASSAY_TASK_CATEGORIES[task->category], g_get_real_name ());
      opened->folder = g_build_filename (reviews, opened->review->id, NULL);
    }
  g_task_return_pointer (gtask, opened, opened_free);
}

void
assay_draft_open_async (AssayTaskItem *task, const char *candidate, const char *workspace,
                        const AssayRubric *rubric, GCancellable *cancellable,
                        GAsyncReadyCallback callback, gpointer user_data)
{
  g_autoptr (GTask) gtask = g_task_new (NULL, cancellable, callback, user_data);
  Open *open = g_new0 (Open, 1);

  open->task = g_object_ref (task);
  open->candidate = g_strdup (candidate);
  open->workspace = g_strdup (workspace);
  open->rubric = rubric;
  g_task_set_source_tag (gtask, assay_draft_open_async);
  g_task_set_task_data (gtask, open, open_free);
  g_task_run_in_thread (gtask, open_thread);
}

/* --- saving ---------------------------------------------------------------------------------- */

typedef struct
{
  AssayReview *review;
  char *folder;
} Save;

static void
save_free (gpointer data)
{
  Save *save = data;

  assay_review_free (save->review);
  g_free (save->folder);
  g_free (save);
}

static void
save_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Save *save = data;
  g_autoptr (GError) error = NULL;

  if (assay_review_save (save->review, save->folder, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, g_steal_pointer (&error));
}

static void schedule (AssayDraft *self, guint seconds);

static void
note_saved (AssayDraft *self, const GError *error)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_local ();

  g_clear_pointer (&self->problem, g_free);
  if (error != NULL)
    {
      self->problem = g_strdup (error->message);
      self->dirty = TRUE;
    }
  else
    {
      g_free (self->saved_at);
      self->saved_at = g_date_time_format (now, "%H:%M:%S");
    }
  g_signal_emit (self, signals[SAVED], 0);
}

static void
save_done (GObject *source, GAsyncResult *result, gpointer data)
{
  AssayDraft *self = ASSAY_DRAFT (source);
  g_autoptr (GError) error = NULL;

  g_task_propagate_boolean (G_TASK (result), &error);
  self->saving = FALSE;
  note_saved (self, error);
  if (self->dirty)
    schedule (self, error != NULL ? RETRY_AFTER_S : SAVE_AFTER_S);
}

void
assay_draft_save (AssayDraft *self)
{
  g_autoptr (GTask) task = NULL;
  Save *save;

  g_return_if_fail (ASSAY_IS_DRAFT (self));
  g_clear_handle_id (&self->save_source, g_source_remove);
  if (!self->dirty || self->saving)
    return;
  self->dirty = FALSE;
  self->saving = TRUE;
  save = g_new0 (Save, 1);
  save->review = assay_review_copy (assay_review_editor_review (self->editor));
  save->folder = g_strdup (self->folder);
  task = g_task_new (self, NULL, save_done, NULL);
  g_task_set_source_tag (task, assay_draft_save);
  g_task_set_task_data (task, save, save_free);
  g_task_run_in_thread (task, save_thread);
}

gboolean
assay_draft_flush (AssayDraft *self, GError **error)
{
  g_autoptr (GError) local = NULL;

  g_return_val_if_fail (ASSAY_IS_DRAFT (self), FALSE);
  g_clear_handle_id (&self->save_source, g_source_remove);
  if (!self->dirty && !self->saving)
    return TRUE;
  self->dirty = FALSE;
  assay_review_save (assay_review_editor_review (self->editor), self->folder, &local);
  note_saved (self, local);
  if (local == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&local));
  return FALSE;
}

static gboolean
save_now (gpointer data)
{
  AssayDraft *self = data;

  self->save_source = 0;
  assay_draft_save (self);
  return G_SOURCE_REMOVE;
}

static void
schedule (AssayDraft *self, guint seconds)
{
  if (self->save_source == 0)
    self->save_source = g_timeout_add_seconds (seconds, save_now, self);
}

/* Time counts while the reviewer is at it: from one change to the next, if that is not long. */
static void
count_time (AssayDraft *self)
{
  gint64 now = g_get_monotonic_time ();
  gint64 passed = now - self->last_change;

  if (self->last_change > 0 && passed < 5 * 60 * G_USEC_PER_SEC)
    assay_review_editor_add_seconds (self->editor, (double) passed / G_USEC_PER_SEC);
  self->last_change = now;
}

static void
editor_changed (AssayDraft *self)
{
  count_time (self);
  g_clear_pointer (&self->missing, g_ptr_array_unref);
  self->dirty = TRUE;
  schedule (self, SAVE_AFTER_S);
  assay_task_item_set_state (self->task, assay_draft_is_submitted (self) ? ASSAY_REVIEW_SUBMITTED
                                                                         : ASSAY_REVIEW_DRAFT);
  g_signal_emit (self, signals[CHANGED], 0);
}

AssayDraft *
assay_draft_open_finish (GAsyncResult *result, GError **error)
{
  Open *open = g_task_get_task_data (G_TASK (result));
  Opened *opened = g_task_propagate_pointer (G_TASK (result), error);
  AssayDraft *self;

  if (opened == NULL)
    return NULL;
  self = g_object_new (ASSAY_TYPE_DRAFT, NULL);
  self->task = g_object_ref (open->task);
  self->folder = g_strdup (opened->folder);
  self->editor = assay_review_editor_new (g_steal_pointer (&opened->review), open->rubric);
  g_signal_connect_object (self->editor, "changed", G_CALLBACK (editor_changed), self,
                           G_CONNECT_SWAPPED);
  if (assay_draft_is_submitted (self))
    assay_task_item_set_state (self->task, ASSAY_REVIEW_SUBMITTED);
  else if (assay_draft_get_review (self)->history->len > 0)
    assay_task_item_set_state (self->task, ASSAY_REVIEW_DRAFT);
  opened_free (opened);
  return self;
}

/* --- reading --------------------------------------------------------------------------------- */

AssayReviewEditor *
assay_draft_get_editor (AssayDraft *self)
{
  return self->editor;
}

const AssayReview *
assay_draft_get_review (AssayDraft *self)
{
  return assay_review_editor_review (self->editor);
}

const AssayRubric *
assay_draft_get_rubric (AssayDraft *self)
{
  return assay_review_editor_rubric (self->editor);
}

const char *
assay_draft_get_folder (AssayDraft *self)
{
  return self->folder;
}

gboolean
assay_draft_is_submitted (AssayDraft *self)
{
  return assay_draft_get_review (self)->submitted != NULL;
}

GPtrArray *
assay_draft_get_missing (AssayDraft *self)
{
  g_return_val_if_fail (ASSAY_IS_DRAFT (self), NULL);
  if (self->missing == NULL)
    self->missing =
        assay_review_missing (assay_draft_get_review (self), assay_draft_get_rubric (self));
  return self->missing;
}

gboolean
assay_draft_criterion_complete (AssayDraft *self, const char *criterion)
{
  GPtrArray *missing = assay_draft_get_missing (self);

  for (guint i = 0; i < missing->len; i++)
    if (g_strcmp0 (((AssayMissing *) g_ptr_array_index (missing, i))->criterion, criterion) == 0)
      return FALSE;
  return TRUE;
}

void
assay_draft_count (AssayDraft *self, guint *complete, guint *total)
{
  const AssayReview *review = assay_draft_get_review (self);

  *total = review->scores->len;
  *complete = 0;
  for (guint i = 0; i < review->scores->len; i++)
    *complete += assay_draft_criterion_complete (
        self, ((AssayScore *) g_ptr_array_index (review->scores, i))->criterion);
}

gboolean
assay_draft_is_dirty (AssayDraft *self)
{
  return self->dirty || self->saving;
}

const char *
assay_draft_get_problem (AssayDraft *self)
{
  return self->problem;
}

const char *
assay_draft_get_saved_at (AssayDraft *self)
{
  return self->saved_at;
}

static void
assay_draft_finalize (GObject *object)
{
  AssayDraft *self = ASSAY_DRAFT (object);

  g_clear_handle_id (&self->save_source, g_source_remove);
  g_clear_pointer (&self->missing, g_ptr_array_unref);
  g_clear_object (&self->editor);
  g_clear_object (&self->task);
  g_free (self->folder);
  g_free (self->problem);
  g_free (self->saved_at);
  G_OBJECT_CLASS (assay_draft_parent_class)->finalize (object);
}

static void
assay_draft_class_init (AssayDraftClass *class)
{
  GType type = G_TYPE_FROM_CLASS (class);

  G_OBJECT_CLASS (class)->finalize = assay_draft_finalize;
  signals[CHANGED] =
      g_signal_new ("changed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[SAVED] =
      g_signal_new ("saved", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
assay_draft_init (AssayDraft *self)
{
}
