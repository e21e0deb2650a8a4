/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/ui/recorded.h"

#include "engine/numerics/probes.h"

#include <math.h>

#define STRIDE 256 /* threads of the modelled kernel */

typedef struct
{
  const char *name;
  gint64 rows, columns;
  double low, high;
} Workload;

static const Workload workloads[] = {
    {"small", 8, 512, 0.0, 1.0},
    {"vocab", 32, 8200, -8.0, 0.0},
};

static double
draw (guint64 *state)
{
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double) (*state >> 11) / 9007199254740992.0;
}

/* exp2 of a product rounded to float: what -use_fast_math compiles expf to, up to its last ulps. */
static float
fast_exp (float x)
{
  return exp2f (x * 1.44269504f);
}

static void
softmax_row (const float *x, gint64 n, gboolean fast, float *y, double *gold, float *reference)
{
  float largest = x[0], partial[STRIDE] = {0}, sum = 0, plain = 0;
  double exact = 0;

  for (gint64 c = 1; c < n; c++)
    largest = fmaxf (largest, x[c]);
  for (gint64 c = 0; c < n; c++)
    {
      exact += exp ((double) x[c] - largest);
      plain += expf (x[c] - largest);
      if (fast)
        partial[c % STRIDE] += fast_exp (x[c] - largest);
      else
        sum += expf (x[c] - largest);
    }
  for (int step = STRIDE / 2; fast && step > 0; step /= 2)
    for (int t = 0; t < step; t++)
      partial[t] += partial[t + step];
  if (fast)
    sum = partial[0];
  for (gint64 c = 0; c < n; c++)
    {
      gold[c] = exp ((double) x[c] - largest) / exact;
      reference[c] = expf (x[c] - largest) / plain;
      y[c] = fast ? fast_exp (x[c] - largest) * (1.0f / sum) : expf (x[c] - largest) / sum;
    }
}

typedef struct
{
  AssayArray *x, *y, *reference;
  double *gold;
} Data;

static void
compute (const Workload *workload, gboolean fast, Data *data)
{
  gint64 shape[] = {workload->rows, workload->columns};
  guint64 state = 11;

  data->x = assay_array_new (ASSAY_DTYPE_FLOAT32, shape, 2, NULL);
  data->y = assay_array_new (ASSAY_DTYPE_FLOAT32, shape, 2, NULL);
  data->reference = assay_array_new (ASSAY_DTYPE_FLOAT32, shape, 2, NULL);
  data->gold = g_new0 (double, data->x->count);
  for (gsize i = 0; i < data->x->count; i++)
    ((float *) data->x->data)[i] =
        (float) (workload->low + (workload->high - workload->low) * draw (&state));
  for (gint64 r = 0; r < workload->rows; r++)
    softmax_row ((float *) data->x->data + r * workload->columns, workload->columns, fast,
                 (float *) data->y->data + r * workload->columns,
                 data->gold + r * workload->columns,
                 (float *) data->reference->data + r * workload->columns);
}

static AssayTolerance *
gate (void)
{
  AssayTolerance *tolerance = assay_tolerance_new ();

  tolerance->rule = ASSAY_RULE_ALLCLOSE;
  tolerance->atol = tolerance->rtol = 1e-4;
  return tolerance;
}

static AssayComparison *
compare (const AssayArray *candidate, const Data *data, const AssayTolerance *tolerance)
{
  g_autoptr (GError) error = NULL;
  AssayCompareInput input = {.candidate = candidate,
                             .reference = data->reference,
                             .gold = data->gold,
                             .tolerance = tolerance,
                             .threads = 1};
  AssayComparison *comparison = assay_compare (&input, NULL, &error);

  g_assert_no_error (error);
  return comparison;
}

static AssayOutput *
record_output (const Workload *workload, const Data *data)
{
  AssayOutput *output = assay_json_table_new (&ASSAY_OUTPUT_TABLE);

  output->name = g_strdup ("y");
  output->dtype = g_strdup ("float32");
  g_array_append_val (output->shape, workload->rows);
  g_array_append_val (output->shape, workload->columns);
  output->tolerance = gate ();
  output->comparison = compare (data->y, data, output->tolerance);
  output->gold = assay_json_table_new (&ASSAY_GOLD_TABLE);
  output->gold->method = g_strdup ("reference in double");
  output->gold->stable = TRUE;
  output->gold->reference = compare (data->reference, data, output->tolerance);
  return output;
}

static void
record_launch (AssayWorkloadRecord *record, const Workload *workload, gboolean fast)
{
  AssayLaunch *launch = assay_json_table_new (&ASSAY_LAUNCH_TABLE);
  gint64 grid[] = {workload->rows, 1, 1}, block[] = {STRIDE, 1, 1};

  launch->kernel = g_strdup (fast ? "softmax" : "softmax_kernel");
  g_array_append_vals (launch->grid, grid, 3);
  g_array_append_vals (launch->block, block, 3);
  launch->shared = 1024;
  launch->registers = 24;
  g_ptr_array_add (record->launches, launch);
}

