/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/run-model.h"

#include "engine/base/error.h"

#define LONGEST_LOG (256 * 1024)

struct _AssayRunModel
{
  GObject parent;
  char *id, *folder;
  AssayRun *run;
  GListStore *findings;       /* AssayFindingItem */
  GPtrArray *retired;         /* AssayRun *: replaced, perhaps still read by a thread or a list */
  GPtrArray *retired_records; /* Retired * */
  int statuses[ASSAY_N_STAGES];
  int current;
  double fraction;
  char *text;
  GString *log;
  gint64 last_event;
  gboolean running, lost;
};

typedef struct
{
  const AssayJsonTable *table;
  gpointer record;
} Retired;

enum
{
  CHANGED,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (AssayRunModel, assay_run_model, G_TYPE_OBJECT)

static void
retired_free (gpointer data)
{
  Retired *retired = data;

  assay_json_table_free (retired->table, retired->record);
  g_free (retired);
}

static void
retire (AssayRunModel *self, const AssayJsonTable *table, gpointer record)
{
  Retired *retired;

  if (record == NULL)
    return;
  retired = g_new (Retired, 1);
  *retired = (Retired) {table, record};
  g_ptr_array_add (self->retired_records, retired);
}

static void
emit (AssayRunModel *self, AssayRunChange what)
{
  g_signal_emit (self, signals[CHANGED], 0, (guint) what);
}

AssayRunModel *
assay_run_model_new (const char *id, const char *folder)
{
  AssayRunModel *self = g_object_new (ASSAY_TYPE_RUN_MODEL, NULL);

  self->id = g_strdup (id);
  self->folder = g_strdup (folder);
  self->run = assay_run_new ();
  self->run->id = g_strdup (id);
  return self;
}

/* --- findings -------------------------------------------------------------------------------- */

static void
rebuild_findings (AssayRunModel *self)
{
  g_autoptr (GPtrArray) sorted = g_ptr_array_new ();
  g_autoptr (GPtrArray) items = g_ptr_array_new_with_free_func (g_object_unref);

  for (guint i = 0; i < self->run->findings->len; i++)
    g_ptr_array_add (sorted, g_ptr_array_index (self->run->findings, i));
  g_ptr_array_sort (sorted, assay_finding_compare);
  for (guint i = 0; i < sorted->len; i++)
    g_ptr_array_add (items, assay_finding_item_new (g_ptr_array_index (sorted, i)));
  g_list_store_splice (self->findings, 0, g_list_model_get_n_items (G_LIST_MODEL (self->findings)),
                       items->pdata, items->len);
}

static int
compare_items (gconstpointer a, gconstpointer b, gpointer data)
{
  const AssayFinding *left = assay_finding_item_get ((AssayFindingItem *) a);
  const AssayFinding *right = assay_finding_item_get ((AssayFindingItem *) b);

  return assay_finding_compare (&left, &right);
}

static AssayRunChange
add_finding (AssayRunModel *self, AssayRunEvent *event)
{
  AssayFinding *finding = g_steal_pointer (&event->record);
  g_autoptr (AssayFindingItem) item = NULL;

  for (guint i = 0; i < self->run->findings->len; i++)
    {
      AssayFinding *known = g_ptr_array_index (self->run->findings, i);

      if (known->id == NULL || g_strcmp0 (known->id, finding->id) != 0)
        continue;
      /* Seen again, with a higher count or more evidence. */
      retire (self, &ASSAY_FINDING_TABLE, known);
      self->run->findings->pdata[i] = finding;
      rebuild_findings (self);
      return ASSAY_RUN_CHANGED_FINDINGS;
    }
  g_ptr_array_add (self->run->findings, finding);
  item = assay_finding_item_new (finding);
  g_list_store_insert_sorted (self->findings, item, compare_items, NULL);
  return ASSAY_RUN_CHANGED_FINDINGS;
}

/* --- events ---------------------------------------------------------------------------------- */

static AssayRunChange
apply_stage (AssayRunModel *self, AssayRunEvent *event)
{
  if (event->stage < 0)
    return 0;
  self->statuses[event->stage] = event->status;
  if (event->status == ASSAY_STATUS_RUNNING)
    {
      self->current = event->stage;
      self->fraction = event->fraction;
      g_free (self->text);
      self->text = g_strdup (event->text);
    }
  else
    {
      AssayStage *stage = assay_json_table_new (&ASSAY_STAGE_TABLE);

      stage->name = g_strdup (ASSAY_STAGES[event->stage]);
      stage->status = event->status;
      stage->reason = g_strdup (event->reason);
      g_ptr_array_add (self->run->stages, stage);
      if (self->current == event->stage)
        self->current = -1;
    }
  return ASSAY_RUN_CHANGED_STAGES;
}

static AssayRunChange
apply_workload (AssayRunModel *self, AssayRunEvent *event)
{
  AssayWorkloadRecord *record = g_steal_pointer (&event->record);

  for (guint i = 0; i < self->run->workloads->len; i++)
    {
      AssayWorkloadRecord *known = g_ptr_array_index (self->run->workloads, i);

      if (g_strcmp0 (known->name, record->name) != 0)
        continue;
      retire (self, &ASSAY_WORKLOAD_RECORD_TABLE, known);
      self->run->workloads->pdata[i] = record;
      return ASSAY_RUN_CHANGED_WORKLOADS;
    }
  g_ptr_array_add (self->run->workloads, record);
  return ASSAY_RUN_CHANGED_WORKLOADS;
}

static AssayRunChange
apply_compile (AssayRunModel *self, AssayRunEvent *event)
{
  AssayCompile *record = g_steal_pointer (&event->record);

  for (guint i = 0; i < self->run->compile->len; i++)
    {
      AssayCompile *known = g_ptr_array_index (self->run->compile, i);

      if (g_strcmp0 (known->target, record->target) != 0)
        continue;
      retire (self, &ASSAY_COMPILE_TABLE, known);
      self->run->compile->pdata[i] = record;
      return ASSAY_RUN_CHANGED_COMPILE;
    }
  g_ptr_array_add (self->run->compile, record);
  return ASSAY_RUN_CHANGED_COMPILE;
}

static AssayRunChange
apply_audit (AssayRunModel *self, AssayRunEvent *event)
{
  retire (self, &ASSAY_AUDIT_TABLE, self->run->audit);
  self->run->audit = g_steal_pointer (&event->record);
  return ASSAY_RUN_CHANGED_AUDIT;
}

static AssayRunChange
apply_timing (AssayRunModel *self, AssayRunEvent *event)
{
  if (self->run->benchmark == NULL)
    self->run->benchmark = assay_timing_summary_new ();
  g_ptr_array_add (self->run->benchmark->timings, g_steal_pointer (&event->record));
  return ASSAY_RUN_CHANGED_TIMES;
}

static AssayRunChange
apply_log (AssayRunModel *self, AssayRunEvent *event)
{
  if (event->text == NULL)
    return 0;
  if (self->log->len > LONGEST_LOG)
    g_string_erase (self->log, 0, LONGEST_LOG / 2);
  g_string_append (self->log, event->text);
  if (!g_str_has_suffix (event->text, "\n"))
    g_string_append_c (self->log, '\n');
  return ASSAY_RUN_CHANGED_LOG;
}

static AssayRunChange
apply_finished (AssayRunModel *self, AssayRunEvent *event)
{
  self->running = FALSE;
  self->current = -1;
  self->run->state = event->status;
  if (event->folder != NULL)
    {
      g_free (self->folder);
      self->folder = g_strdup (event->folder);
    }
  for (int i = 0; i < ASSAY_N_STAGES; i++)
    if (self->statuses[i] == ASSAY_STATUS_RUNNING)
      self->statuses[i] = event->status;
  return ASSAY_RUN_CHANGED_STATE | ASSAY_RUN_CHANGED_STAGES;
}

static AssayRunChange
ignore (AssayRunModel *self, AssayRunEvent *event)
{
  return 0;
}

static AssayRunChange (*const appliers[]) (AssayRunModel *, AssayRunEvent *) = {
    [ASSAY_EVENT_STAGE] = apply_stage,       [ASSAY_EVENT_LOG] = apply_log,
    [ASSAY_EVENT_WORKLOAD] = apply_workload, [ASSAY_EVENT_FINDING] = add_finding,
    [ASSAY_EVENT_AUDIT] = apply_audit,       [ASSAY_EVENT_COMPILE] = apply_compile,
    [ASSAY_EVENT_TIMING] = apply_timing,     [ASSAY_EVENT_FINISHED] = apply_finished,
    [ASSAY_EVENT_HEARTBEAT] = ignore,        [ASSAY_EVENT_UNKNOWN] = ignore,
};

void
assay_run_model_apply (AssayRunModel *self, AssayRunEvent *event)
{
  AssayRunChange what;

  g_return_if_fail (ASSAY_IS_RUN_MODEL (self));
  /* A resumed stream may repeat what we have. Heartbeats are not numbered apart. */
  if (event->n > 0 && event->n <= self->last_event && event->type != ASSAY_EVENT_HEARTBEAT)
    return;
  self->last_event = MAX (self->last_event, event->n);
  if (!self->running && event->type != ASSAY_EVENT_FINISHED)
    {
      self->running = TRUE;
      self->lost = FALSE;
      self->run->state = ASSAY_STATUS_RUNNING;
    }
  what = appliers[event->type](self, event);
  if (what != 0)
    emit (self, what);
}

void
assay_run_model_mark_lost (AssayRunModel *self, const char *reason)
{
  g_return_if_fail (ASSAY_IS_RUN_MODEL (self));
  self->running = FALSE;
  self->lost = TRUE;
  self->run->state = ASSAY_STATUS_ERROR;
  for (int i = 0; i < ASSAY_N_STAGES; i++)
    if (self->statuses[i] == ASSAY_STATUS_RUNNING)
      {
        AssayStage *stage = assay_json_table_new (&ASSAY_STAGE_TABLE);

        stage->name = g_strdup (ASSAY_STAGES[i]);
        stage->status = self->statuses[i] = ASSAY_STATUS_ERROR;
        stage->reason = g_strdup (reason);
        g_ptr_array_add (self->run->stages, stage);
      }
  self->current = -1;
  emit (self, ASSAY_RUN_CHANGED_STATE | ASSAY_RUN_CHANGED_STAGES);
}

void
assay_run_model_take (AssayRunModel *self, AssayRun *run)
{
  g_return_if_fail (ASSAY_IS_RUN_MODEL (self) && run != NULL);
  if (self->run != NULL)
    g_ptr_array_add (self->retired, self->run);
  self->run = run;
  if (run->id != NULL)
    {
      g_free (self->id);
      self->id = g_strdup (run->id);
    }
  self->running = run->state == ASSAY_STATUS_RUNNING && self->running;
  for (guint i = 0; i < run->stages->len; i++)
    {
      const AssayStage *stage = g_ptr_array_index (run->stages, i);
      int kind = assay_word_index (ASSAY_STAGES, stage->name, -1);

      if (kind >= 0)
        self->statuses[kind] = stage->status;
    }
  rebuild_findings (self);
  emit (self, ASSAY_RUN_CHANGED_ALL);
}

/* --- reading --------------------------------------------------------------------------------- */

const char *
assay_run_model_get_id (AssayRunModel *self)
{
  return self->id;
}

const char *
assay_run_model_get_folder (AssayRunModel *self)
{
  return self->folder;
}

const AssayRun *
assay_run_model_get (AssayRunModel *self)
{
  return self->run;
}

GListModel *
assay_run_model_get_findings (AssayRunModel *self)
{
  return G_LIST_MODEL (self->findings);
}

void
assay_run_model_count (AssayRunModel *self, guint *counts)
{
  memset (counts, 0, 4 * sizeof *counts);
  for (guint i = 0; i < self->run->findings->len; i++)
    {
      const AssayFinding *finding = g_ptr_array_index (self->run->findings, i);

      counts[CLAMP (finding->severity, 0, 3)]++;
    }
}

gboolean
assay_run_model_is_running (AssayRunModel *self)
{
  return self->running;
}

gboolean
assay_run_model_is_lost (AssayRunModel *self)
{
  return self->lost;
}

void
assay_run_model_get_stages (AssayRunModel *self, int *statuses)
{
  memcpy (statuses, self->statuses, sizeof self->statuses);
}

int
assay_run_model_get_current (AssayRunModel *self, double *fraction, const char **text)
{
  *fraction = self->fraction;
  *text = self->text;
  return self->current;
}

const char *
assay_run_model_get_log (AssayRunModel *self)
{
  return self->log->str;
}

gint64
assay_run_model_get_last_event (AssayRunModel *self)
{
  return self->last_event;
}

const AssayWorkloadRecord *
assay_run_model_find_workload (AssayRunModel *self, const char *name)
{
  for (guint i = 0; i < self->run->workloads->len; i++)
    {
      const AssayWorkloadRecord *record = g_ptr_array_index (self->run->workloads, i);

      if (g_strcmp0 (record->name, name) == 0)
        return record;
    }
  return NULL;
}

static GPtrArray *
shallow (GPtrArray *list)
{
  GPtrArray *copy = g_ptr_array_sized_new (list->len);

  for (guint i = 0; i < list->len; i++)
    g_ptr_array_add (copy, g_ptr_array_index (list, i));
  return copy;
}

AssayRunSnapshot *
assay_run_model_snapshot (AssayRunModel *self)
{
  AssayRunSnapshot *snapshot = g_new (AssayRunSnapshot, 1);

  snapshot->run = *self->run;
  snapshot->run.stages = shallow (self->run->stages);
  snapshot->run.compile = shallow (self->run->compile);
  snapshot->run.workloads = shallow (self->run->workloads);
  snapshot->run.findings = shallow (self->run->findings);
  snapshot->run.skipped_rules = shallow (self->run->skipped_rules);
  snapshot->model = g_object_ref (self);
  return snapshot;
}

void
assay_run_snapshot_free (AssayRunSnapshot *snapshot)
{
  g_ptr_array_unref (snapshot->run.stages);
  g_ptr_array_unref (snapshot->run.compile);
  g_ptr_array_unref (snapshot->run.workloads);
  g_ptr_array_unref (snapshot->run.findings);
  g_ptr_array_unref (snapshot->run.skipped_rules);
  g_object_unref (snapshot->model);
  g_free (snapshot);
}

static void
load_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  g_autoptr (GError) error = NULL;
  AssayRun *run = assay_run_load (data, &error);

