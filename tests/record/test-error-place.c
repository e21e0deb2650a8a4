/* SPDX-License-Identifier: Apache-2.0 */
/* Where an error sits: maps made by hand, whose answer is known. */
#include "engine/record/error-place.h"

#include <math.h>

#define ROWS 40
#define COLUMNS 64

static void
fill (AssayPosition *p, double value)
{
  p->rows = p->cell_rows = ROWS;
  p->columns = p->cell_columns = COLUMNS;
  p->rows_per_cell = p->columns_per_cell = 1;
  for (int i = 0; i < ROWS * COLUMNS; i++)
    {
      g_array_append_val (p->rms_ulp, value);
      g_array_append_val (p->max_ulp, value);
    }
}

/* An even haze of one ulp, and a reference with the same. */
static AssayOutput *
haze (void)
{
  AssayOutput *output = assay_json_table_new (&ASSAY_OUTPUT_TABLE);
  output->comparison = assay_comparison_new ();
  output->gold = assay_json_table_new (&ASSAY_GOLD_TABLE);
  output->gold->reference = assay_comparison_new ();
  fill (&output->comparison->position, 1);
  fill (&output->gold->reference->position, 1);
  output->comparison->count = ROWS * COLUMNS;
  output->comparison->not_correctly_rounded = 100;
  output->comparison->accepted = TRUE;
  return output;
}

static void
heat (AssayPosition *p, int row, int column, double value)
{
  g_array_index (p->rms_ulp, double, row *COLUMNS + column) = value;
}

static void
free_output (AssayOutput *output)
{
  assay_json_table_free (&ASSAY_OUTPUT_TABLE, output);
}

static void
refuse (AssayOutput *output, guint64 mismatches)
{
  output->comparison->accepted = FALSE;
  output->comparison->mismatches = mismatches;
  output->comparison->mismatch_share = (double) mismatches / (ROWS * COLUMNS);
}

static void
test_even_and_nowhere (void)
{
  AssayOutput *output = haze ();
  g_assert_cmpint (assay_error_place (output).kind, ==, ASSAY_PLACE_EVEN);
  g_assert_null (assay_error_band (output));
  output->comparison->not_correctly_rounded = 0;
  g_assert_cmpint (assay_error_place (output).kind, ==, ASSAY_PLACE_NOWHERE);
  refuse (output, ROWS * COLUMNS - 1);
  g_assert_cmpint (assay_error_place (output).kind, ==, ASSAY_PLACE_EVERYWHERE);
  free_output (output);
}

static void
test_band (void)
{
  AssayOutput *output = haze ();
  for (int r = 36; r < ROWS; r++)
    for (int c = 0; c < COLUMNS; c++)
      heat (&output->comparison->position, r, c, 1e4);
  AssayErrorPlace place = assay_error_place (output);
  g_autofree char *band = assay_error_band (output);
  g_assert_cmpint (place.kind, ==, ASSAY_PLACE_ROWS);
  g_assert_cmpint (place.first, ==, 36);
  g_assert_cmpint (place.last, ==, 39);
  g_assert_cmpstr (band, ==, "rows 36 to 39 of 40");
  /* The reference loses as much there: the place is badly conditioned, and nobody's fault. */
  for (int r = 36; r < ROWS; r++)
    for (int c = 0; c < COLUMNS; c++)
      heat (&output->gold->reference->position, r, c, 8e3);
  g_assert_cmpint (assay_error_place (output).kind, ==, ASSAY_PLACE_PART_ROWS);
  free_output (output);
}

/* What follows results that vanish is exact: the first columns hold all of it, and no row stands out, though
 * a few elements are far worse than the rest. */