static AssayWorkloadRecord *
record_workload (const Workload *workload, gboolean fast, AssayAudit *audit)
{
  AssayWorkloadRecord *record = assay_json_table_new (&ASSAY_WORKLOAD_RECORD_TABLE);
  Data data;
  AssayOutput *output;
  AssayProbeInput copied;
  AssayProbesInput probes = {.workload = workload->name, .output = "y", .compute = "float32"};

  compute (workload, fast, &data);
  output = record_output (workload, &data);
  copied = (AssayProbeInput) {"x", data.x};
  probes.reference = data.reference;
  probes.gold = data.gold;
  probes.tolerance = output->tolerance;
  probes.inputs = &copied;
  probes.n_inputs = 1;
  probes.threads = 1;
  g_assert_true (assay_probes_run (&probes, audit, NULL, NULL));
  record->name = g_strdup (workload->name);
  record->status =
      output->comparison->accepted ? ASSAY_WORKLOAD_PASSED : ASSAY_WORKLOAD_INCORRECT_NUMERICAL;
  record->seconds = 0.41;
  g_ptr_array_add (record->outputs, output);
  record_launch (record, workload, fast);
  assay_array_unref (data.x);
  assay_array_unref (data.y);
  assay_array_unref (data.reference);
  g_free (data.gold);
  return record;
}

/* --- what is told, not computed -------------------------------------------------------------- */

static const struct
{
  int status;
  const char *reason;
} stages[ASSAY_N_STAGES] = {
    [ASSAY_STAGE_VALIDATE] = {ASSAY_STATUS_PASSED, NULL},
    [ASSAY_STAGE_COMPILE] = {ASSAY_STATUS_PASSED, NULL},
    [ASSAY_STAGE_RUN] = {ASSAY_STATUS_PASSED, NULL},
    [ASSAY_STAGE_COMPARE] = {ASSAY_STATUS_PASSED, NULL},
    [ASSAY_STAGE_AUDIT] = {ASSAY_STATUS_FAILED, NULL},
    [ASSAY_STAGE_CHECK] = {ASSAY_STATUS_PASSED, NULL},
    [ASSAY_STAGE_BENCH] = {ASSAY_STATUS_SKIPPED, "no device that keeps time"},
    [ASSAY_STAGE_PROFILE] = {ASSAY_STATUS_SKIPPED, "no device that keeps time"},
};

static const struct
{
  const char *rule, *title, *detail, *suggestion, *workload, *output, *file;
  int severity, blame, line;
  const char *component, *axis;
} findings[] = {
    {"num.zero-output-passes", "all zeros pass allclose(1e-4, 1e-4) on vocab",
     "Every output of `vocab` is smaller than atol, so an array of zeros is accepted. A kernel "
     "that "
     "writes nothing would pass.",
     "Compare relative to the reference alone, or choose atol below the smallest output.", "vocab",
     "y", "task.json", ASSAY_SEVERITY_BLOCKER, ASSAY_BLAME_TASK, 32, "tolerance", "numerics"},
    {"num.tolerance-too-loose", "wrong answers live on vocab, among them ×1.01 and a missing tail",
     "Mutants of the right answer stay inside the tolerance.", "rtol 2e-5 and atol 1e-12.", "vocab",
     "y", NULL, ASSAY_SEVERITY_MAJOR, ASSAY_BLAME_TASK, 0, "tolerance", "numerics"},
    {"bench.warm-cache", "the benchmark never flushes the L2",
     "`flush_l2` is false: of the 1.05 MB that a call touches all stays in the L2.", NULL, NULL,
     NULL, "task.json", ASSAY_SEVERITY_MAJOR, ASSAY_BLAME_TASK, 34, "benchmark", "performance"},
    {"mem.bank-conflicts", "line 16: 2-way conflicts in the last steps of the reduction",
     "The tree reads `shared[t + step]`; below a warp the pattern costs nothing that can be seen.",
     NULL, NULL, NULL, "candidates/fast/kernel.cu", ASSAY_SEVERITY_INFO, ASSAY_BLAME_CANDIDATE, 16,
     "candidate", "performance"},
};

static void
add_evidence (AssayFinding *finding, const char *kind, const char *ref, const char *title)
{
  AssayEvidence *evidence = assay_evidence_new ();

  evidence->kind = g_strdup (kind);
  evidence->ref = g_strdup (ref);
  evidence->title = g_strdup (title);
  g_ptr_array_add (finding->evidence, evidence);
}

