/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/pipeline.h"

#include "engine/base/error.h"

typedef struct
{
  AssayPipeline *pipeline;
  AssayCase *c;
  char *reason;
} ReferenceJob;

static gpointer
run_reference (gpointer data)
{
  ReferenceJob *job = data;
  return GINT_TO_POINTER (assay_reference_run (job->pipeline, job->c, &job->reason));
}

static AssayMemory *
share (const char *name, const AssayArray *array, GError **error)
{
  return assay_memory_new_from_data (name, array->data, array->bytes, error);
}

gboolean
assay_case_generate (AssayPipeline *p, AssayCase *c, GError **error)
{
  for (guint i = 0; i < c->plan->inputs->len; i++)
    {
      const AssayPlannedArray *planned = g_ptr_array_index (c->plan->inputs, i);
      const char *name = planned->array->name;
      AssayInput *input = NULL;
      AssayMemory *storage = NULL, *values = NULL;
      if (planned->generator)
        {
          input = assay_generate (c->plan, planned, p->cancellable, error);
          if (!input)
            return FALSE;
          g_ptr_array_add (c->inputs, input);
        }
      else
        g_ptr_array_add (c->inputs, NULL);
      if (input && !planned->scalar)
        {
          values = share (name, input->values, error);
          storage = values && input->storage != input->values ? share (name, input->storage, error)
                    : values                                  ? assay_memory_ref (values)
                                                              : NULL;
        }
      g_ptr_array_add (c->values, values);
      g_ptr_array_add (c->memories, storage);
      if (input && !planned->scalar && !storage)
        return FALSE;
    }
  return TRUE;
}

static void
finish_case (AssayPipeline *p, AssayCase *c, AssayWorkloadStatus status, const char *reason)
{
  c->record->status = status;
  g_free (c->record->reason);
  c->record->reason = g_strdup (reason);
  assay_case_compare (p, c);
}

static const char *
compile_reason (const AssayPipeline *p)
{
  const AssayStage *stage = g_ptr_array_index (p->run->stages, ASSAY_STAGE_COMPILE);
  return stage->reason ? stage->reason : "the candidate does not compile";
}

static void
run_case (AssayPipeline *p, AssayCase *c)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *reason = NULL;
  ReferenceJob job = {p, c, NULL};
  AssayWorkloadStatus status = ASSAY_WORKLOAD_PASSED;
  AssayLaunchOptions options = {.checks = "sync,counts", .keep_launches = TRUE};
  if (!assay_candidate_fits (p, c, &error))
    {
      AssayFailure *failure =
          assay_pipeline_fail (p, c->workload->name, "candidate", NULL, error->message);
      g_free (failure->name);
      failure->name = g_strdup ("CUDA_ERROR_OUT_OF_MEMORY");
      finish_case (p, c, ASSAY_WORKLOAD_INCONCLUSIVE, error->message);
      return;
    }
  if (!assay_case_generate (p, c, &error))
    {
      assay_pipeline_fail (p, c->workload->name, "generate", NULL, error->message);
      finish_case (p, c, ASSAY_WORKLOAD_INVALID_REFERENCE, error->message);
      return;
    }
  GThread *thread = g_thread_new ("reference", run_reference, &job);
  g_autoptr (GPtrArray) results = NULL;
  if (p->ptx)
    results = assay_candidate_run (p, c, &options, &status, &reason);
  gboolean referenced = GPOINTER_TO_INT (g_thread_join (thread));
  g_autofree char *reference_reason = job.reason;
  for (guint i = 0; results && i < results->len; i++)
    g_ptr_array_add (c->results, assay_array_ref (g_ptr_array_index (results, i)));
  if (assay_pipeline_cancelled (p))
    finish_case (p, c, ASSAY_WORKLOAD_SKIPPED, "cancelled");
  else if (!p->ptx && !p->toolkit)
    finish_case (p, c, ASSAY_WORKLOAD_INCONCLUSIVE, p->toolkit_reason);
  else if (!p->ptx)
    finish_case (p, c, ASSAY_WORKLOAD_COMPILE_ERROR, compile_reason (p));
  else if (!referenced)
    finish_case (
        p, c, p->reference_absent ? ASSAY_WORKLOAD_INCONCLUSIVE : ASSAY_WORKLOAD_INVALID_REFERENCE,
        reference_reason);
  else
    finish_case (p, c, status, reason);
}

/* How a workload's end counts for the stage that launched it. */
static gboolean
ran (int status)
{
  return status == ASSAY_WORKLOAD_PASSED || status == ASSAY_WORKLOAD_INCORRECT_NUMERICAL
         || status == ASSAY_WORKLOAD_INCORRECT_SHAPE || status == ASSAY_WORKLOAD_INCORRECT_DTYPE;
}

AssayStatus
assay_stage_run (AssayPipeline *p, char **reason)
{
  guint good = 0;
  for (guint i = 0; i < p->cases->len && !assay_pipeline_cancelled (p); i++)
    {
      AssayCase *c = g_ptr_array_index (p->cases, i);
      assay_pipeline_progress (p, (double) i / p->cases->len, "workload %s", c->workload->name);
      run_case (p, c);
      if (ran (c->record->status))
        good++;
    }
  if (!p->ptx)
    {
      *reason = g_strdup (p->toolkit ? "nothing was compiled" : p->toolkit_reason);
      return ASSAY_STATUS_SKIPPED;
    }
  if (good == p->cases->len)
    return ASSAY_STATUS_PASSED;
  *reason = g_strdup_printf ("%u of %u workloads did not run to their end", p->cases->len - good,
                             p->cases->len);
  return ASSAY_STATUS_FAILED;
}
