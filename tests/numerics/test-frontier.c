/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/numerics/frontier.h"

#include <math.h>
#include <string.h>

#define N 3000

static AssayArray *
filled (double (*value) (guint i))
{
  gint64 shape = N;
  AssayArray *array = assay_array_new (ASSAY_DTYPE_FLOAT32, &shape, 1, NULL);
  for (guint i = 0; i < N; i++)
    assay_array_set (array, i, value (i));
  return array;
}

static double
right (guint i)
{
  return sin (i * 0.37) * pow (10, (int) (i % 5) - 3);
}

static double
near (guint i)
{
  return right (i) * (1 + 1e-6 * cos (i)) + 1e-9 * sin (i);
}

static double
far (guint i)
{
  return right (i) + (i == 77 ? 0.5 : 0);
}

static double
broken (guint i)
{
  return i == 5 ? NAN : right (i);
}

/* Against the definition: at every rtol the rule accepts with the frontier's atol, and not with a
 * hair less. */
static void
frontier_is_where_the_gate_turns (void)
{
  g_autoptr (AssayArray) reference = filled (right), candidate = filled (near);
  AssayPlane *plane = assay_plane_new ("w", "y");
  AssayTolerance *tolerance = assay_tolerance_new ();
  AssayCompareInput input = {
      .candidate = candidate, .reference = reference, .tolerance = tolerance};
  g_autoptr (GArray) atol = g_array_new (FALSE, FALSE, sizeof (double));
  g_assert_true (assay_frontier (&input, plane->rtol, atol, NULL, NULL));
  g_assert_cmpuint (atol->len, ==, plane->rtol->len);
  for (guint k = 0; k < atol->len; k++)
    {
      AssayGate gate;
      double needed = g_array_index (atol, double, k);
      tolerance->rtol = g_array_index (plane->rtol, double, k);
      tolerance->atol = needed * (1 + 1e-12);
      g_assert_true (assay_gate (&input, &gate, NULL, NULL));
      g_assert_true (gate.accepted);
      tolerance->atol = needed * (1 - 1e-6);
      g_assert_true (assay_gate (&input, &gate, NULL, NULL));
      g_assert_cmpint (gate.accepted, ==, needed == 0);
    }
  assay_tolerance_free (tolerance);
  assay_json_table_free (&ASSAY_PLANE_TABLE, plane);
}

/* What is said of the task's own gate is no interpolation between columns. */
static void
gate_is_a_column_of_its_own (void)
{
  AssayPlane *plane = assay_plane_new ("w", "y");
  guint columns = plane->rtol->len, found = 0;
  assay_plane_set_gate (plane, 7.9e-3);
  assay_plane_set_gate (plane, 0);
  assay_plane_set_gate (plane, 10);
  g_assert_cmpuint (plane->rtol->len, ==, columns);
  for (guint k = 0; k < columns; k++)
    {
      found += g_array_index (plane->rtol, double, k) == 7.9e-3;
      if (k > 0)
        g_assert_cmpfloat (g_array_index (plane->rtol, double, k - 1), <,
                           g_array_index (plane->rtol, double, k));
    }
  g_assert_cmpuint (found, ==, 1);
  assay_json_table_free (&ASSAY_PLANE_TABLE, plane);
}

static void
nan_needs_more_than_any_tolerance (void)
{
  g_autoptr (AssayArray) reference = filled (right), candidate = filled (broken);
  AssayPlane *plane = assay_plane_new ("w", "y");
  AssayCompareInput input = {.candidate = candidate, .reference = reference};
  g_autoptr (GArray) atol = g_array_new (FALSE, FALSE, sizeof (double));
  g_assert_true (assay_frontier (&input, plane->rtol, atol, NULL, NULL));
  g_assert_true (isinf (g_array_index (atol, double, 0)));
  assay_json_table_free (&ASSAY_PLANE_TABLE, plane);
}

static void
shares_count_what_passes (void)
{
  g_autoptr (AssayArray) reference = filled (right), candidate = filled (near);
  AssayPlane *plane = assay_plane_new ("w", "y");
  AssayCompareInput input = {.candidate = candidate, .reference = reference, .threads = 2};
  g_assert_true (assay_plane_set_candidate (plane, &input, NULL, NULL));
  guint columns = plane->rtol->len;
  g_assert_cmpuint (plane->share->len, ==, columns * plane->share_atol->len);
  for (guint row = 0; row < plane->share_atol->len; row += 7)
    for (guint k = 0; k < columns; k += 5)
      {
        double atol = g_array_index (plane->share_atol, double, row);
        double rtol = g_array_index (plane->rtol, double, k);
        guint passed = 0;
        for (guint i = 0; i < N; i++)
          {
            double c = assay_array_get (candidate, i), r = assay_array_get (reference, i);
            passed += fabs (c - r) <= atol + rtol * fabs (r);
          }
        double share = g_array_index (plane->share, double, row *columns + k);
        g_assert_cmpfloat_with_epsilon (share, (double) passed / N, 2.0 / N);
      }
  assay_json_table_free (&ASSAY_PLANE_TABLE, plane);
}

static void
proposal_keeps_the_right_and_refuses_the_wrong (void)
{
  g_autoptr (AssayArray) reference = filled (right), honest = filled (near), wrong = filled (far);
  AssayPlane *plane = assay_plane_new ("w", "y");
  AssayCompareInput input = {.candidate = honest, .reference = reference};
  AssayTolerance *tolerance = assay_tolerance_new ();
  AssayGate gate;
  g_assert_true (assay_plane_add (plane, ASSAY_PROBE_HONEST, "near", &input, NULL, NULL));
  assay_plane_propose (plane);
  g_assert_true (isnan (plane->proposed_rtol));
  g_assert_nonnull (strstr (plane->proposal, "no wrong answer was planted"));
  input.candidate = wrong;
  g_assert_true (assay_plane_add (plane, ASSAY_PROBE_MUTANT, "far", &input, NULL, NULL));
  assay_plane_propose (plane);
  tolerance->rtol = plane->proposed_rtol;
  tolerance->atol = plane->proposed_atol;
  input.tolerance = tolerance;
  g_assert_true (assay_gate (&input, &gate, NULL, NULL));
  g_assert_false (gate.accepted);
  input.candidate = honest;
  g_assert_true (assay_gate (&input, &gate, NULL, NULL));
  g_assert_true (gate.accepted);
  /* The same answer as right and as wrong leaves no window. */
  g_assert_true (assay_plane_add (plane, ASSAY_PROBE_MUTANT, "twin", &input, NULL, NULL));
  assay_plane_propose (plane);
  g_assert_true (isnan (plane->proposed_atol));
  g_assert_nonnull (strstr (plane->proposal, "nearest: twin"));
  assay_tolerance_free (tolerance);
  assay_json_table_free (&ASSAY_PLANE_TABLE, plane);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/frontier/is-where-the-gate-turns", frontier_is_where_the_gate_turns);
  g_test_add_func ("/frontier/gate-is-a-column", gate_is_a_column_of_its_own);
  g_test_add_func ("/frontier/nan-needs-more-than-any-tolerance",
                   nan_needs_more_than_any_tolerance);
  g_test_add_func ("/frontier/shares-count-what-passes", shares_count_what_passes);
  g_test_add_func ("/frontier/proposal-keeps-the-right-and-refuses-the-wrong",
                   proposal_keeps_the_right_and_refuses_the_wrong);
  return g_test_run ();
}