  if (run == NULL)
    g_task_return_error (task, g_steal_pointer (&error));
  else
    g_task_return_pointer (task, run, (GDestroyNotify) assay_run_free);
}

void
assay_run_model_load_async (const char *folder, GCancellable *cancellable,
                            GAsyncReadyCallback callback, gpointer user_data)
{
  g_autoptr (GTask) task = g_task_new (NULL, cancellable, callback, user_data);

  g_task_set_source_tag (task, assay_run_model_load_async);
  g_task_set_task_data (task, g_strdup (folder), g_free);
  g_task_run_in_thread (task, load_thread);
}

AssayRunModel *
assay_run_model_load_finish (GAsyncResult *result, GError **error)
{
  AssayRun *run = g_task_propagate_pointer (G_TASK (result), error);
  AssayRunModel *self;

  if (run == NULL)
    return NULL;
  self = assay_run_model_new (run->id, g_task_get_task_data (G_TASK (result)));
  assay_run_model_take (self, run);
  return self;
}

static void
reloaded (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;
  AssayRun *run = g_task_propagate_pointer (G_TASK (result), &error);

  if (run != NULL)
    assay_run_model_take (ASSAY_RUN_MODEL (source), run);
  else
    g_message ("run stays as streamed: %s", error->message);
}

void
assay_run_model_reload (AssayRunModel *self)
{
  g_autoptr (GTask) task = NULL;

  g_return_if_fail (ASSAY_IS_RUN_MODEL (self));
  task = g_task_new (self, NULL, reloaded, NULL);
  g_task_set_source_tag (task, assay_run_model_reload);
  g_task_set_task_data (task, g_strdup (self->folder), g_free);
  g_task_run_in_thread (task, load_thread);
}

