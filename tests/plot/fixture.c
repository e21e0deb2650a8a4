/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/plot/fixture.h"

#include <math.h>
#include <stdlib.h>

#define ROWS 96
#define COLUMNS 4096

static guint64 state = 88172645463325252u;

static double
uniform (void)
{
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (double) (state >> 11) / 9007199254740992.0;
}

static void
count (GArray *bins, gint64 index)
{
  guint64 zero = 0;
  while ((gint64) bins->len <= index)
    g_array_append_val (bins, zero);
  g_array_index (bins, guint64, index)++;
}

static void
add_error (AssayHistogram *histogram, double value)
{
  if (value == 0)
    {
      histogram->zero++;
      return;
    }
  gint64 exponent = (gint64) floor (log2 (fabs (value))) - histogram->first;
  count (value < 0 ? histogram->negative : histogram->positive, MAX (0, exponent));
}

static void
level (AssayHistogram *histogram)
{
  guint64 zero = 0;
  while (histogram->negative->len < histogram->positive->len)
    g_array_append_val (histogram->negative, zero);
  while (histogram->positive->len < histogram->negative->len)
    g_array_append_val (histogram->positive, zero);
}

static AssayComparison *
comparison_of (double spread)
{
  AssayComparison *c = assay_comparison_new ();
  c->count = ROWS * COLUMNS;
  c->ulp_histogram.first = 0;
  c->abs_histogram.first = -50;
  c->rel_histogram.first = -50;
  c->position = (AssayPosition) {
      ROWS, COLUMNS, 48, 64, 2, 64, c->position.max_ulp, c->position.rms_ulp, c->position.row_mean};
  for (int cell = 0; cell < 48 * 64; cell++)
    {
      double rms = spread * (0.4 + 0.2 * sin (cell / 64 * 1.7) + 0.1 * uniform ());
      g_array_append_val (c->position.rms_ulp, rms);
      g_array_append_val (c->position.max_ulp, rms);
    }
  for (int row = 0; row < 48; row++)
    {
      double mean = spread * 0.3 * sin (row * 1.7);
      g_array_append_val (c->position.row_mean, mean);
    }
  for (int i = 0; i < ROWS * COLUMNS; i++)
    {
      double ulp = spread * (uniform () + uniform () + uniform () - 1.5);
      double rounded = nearbyint (ulp);
      add_error (&c->ulp_histogram, rounded);
      add_error (&c->rel_histogram, ulp * 6e-8 * (1 + uniform ()));
      add_error (&c->abs_histogram, ulp * 6e-8 * 2e-4 * (1 + uniform ()));
    }
  level (&c->ulp_histogram);
  level (&c->abs_histogram);
  level (&c->rel_histogram);
  c->max_gold = 6.3e-5;
  c->not_correctly_rounded = 12000;
  c->max_ulp = (guint64) (spread * 1.5);
  c->rms_ulp = spread / 2;
  c->max_ulp_real = (AssayExtreme) {spread * 1.5, 2 * COLUMNS + 3301, 1.1808e-7, 1.180797e-7};
  c->accepted = TRUE;
  c->margin = 1.7e-7;
  c->headroom_bits = -log2 (c->margin);
  return c;
}

static void
add_probe (AssayRun *run, int kind, const char *name, double margin)
{
  AssayProbe *probe = assay_probe_new ();
  probe->kind = kind;
  probe->name = g_strdup (name);
  probe->workload = g_strdup ("vocab");
  probe->output = g_strdup ("y");
  probe->margin = margin;
  probe->accepted = margin <= 1;
  probe->max_abs = margin * 1e-4;
  g_ptr_array_add (run->audit->probes, probe);
}