static void
test_part (void)
{
  AssayOutput *output = haze ();
  for (int r = 0; r < ROWS; r++)
    for (int c = 12; c < COLUMNS; c++)
      heat (&output->comparison->position, r, c, 0);
  heat (&output->comparison->position, 35, 3, 1e6);
  AssayErrorPlace place = assay_error_place (output);
  g_assert_cmpint (place.kind, ==, ASSAY_PLACE_PART_COLUMNS);
  g_assert_cmpint (place.first, ==, 0);
  g_assert_cmpint (place.last, ==, 11);
  g_assert_cmpint (place.extent, ==, COLUMNS);
  g_assert_cmpfloat (place.share, >=, 0.95);
  free_output (output);
  /* It grows along the columns, as in sums of more and more terms, and is still everywhere. */
  output = haze ();
  for (int r = 0; r < ROWS; r++)
    for (int c = 0; c < COLUMNS; c++)
      heat (&output->comparison->position, r, c, 1 + sqrt (c));
  g_assert_cmpint (assay_error_place (output).kind, ==, ASSAY_PLACE_EVEN);
  /* It grows so fast that the last columns have nearly all. */
  for (int r = 0; r < ROWS; r++)
    for (int c = 0; c < COLUMNS; c++)
      heat (&output->comparison->position, r, c, exp2 (c / 8.0));
  place = assay_error_place (output);
  g_assert_cmpint (place.kind, ==, ASSAY_PLACE_PART_COLUMNS);
  g_assert_cmpint (place.last, ==, COLUMNS - 1);
  free_output (output);
}

static void
add_worst (AssayOutput *output, gint64 index)
{
  AssayWorst *worst = assay_json_table_new (&ASSAY_WORST_TABLE);
  worst->index = index;
  g_ptr_array_add (output->comparison->worst, worst);
}

static void
test_steps (void)
{
  AssayOutput *output = haze ();
  for (int i = 1; i <= 12; i++)
    add_worst (output, 128 * i);
  for (int i = 1; i <= 12; i++)
    add_worst (output, 128 * i - 1);
  add_worst (output, 77); /* below the misses: an ordinary rounding */
  refuse (output, 24);
  AssayErrorPlace place = assay_error_place (output);
  g_assert_cmpint (place.kind, ==, ASSAY_PLACE_STEPS);
  g_assert_cmpint (place.step, ==, 128);
  g_assert_cmpint (place.first, ==, 0);
  refuse (output, 25);
  g_assert_cmpint (assay_error_place (output).kind, !=, ASSAY_PLACE_STEPS);
  free_output (output);
}

/* Most of the output misses, but what misses by most is a mask's edge. */
static void
test_diagonal (void)
{
  AssayOutput *output = haze ();
  for (int r = 0; r < 30; r++)
    add_worst (output, r * COLUMNS + r + 7);
  refuse (output, ROWS * COLUMNS * 3 / 4);
  AssayErrorPlace place = assay_error_place (output);
  g_assert_cmpint (place.kind, ==, ASSAY_PLACE_DIAGONAL);
  g_assert_cmpint (place.step, ==, 7);
  ((AssayWorst *) g_ptr_array_index (output->comparison->worst, 3))->index++;
  g_assert_cmpint (assay_error_place (output).kind, ==, ASSAY_PLACE_EVERYWHERE);
  free_output (output);
}

static void
test_cells (void)
{
  AssayOutput *output = haze ();
  heat (&output->comparison->position, 3, 5, 1e5);
  heat (&output->comparison->position, 20, 60, NAN);
  refuse (output, 2);
  AssayErrorPlace place = assay_error_place (output);
  g_assert_cmpint (place.kind, ==, ASSAY_PLACE_CELLS);
  g_assert_cmpuint (place.hot, ==, 2);
  g_assert_cmpuint (place.cells, ==, ROWS * COLUMNS);
  free_output (output);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/error-place/even-and-nowhere", test_even_and_nowhere);
  g_test_add_func ("/error-place/band", test_band);
  g_test_add_func ("/error-place/part", test_part);
  g_test_add_func ("/error-place/steps", test_steps);
  g_test_add_func ("/error-place/diagonal", test_diagonal);
  g_test_add_func ("/error-place/cells", test_cells);
  return g_test_run ();
}