static void
tell_findings (AssayRun *run)
{
  for (gsize i = 0; i < G_N_ELEMENTS (findings); i++)
    {
      AssayFinding *finding = assay_finding_new ();

      finding->rule = g_strdup (findings[i].rule);
      finding->axis = g_strdup (findings[i].axis);
      finding->title = g_strdup (findings[i].title);
      finding->detail = g_strdup (findings[i].detail);
      finding->suggestion = g_strdup (findings[i].suggestion);
      finding->severity = findings[i].severity;
      finding->blame = findings[i].blame;
      finding->component = g_strdup (findings[i].component);
      finding->candidate = g_strdup (run->candidate);
      finding->where.file = g_strdup (findings[i].file);
      finding->where.line = findings[i].line;
      finding->where.workload = g_strdup (findings[i].workload);
      finding->where.output = g_strdup (findings[i].output);
      finding->reproduce = g_strdup ("assay-engine audit softmax_rows_f32 --device virtual:sm_80");
      if (findings[i].workload != NULL)
        add_evidence (finding, "plot", "numerics/margin/vocab/y", "margin, vocab");
      else
        add_evidence (finding, "source", findings[i].file, "lines");
      assay_finding_fingerprint (finding, findings[i].rule);
      g_ptr_array_add (run->findings, finding);
    }
}

static void
tell_compile (AssayRun *run)
{
  static const struct
  {
    const char *target;
    int status, registers, spill;
  } compiled[] = {
      {"cuda:sm_80", ASSAY_STATUS_PASSED, 24, 0},
      {"cuda:sm_90a", ASSAY_STATUS_PASSED, 26, 96},
      {"virtual:sm_80", ASSAY_STATUS_PASSED, -1, -1},
  };

  for (gsize i = 0; i < G_N_ELEMENTS (compiled); i++)
    {
      AssayCompile *compile = assay_json_table_new (&ASSAY_COMPILE_TABLE);

      compile->target = g_strdup (compiled[i].target);
      compile->status = compiled[i].status;
      compile->registers = compiled[i].registers;
      compile->spill_store_bytes = compile->spill_load_bytes = compiled[i].spill;
      compile->shared_bytes = 1024;
      compile->stack_bytes = 0;
      compile->seconds = 0.31;
      compile->log = g_strdup_printf ("logs/compile-%s.txt", compiled[i].target);
      g_ptr_array_add (run->compile, compile);
    }
}

static void
tell_stages (AssayRun *run)
{
  for (int i = 0; i < ASSAY_N_STAGES; i++)
    {
      AssayStage *stage = assay_json_table_new (&ASSAY_STAGE_TABLE);

      stage->name = g_strdup (ASSAY_STAGES[i]);
      stage->status = stages[i].status;
      stage->reason = g_strdup (stages[i].reason);
      stage->seconds = stages[i].status == ASSAY_STATUS_SKIPPED ? 0 : 0.2 * (i + 1);
      g_ptr_array_add (run->stages, stage);
    }
}

AssayRun *
assay_recorded_run (const char *candidate)
{
  AssayRun *run = assay_run_new ();

  run->id = g_strdup_printf ("3f9c2a-%s", candidate);
  run->state = ASSAY_STATUS_FAILED;
  run->task.id = g_strdup ("softmax_rows_f32");
  run->candidate = g_strdup (candidate);
  run->device.kind = g_strdup ("virtual");
  run->device.name = g_strdup ("Virtual GPU");
  run->device.target = g_strdup ("sm_80");
  run->device.math_mode = g_strdup ("ideal");
  run->device.toolkit = g_strdup ("13.0");
  run->environment.sandbox = g_strdup ("bubblewrap, seccomp");
  run->environment.os = g_strdup ("Linux");
  run->started = g_strdup ("2026-11-28T14:03:11Z");
  run->finished = g_strdup ("2026-11-28T14:03:15Z");
  run->audit = assay_audit_new ();
  for (gsize i = 0; i < G_N_ELEMENTS (workloads); i++)
    g_ptr_array_add (run->workloads,
                     record_workload (&workloads[i], g_str_equal (candidate, "fast"), run->audit));
  assay_audit_conclude (run->audit);
  tell_stages (run);
  tell_compile (run);
  tell_findings (run);
  return run;
}

void
assay_recorded_write (const char *runs, const char *candidate)
{
  g_autoptr (AssayRun) run = assay_recorded_run (candidate);
  g_autofree char *folder = g_build_filename (runs, "softmax_rows_f32", run->id, NULL);
  g_autofree char *logs = g_build_filename (folder, "logs", NULL);
  g_autofree char *log = g_build_filename (logs, "compile-cuda:sm_80.txt", NULL);
  g_autoptr (GError) error = NULL;

  g_assert_cmpint (g_mkdir_with_parents (logs, 0700), ==, 0);
  g_assert_true (assay_run_save (run, folder, &error));
  g_assert_no_error (error);
  g_assert_true (g_file_set_contents (log,
                                      "$ nvrtc --gpu-architecture=compute_80 -lineinfo kernel.cu\n"
                                      "kernel.cu: PTX 9.0, 214 lines, 1 entry: softmax\n"
                                      "ptxas info    : Used 24 registers, 1024 bytes smem\n",
                                      -1, NULL));
}