/* Straight frontiers: |c - r| of a constant relative and absolute error. */
static void
add_plane (AssayRun *run)
{
  static const struct
  {
    int kind;
    const char *name;
    double relative, absolute;
  } ANSWERS[] = {{ASSAY_PROBE_REFERENCE, "reference", 6e-8, 0},
                 {ASSAY_PROBE_HONEST, "sequential f32 sum", 4e-6, 0},
                 {ASSAY_PROBE_DOWNGRADE, "bf16 output", 4e-3, 0},
                 {ASSAY_PROBE_TRIVIAL, "zeros", 1, 0},
                 {ASSAY_PROBE_MUTANT, "one element off", 0, 3e-6}};
  AssayPlane *plane = assay_json_table_new (&ASSAY_PLANE_TABLE);
  plane->workload = g_strdup ("vocab");
  plane->output = g_strdup ("y");
  for (gsize a = 0; a < G_N_ELEMENTS (ANSWERS); a++)
    {
      AssayFrontier *frontier = assay_json_table_new (&ASSAY_FRONTIER_TABLE);
      frontier->kind = ANSWERS[a].kind;
      frontier->name = g_strdup (ANSWERS[a].name);
      for (int i = 0; i <= 36; i++)
        {
          double rtol = pow (10, i / 4.0 - 9);
          double atol = fmax (0, (ANSWERS[a].relative - rtol) * 6.3e-5) + ANSWERS[a].absolute;
          g_array_append_val (frontier->atol, atol);
          if (a == 0)
            g_array_append_val (plane->rtol, rtol);
          if (a == 1)
            g_array_append_val (plane->candidate, atol);
        }
      g_ptr_array_add (plane->frontiers, frontier);
    }
  plane->proposed_rtol = 2e-5;
  plane->proposed_atol = 1e-12;
  plane->proposal = g_strdup ("Four times the worst right answer.");
  g_ptr_array_add (run->audit->planes, plane);
}

/* A ridge along the diagonal. */
static void
add_density (AssayOutput *output, const char *input)
{
  AssayDensity *density = assay_json_table_new (&ASSAY_DENSITY_TABLE);
  density->input = g_strdup (input);
  density->rows = 12;
  density->columns = 20;
  density->low = input ? -8 : -34;
  density->high = input ? 0 : -14;
  density->first_row = input ? 0 : -58;
  for (int i = 0; i < 12 * 20; i++)
    {
      guint64 count = abs (i / 20 - i % 20) < 4 ? 1000 : 0;
      g_array_append_val (density->counts, count);
    }
  g_ptr_array_add (output->densities, density);
}

AssayRun *
plot_fixture_run (void)
{
  gint64 shape[] = {ROWS, COLUMNS};
  AssayRun *run = assay_run_new ();
  run->id = g_strdup ("3f9c2a");
  run->candidate = g_strdup ("fast");
  AssayWorkloadRecord *workload = assay_json_table_new (&ASSAY_WORKLOAD_RECORD_TABLE);
  AssayOutput *output = assay_json_table_new (&ASSAY_OUTPUT_TABLE);
  workload->name = g_strdup ("vocab");
  output->name = g_strdup ("y");
  output->dtype = g_strdup ("float32");
  g_array_append_vals (output->shape, shape, 2);
  output->tolerance = assay_tolerance_new ();
  output->tolerance->atol = output->tolerance->rtol = 1e-4;
  output->comparison = comparison_of (9);
  output->gold = assay_json_table_new (&ASSAY_GOLD_TABLE);
  output->gold->stable = TRUE;
  output->gold->reference = comparison_of (3.4);
  output->gold->reference->margin = 7.8e-8;
  add_density (output, NULL);
  add_density (output, "x");
  g_ptr_array_add (workload->outputs, output);
  g_ptr_array_add (run->workloads, workload);
  run->audit = assay_json_table_new (&ASSAY_AUDIT_TABLE);
  add_probe (run, ASSAY_PROBE_HONEST, "sequential f32 sum", 1e-5);
  add_probe (run, ASSAY_PROBE_DOWNGRADE, "fp16", 0.0003);
  add_probe (run, ASSAY_PROBE_DOWNGRADE, "bf16 inputs", 0.0012);
  add_probe (run, ASSAY_PROBE_DOWNGRADE, "bf16 output", 0.0025);
  add_probe (run, ASSAY_PROBE_TRIVIAL, "zeros", 0.63);
  add_probe (run, ASSAY_PROBE_TRIVIAL, "constant", 0.6);
  add_probe (run, ASSAY_PROBE_TRIVIAL, "copy of x", 8e4);
  add_probe (run, ASSAY_PROBE_MUTANT, "× 1.01", 0.0063);
  add_probe (run, ASSAY_PROBE_MUTANT, "last row dropped", 0.63);
  add_probe (run, ASSAY_PROBE_MUTANT, "not normalised", 1e4);
  add_plane (run);
  return run;
}