static void
assay_run_model_finalize (GObject *object)
{
  AssayRunModel *self = ASSAY_RUN_MODEL (object);

  g_clear_object (&self->findings);
  g_clear_pointer (&self->run, assay_run_free);
  g_ptr_array_unref (self->retired);
  g_ptr_array_unref (self->retired_records);
  g_string_free (self->log, TRUE);
  g_free (self->id);
  g_free (self->folder);
  g_free (self->text);
  G_OBJECT_CLASS (assay_run_model_parent_class)->finalize (object);
}

static void
assay_run_model_class_init (AssayRunModelClass *class)
{
  G_OBJECT_CLASS (class)->finalize = assay_run_model_finalize;
  signals[CHANGED] = g_signal_new ("changed", G_TYPE_FROM_CLASS (class), G_SIGNAL_RUN_LAST, 0, NULL,
                                   NULL, NULL, G_TYPE_NONE, 1, G_TYPE_UINT);
}

static void
assay_run_model_init (AssayRunModel *self)
{
  self->findings = g_list_store_new (ASSAY_TYPE_FINDING_ITEM);
  self->retired = g_ptr_array_new_with_free_func ((GDestroyNotify) assay_run_free);
  self->retired_records = g_ptr_array_new_with_free_func (retired_free);
  self->log = g_string_new (NULL);
  self->current = -1;
}
