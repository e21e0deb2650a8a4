/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/context.h"

struct _AssayContext
{
  GObject parent;
  AssayTaskItem *task;
  char *candidate;
  AssayRunModel *run;
  GSignalGroup *task_signals;
  GSignalGroup *run_signals;
  AssayDraft *draft;
  GSignalGroup *draft_signals;
};

enum
{
  TASK_CHANGED,
  CANDIDATE_CHANGED,
  RUN_CHANGED,
  DRAFT_CHANGED,
  DRAFT_SAVED,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (AssayContext, assay_context, G_TYPE_OBJECT)

AssayContext *
assay_context_new (void)
{
  return g_object_new (ASSAY_TYPE_CONTEXT, NULL);
}

/* A review that has begun lists the finished run it looks at: reports take their figures from it. */
static void
list_run_in_review (AssayContext *self)
{
  const AssayRun *run = self->run != NULL ? assay_run_model_get (self->run) : NULL;
  const AssayReview *review = self->draft != NULL ? assay_draft_get_review (self->draft) : NULL;

  if (run == NULL || review == NULL || run->id == NULL || review->history->len == 0
      || assay_draft_is_submitted (self->draft))
    return;
  if ((run->state == ASSAY_STATUS_PASSED || run->state == ASSAY_STATUS_FAILED)
      && g_strcmp0 (review->candidate, self->candidate) == 0)
    assay_review_editor_add_run (assay_draft_get_editor (self->draft), run->id);
}

static void
run_changed (AssayContext *self, guint what)
{
  if (what & ASSAY_RUN_CHANGED_STATE)
    list_run_in_review (self);
  g_signal_emit (self, signals[RUN_CHANGED], 0, what);
}

static void
follow_run (AssayContext *self)
{
  AssayRunModel *run = NULL;

  if (self->task != NULL)
    run = assay_task_item_get_run (self->task, self->candidate);
  if (!g_set_object (&self->run, run))
    return;
  g_signal_group_set_target (self->run_signals, run);
  g_signal_emit (self, signals[RUN_CHANGED], 0, (guint) ASSAY_RUN_CHANGED_ALL);
}

static void
choose_first_candidate (AssayContext *self)
{
  const AssayTask *task = assay_context_get_task (self);

  if (self->candidate == NULL && task != NULL && task->candidates->len > 0)
    {
      const AssayCandidate *first = g_ptr_array_index (task->candidates, 0);

      self->candidate = g_strdup (first->name);
    }
}

static void
task_loaded (AssayContext *self)
{
  choose_first_candidate (self);
  g_signal_emit (self, signals[TASK_CHANGED], 0);
  g_signal_emit (self, signals[CANDIDATE_CHANGED], 0);
  follow_run (self);
}

void
assay_context_set_task (AssayContext *self, AssayTaskItem *task)
{
  g_return_if_fail (ASSAY_IS_CONTEXT (self));
  if (!g_set_object (&self->task, task))
    return;
  g_clear_pointer (&self->candidate, g_free);
  g_signal_group_set_target (self->task_signals, task);
  task_loaded (self);
}

AssayTaskItem *
assay_context_get_task_item (AssayContext *self)
{
  return self->task;
}

const AssayTask *
assay_context_get_task (AssayContext *self)
{
  return self->task != NULL ? assay_task_item_get_task (self->task) : NULL;
}

void
assay_context_set_candidate (AssayContext *self, const char *candidate)
{
  g_return_if_fail (ASSAY_IS_CONTEXT (self));
  if (candidate == NULL || g_strcmp0 (self->candidate, candidate) == 0)
    return;
  g_free (self->candidate);
  self->candidate = g_strdup (candidate);
  g_signal_emit (self, signals[CANDIDATE_CHANGED], 0);
  follow_run (self);
}

const char *
assay_context_get_candidate (AssayContext *self)
{
  return self->candidate;
}

AssayRunModel *
assay_context_get_run (AssayContext *self)
{
  return self->run;
}

static void
draft_changed (AssayContext *self)
{
  list_run_in_review (self);
  g_signal_emit (self, signals[DRAFT_CHANGED], 0);
}

static void
draft_saved (AssayContext *self)
{
  g_signal_emit (self, signals[DRAFT_SAVED], 0);
}

void
assay_context_set_draft (AssayContext *self, AssayDraft *draft)
{
  g_return_if_fail (ASSAY_IS_CONTEXT (self));
  if (!g_set_object (&self->draft, draft))
    return;
  g_signal_group_set_target (self->draft_signals, draft);
  draft_changed (self);
}

AssayDraft *
assay_context_get_draft (AssayContext *self)
{
  return self->draft;
}

GPtrArray *
assay_context_get_findings (AssayContext *self)
{
  GPtrArray *findings = g_ptr_array_new_with_free_func ((GDestroyNotify) assay_finding_free);
  const AssayRun *run = self->run != NULL ? assay_run_model_get (self->run) : NULL;

  for (guint i = 0; run != NULL && i < run->findings->len; i++)
    g_ptr_array_add (findings, assay_finding_copy (g_ptr_array_index (run->findings, i)));
  if (self->draft != NULL)
    assay_review_judge_findings (assay_draft_get_review (self->draft), findings);
  return findings;
}

static void
assay_context_finalize (GObject *object)
{
  AssayContext *self = ASSAY_CONTEXT (object);

  g_clear_object (&self->task_signals);
  g_clear_object (&self->run_signals);
  g_clear_object (&self->draft_signals);
  g_clear_object (&self->draft);
  g_clear_object (&self->task);
  g_clear_object (&self->run);
  g_free (self->candidate);
  G_OBJECT_CLASS (assay_context_parent_class)->finalize (object);
}

static void
assay_context_class_init (AssayContextClass *class)
{
  GType type = G_TYPE_FROM_CLASS (class);

  G_OBJECT_CLASS (class)->finalize = assay_context_finalize;
  signals[TASK_CHANGED] =
      g_signal_new ("task-changed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[CANDIDATE_CHANGED] = g_signal_new ("candidate-changed", type, G_SIGNAL_RUN_LAST, 0, NULL,
                                             NULL, NULL, G_TYPE_NONE, 0);
  signals[RUN_CHANGED] = g_signal_new ("run-changed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                       G_TYPE_NONE, 1, G_TYPE_UINT);
  signals[DRAFT_CHANGED] =
      g_signal_new ("draft-changed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[DRAFT_SAVED] =
      g_signal_new ("draft-saved", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
assay_context_init (AssayContext *self)
{
  self->task_signals = g_signal_group_new (ASSAY_TYPE_TASK_ITEM);
  g_signal_group_connect_swapped (self->task_signals, "notify::loaded", G_CALLBACK (task_loaded),
                                  self);
  g_signal_group_connect_swapped (self->task_signals, "run-replaced", G_CALLBACK (follow_run),
                                  self);
  self->run_signals = g_signal_group_new (ASSAY_TYPE_RUN_MODEL);
  g_signal_group_connect_swapped (self->run_signals, "changed", G_CALLBACK (run_changed), self);
  self->draft_signals = g_signal_group_new (ASSAY_TYPE_DRAFT);
  g_signal_group_connect_swapped (self->draft_signals, "changed", G_CALLBACK (draft_changed), self);
  g_signal_group_connect_swapped (self->draft_signals, "saved", G_CALLBACK (draft_saved), self);
}
