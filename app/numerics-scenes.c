/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/numerics-scenes.h"

#include "app/worst-inspector.h"

#include <math.h>

#define MOST_WORST 20 /* rows; a list makes the widgets of all of them at once */

const char *const ASSAY_WORST_COLUMNS[] = {"index",      "candidate", "bits", "gold",
                                           "rel. error", "ulp",       NULL};

typedef struct
{
  AssayRunSnapshot *snapshot;
  const AssayWorkloadRecord *workload;
  const AssayOutput *output;
} Job;

static void
job_free (gpointer data)
{
  Job *job = data;

  assay_run_snapshot_free (job->snapshot);
  g_free (job);
}

void
assay_numerics_scenes_free (AssayNumericsScenes *scenes)
{
  for (int i = 0; i < ASSAY_N_FIGURES; i++)
    g_clear_pointer (&scenes->scenes[i], assay_plot_scene_unref);
  g_clear_pointer (&scenes->worst, g_ptr_array_unref);
  g_clear_pointer (&scenes->worst_bits, g_ptr_array_unref);
  g_clear_pointer (&scenes->worst_indices, g_array_unref);
  assay_verdicts_clear (scenes->verdicts);
  g_free (scenes->gold);
  g_free (scenes);
}

static GStrv
worst_row (const AssayOutput *output, const AssayWorst *worst)
{
  char **row = g_new0 (char *, 7);
  int digits = g_strcmp0 (output->dtype, "float64") == 0   ? 16
               : g_strcmp0 (output->dtype, "float32") == 0 ? 8
                                                           : 4;

  row[0] = assay_format_index (output->shape, worst->index);
  row[1] = g_strdup_printf ("%.6g", worst->candidate);
  row[2] = g_strdup_printf ("%0*" G_GINT64_MODIFIER "x", digits, worst->candidate_bits);
  row[3] = g_strdup_printf ("%.6g", worst->gold);
  row[4] = assay_format_number (worst->rel, 2);
  row[5] = fabs (worst->ulp_real) < 1e5 ? g_strdup_printf ("%+.2f", worst->ulp_real)
                                        : assay_format_number (worst->ulp_real, 3);
  return row;
}

static void
scenes_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Job *job = data;
  g_autoptr (AssayNumericsScenes) scenes = g_new0 (AssayNumericsScenes, 1);
  const AssayComparison *comparison = job->output->comparison;

  scenes->worst = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  scenes->worst_bits = g_ptr_array_new_with_free_func (g_free);
  scenes->worst_indices = g_array_new (FALSE, FALSE, sizeof (gint64));
  for (int i = 0; i < ASSAY_N_FIGURES; i++)
    scenes->scenes[i] = assay_figure_new (i, &job->snapshot->run, job->workload, job->output);
  if (comparison != NULL)
    {
      assay_verdicts (&job->snapshot->run, job->workload, job->output, scenes->verdicts);
      scenes->judged = TRUE;
      for (guint i = 0; i < comparison->worst->len && i < MOST_WORST; i++)
        {
          const AssayWorst *worst = g_ptr_array_index (comparison->worst, i);

          g_ptr_array_add (scenes->worst, worst_row (job->output, worst));
          g_ptr_array_add (scenes->worst_bits, assay_worst_markup (job->output, worst));
          g_array_append_val (scenes->worst_indices, worst->index);
        }
    }
  scenes->contradicted = assay_output_is_contradicted (job->output);
  if (job->output->gold != NULL)
    scenes->gold = g_strdup_printf ("gold: %s%s%s", job->output->gold->method,
                                    job->output->gold->stable ? "" : " (not stable)",
                                    scenes->contradicted ? ", contradicted" : "");
  g_task_return_pointer (task, g_steal_pointer (&scenes),
                         (GDestroyNotify) assay_numerics_scenes_free);
}

void
assay_numerics_scenes_async (AssayRunModel *run, const char *workload, const char *output,
                             GCancellable *cancellable, GAsyncReadyCallback callback,
                             gpointer user_data)
{
  g_autoptr (GTask) task = g_task_new (NULL, cancellable, callback, user_data);
  const AssayRun *record = assay_run_model_get (run);
  Job *job = g_new0 (Job, 1);

  job->snapshot = assay_run_model_snapshot (run);
  job->workload = assay_run_find_workload (record, workload);
  job->output = job->workload != NULL ? assay_workload_find_output (job->workload, output) : NULL;
  g_task_set_source_tag (task, assay_numerics_scenes_async);
  g_task_set_task_data (task, job, job_free);
  if (job->output == NULL)
    {
      g_task_return_pointer (task, NULL, NULL);
      return;
    }
  g_task_run_in_thread (task, scenes_thread);
}

AssayNumericsScenes *
assay_numerics_scenes_finish (GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}
