/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/figures/figures.h"
#include "engine/figures/source-lines.h"
#include "engine/plot/draw-layers.h"
#include "engine/figures/plane.h"
#include "engine/figures/verdicts.h"
#include "engine/plot/export.h"
#include "engine/plot/layout.h"
#include "tests/plot/fixture.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static AssayPlotScene *
fixture_scene (const AssayRun *run, AssayFigure figure)
{
  const AssayWorkloadRecord *workload = g_ptr_array_index (run->workloads, 0);
  return assay_figure_new (figure, run, workload, g_ptr_array_index (workload->outputs, 0));
}

static void
check_ticks (const AssayAxis *axis, double length, double spacing)
{
  g_autoptr (GArray) ticks = assay_axis_ticks (axis, length, spacing);
  g_autoptr (GHashTable) labels = g_hash_table_new (g_str_hash, g_str_equal);
  guint named = 0;
  for (guint i = 0; i < ticks->len; i++)
    {
      const AssayTick *tick = &g_array_index (ticks, AssayTick, i);
      double slack = 1e-9 * fmax (fabs (axis->min), fabs (axis->max));
      g_assert_cmpfloat (tick->value, >=, axis->min - slack);
      g_assert_cmpfloat (tick->value, <=, axis->max + slack);
      if (i)
        g_assert_cmpfloat (tick->value, >, g_array_index (ticks, AssayTick, i - 1).value);
      if (tick->label)
        {
          named++;
          g_assert_true (g_hash_table_add (labels, tick->label));
        }
    }
  g_assert_cmpuint (named, <=, (guint) (length / spacing) + 1);
}

static void
ticks_are_sorted_inside_and_unique (void)
{
  for (int round = 0; round < 400; round++)
    {
      double centre = pow (10, g_test_rand_double_range (-12, 12));
      double span = centre * pow (10, g_test_rand_double_range (-3, 3));
      AssayAxis linear = {.scale = ASSAY_SCALE_LINEAR, .min = centre - span, .max = centre + span};
      AssayAxis log = {.scale = ASSAY_SCALE_LOG,
                       .min = centre,
                       .max = centre * pow (10, g_test_rand_double_range (0.5, 30))};
      double length = g_test_rand_double_range (60, 900);
      check_ticks (&linear, length, 46);
      check_ticks (&log, length, 46);
    }
}

static void
positions_invert (void)
{
  AssayAxis axes[] = {{.scale = ASSAY_SCALE_LINEAR, .min = -3, .max = 11},
                      {.scale = ASSAY_SCALE_LOG, .min = 1e-9, .max = 1e4},
                      {.scale = ASSAY_SCALE_LOG, .min = 1e-9, .max = 1e4, .reversed = TRUE}};
  for (gsize a = 0; a < G_N_ELEMENTS (axes); a++)
    for (double p = 0; p <= 1.0; p += 0.05)
      g_assert_cmpfloat_with_epsilon (
          assay_axis_position (&axes[a], assay_axis_value (&axes[a], p)), p, 1e-9);
  g_assert_true (isnan (assay_axis_position (&axes[1], 0)));
  g_assert_true (isnan (assay_axis_position (&axes[1], -1)));
}

static void
numbers_read_as_written (void)
{
  static const struct
  {
    double value;
    int digits;
    const char *text;
  } CASES[] = {{1e-4, 2, "1.0e-4"}, {0.0, 3, "0"},        {13.44, 3, "13.4"}, {0.01234, 2, "0.012"},
               {-2.5, 3, "-2.50"},  {1.5e7, 3, "1.50e7"}, {NAN, 3, "NaN"},    {4096, 3, "4096"}};
  for (gsize i = 0; i < G_N_ELEMENTS (CASES); i++)
    {
      g_autofree char *text = assay_format_number (CASES[i].value, CASES[i].digits);
      g_assert_cmpstr (text, ==, CASES[i].text);
    }
}

/* Every datum that lies in view is what the cursor finds at the middle of its box. */
static void
cursor_finds_every_datum (void)
{
  g_autoptr (AssayRun) run = plot_fixture_run ();
  for (int figure = 0; figure < ASSAY_N_FIGURES; figure++)
    {
      g_autoptr (AssayPlotScene) scene = fixture_scene (run, figure);
      AssayPlotStyle style = assay_plot_style (ASSAY_THEME_LIGHT);
      g_autoptr (AssayPlotLayout) layout = assay_plot_layout_new (scene, &style, 900, 500, NULL);
      guint n = assay_plot_layout_n_data (layout), found = 0;
      g_assert_cmpuint (n, >, 0);
      for (guint i = 0; i < n; i++)
        {
          AssayRect box = {0};
          g_autofree char *heading = NULL, *detail = NULL;
          gint64 payload = 0;
          g_assert_true (assay_plot_layout_datum (layout, i, &box, &heading, &detail, &payload));
          g_assert_nonnull (heading);
          gint64 hit = assay_plot_layout_hit (layout, box.x + box.width / 2,
                                              box.y + fmin (box.height / 2, 1));
          found += hit == (gint64) i;
        }
      g_assert_cmpuint (found * 10, >=, n * 8); /* marks may stand on each other */
    }
}

static void
a_view_zooms_only_its_panel (void)
{
  g_autoptr (AssayRun) run = plot_fixture_run ();
  g_autoptr (AssayPlotScene) scene = fixture_scene (run, ASSAY_FIGURE_RELATIVE);
  AssayPlotStyle style = assay_plot_style (ASSAY_THEME_LIGHT);
  AssayPlotView view = {1, 1e-9, 1e-7, 0.5, 1e4};
  g_autoptr (AssayPlotLayout) layout = assay_plot_layout_new (scene, &style, 600, 300, &view);
  const AssayPanelLayout *main = &g_array_index (layout->panels, AssayPanelLayout, 1);
  const AssayPanelLayout *side = &g_array_index (layout->panels, AssayPanelLayout, 0);
  g_assert_cmpfloat_with_epsilon (assay_panel_layout_x (main, 1e-9), main->frame.x, 1e-6);
  g_assert_cmpfloat_with_epsilon (assay_panel_layout_x (main, 1e-7),
                                  main->frame.x + main->frame.width, 1e-6);
  g_assert_cmpfloat (side->x.min, ==, -0.5);
}

static void
ptx_lines_lead_to_the_source_and_back (void)
{
  static const char PTX[] = ".version 9.0\n"           /* 1 */
                            ".entry k ()\n{\n"         /* 2, 3 */
                            "\t.loc\t1 7 2\n"          /* 4 */
                            "\tadd.s32 %r1, %r2, 1;\n" /* 5 */
                            "\t.loc\t2 9 0\n"          /* 6 */
                            "\tmul.f32 %f1, %f2, 2;\n" /* 7 */
                            "\t.loc\t1 12 2, function_name $L__info_1, inlined_at 1 8 1\n" /* 8 */
                            "\tret;\n}\n" /* 9, 10 */
                            "\t.file\t1 \"/scratch/candidates/a/kernel.cu\"\n"
                            "\t.file\t2 \"/usr/include/kernel.cu\"\n";
  g_autoptr (AssayPtxLines) lines = assay_ptx_lines_new (PTX);
  const char *file = "candidates/a/kernel.cu";
  g_assert_cmpint (assay_ptx_lines_find (lines, file, 7), ==, 4);
  g_assert_cmpint (assay_ptx_lines_find (lines, file, 8), ==, 8); /* the next one with code */
  g_assert_cmpint (assay_ptx_lines_find (lines, file, 13), ==, 0);
  g_assert_cmpint (assay_ptx_lines_find (lines, "es/a/kernel.cu", 7), ==, 0);
  g_assert_cmpint (assay_ptx_lines_source (lines, file, 5), ==, 7);
  g_assert_cmpint (assay_ptx_lines_source (lines, file, 7), ==, 0); /* of a header */
  g_assert_cmpint (assay_ptx_lines_source (lines, file, 9), ==, 12);
  g_assert_cmpint (assay_ptx_lines_source (lines, file, 1), ==, 0);
  g_assert_cmpint (assay_ptx_lines_source (lines, file, 99), ==, 0);
}

/* Lines as nvdisasm 13.5 -g -c prints them. */
static void
machine_code_leads_to_the_source_and_back (void)
{
  static const char SASS[] =
      "\t.target\tsm_80\n"                                                    /* 1 */
      "\t.section\t.text.k,\"ax\",@progbits\n"                                /* 2 */
      "\t//## File \"/scratch/candidates/a/kernel.cu\", line 7\n"             /* 3 */
      "        /*0000*/                   MOV R1, c[0x0][0x28] ;\n"           /* 4 */
      "\t//## File \"/usr/include/kernel.cu\", line 9\n"                      /* 5 */
      "        /*0010*/                   S2R R4, SR_CTAID.X ;\n"             /* 6 */
      "\t//## File \"/scratch/candidates/a/kernel.cu\", line 12 inlined at\n" /* 7 */
      "        /*0020*/                   EXIT ;\n"                           /* 8 */
      "\t.section\t.text.other,\"ax\",@progbits\n"                            /* 9 */
      "        /*0000*/                   NOP;\n"                             /* 10 */
      "\t//## File \"cut";
  g_autoptr (AssayPtxLines) lines = assay_sass_lines_new (SASS);
  const char *file = "candidates/a/kernel.cu";
  g_assert_cmpint (assay_ptx_lines_find (lines, file, 7), ==, 3);
  g_assert_cmpint (assay_ptx_lines_find (lines, file, 8), ==, 7);
  g_assert_cmpint (assay_ptx_lines_find (lines, file, 13), ==, 0);
  g_assert_cmpint (assay_ptx_lines_source (lines, file, 4), ==, 7);
  g_assert_cmpint (assay_ptx_lines_source (lines, file, 6), ==, 0); /* of a header */
  g_assert_cmpint (assay_ptx_lines_source (lines, file, 8), ==, 12);
  g_assert_cmpint (assay_ptx_lines_source (lines, file, 10), ==, 0); /* another function */
}

static void
add_counters (AssayRun *run, const char *counters)
{
  AssayWorkloadRecord *workload = g_ptr_array_index (run->workloads, 0);
  AssayLaunch *launch = assay_json_table_new (&ASSAY_LAUNCH_TABLE);
  launch->counters = json_from_string (counters, NULL);
  g_ptr_array_add (workload->launches, launch);
}

static void
heat_adds_up_over_launches (void)
{
  g_autoptr (AssayRun) run = plot_fixture_run ();
  g_autoptr (GArray) cold = assay_line_heat (run, "kernel.cu");
  g_assert_cmpuint (cold->len, ==, 0);
  add_counters (run, "{\"lines\":[{\"file\":\"kernel.cu\",\"line\":3,\"executed\":100,"
                     "\"active_lanes_mean\":32,\"sectors_per_request\":4},"
                     "{\"file\":\"other.cu\",\"line\":4,\"executed\":9}]}");
  add_counters (run, "{\"lines\":[{\"file\":\"kernel.cu\",\"line\":3,\"executed\":300,"
                     "\"active_lanes_mean\":16,\"sectors_per_request\":8}]}");
  g_autoptr (GArray) heat = assay_line_heat (run, "kernel.cu");
  g_assert_cmpuint (heat->len, ==, 3);
  const AssayLineHeat *third = &g_array_index (heat, AssayLineHeat, 2);
  g_assert_cmpuint (g_array_index (heat, AssayLineHeat, 0).executed, ==, 0);
  g_assert_cmpuint (third->executed, ==, 400);
  g_assert_cmpfloat (third->lanes, ==, 20); /* (100 * 32 + 300 * 16) / 400 */
  g_assert_cmpfloat (third->sectors, ==, 8);
  g_assert_true (isnan (third->bank));
}

/* "accepted" and "rejected" keep out of the way of marks, at every size. */
static void
words_of_regions_cover_no_mark (void)
{
  g_autoptr (AssayRun) run = plot_fixture_run ();
  g_autoptr (AssayPlotScene) scene = fixture_scene (run, ASSAY_FIGURE_MARGIN);
  AssayPanel *panel = g_ptr_array_index (scene->panels, 0);
  AssayPlotStyle style = assay_plot_style (ASSAY_THEME_LIGHT);
  AssayLayer *marks = assay_panel_add (panel, ASSAY_LAYER_MARKS, ASSAY_ROLE_REFERENCE, NULL);
  guint placed = 0;
  for (int step = 0; step < 40; step++)
    {
      g_autoptr (AssayPlotLayout) layout =
          assay_plot_layout_new (scene, &style, 300 + 200 * (step / 20), 188, NULL);
      const AssayPanelLayout *at = &g_array_index (layout->panels, AssayPanelLayout, 0);
      /* One more mark where the words would stand. */
      g_array_set_size (marks->x0, 0);
      g_array_set_size (marks->y, 0);
      double value_x = 0, value_y = 0, x = at->frame.x + (step % 20 + 0.5) / 20 * at->frame.width;
      double y = at->frame.y + 9;
      g_assert_cmpint (assay_plot_layout_locate (layout, x, y, &value_x, &value_y), ==, 0);
      assay_layer_add_mark (marks, value_x, value_y, TRUE, NULL);
      for (guint l = 0; l < panel->layers->len; l++)
        {
          AssayRect box;
          if (!assay_region_words (&style, at, g_ptr_array_index (panel->layers, l), panel->layers,
                                   &box))
            continue;
          placed++;
          g_assert_false (x > box.x && x < box.x + box.width && y > box.y
                          && y < box.y + box.height);
        }
    }
  g_assert_cmpuint (placed, >, 40);
  g_test_message ("%u placed", placed);
}

static void
names_the_figure_it_came_from (void)
{
  g_autoptr (AssayRun) run = plot_fixture_run ();
  g_autoptr (AssayPlotScene) scene = fixture_scene (run, ASSAY_FIGURE_MARGIN);
  g_autoptr (AssayPlotScene) again = assay_figure_from_ref (run, scene->id);
  g_assert_cmpstr (scene->id, ==, "numerics/margin/vocab/y");
  g_assert_nonnull (again);
  g_assert_cmpstr (again->title, ==, "Margin");
  g_assert_null (assay_figure_from_ref (run, "numerics/margin/elsewhere/y"));
  g_assert_null (assay_figure_from_ref (run, "numerics/none/vocab/y"));
  g_assert_nonnull (strstr (scene->description, "7 of 9 wrong ones are accepted"));
}

static void
verdicts_name_their_witnesses (void)
{
  g_autoptr (AssayRun) run = plot_fixture_run ();
  const AssayWorkloadRecord *workload = g_ptr_array_index (run->workloads, 0);
  AssayVerdict verdicts[ASSAY_N_QUESTIONS];
  assay_verdicts (run, workload, g_ptr_array_index (workload->outputs, 0), verdicts);
  const AssayVerdict *tolerance = &verdicts[ASSAY_QUESTION_TOLERANCE];
  g_assert_cmpstr (verdicts[ASSAY_QUESTION_CANDIDATE].word, ==, "Right");
  g_assert_cmpstr (tolerance->word, ==, "Too loose");
  g_assert_nonnull (strstr (tolerance->text, "Accepts 7 of 9 wrong answers"));
  g_assert_cmpint (tolerance->answer, ==, ASSAY_ANSWER_BAD);
  g_assert_nonnull (strstr (verdicts[ASSAY_QUESTION_REFERENCE].text, "at most 5.10 ulp"));
  g_assert_nonnull (strstr (verdicts[ASSAY_QUESTION_PLACE].text, "worst 13.5 ulp at [2, 3301]"));
  assay_verdicts_clear (verdicts);
}

static void
a_point_of_the_plane_counts_who_passes (void)
{
  g_autoptr (AssayRun) run = plot_fixture_run ();
  const AssayPlane *plane = assay_run_find_plane (run, "vocab", "y");
  AssayPlanePoint gate = assay_plane_at (plane, 1e-4, 1e-4);
  AssayPlanePoint proposed = assay_plane_at (plane, 2e-5, 1e-12);
  AssayPlanePoint nothing = assay_plane_at (plane, 1e-9, 1e-14);
  g_assert_cmpuint (gate.wrong, ==, 3);
  g_assert_cmpuint (gate.living, ==, 3);
  g_assert_cmpuint (gate.refused, ==, 0);
  g_assert_cmpstr (gate.living_names[1], ==, "zeros");
  g_assert_cmpuint (proposed.living, ==, 0);
  g_assert_cmpuint (proposed.refused, ==, 0);
  g_assert_cmpuint (nothing.honest, ==, 1);
  g_assert_cmpuint (nothing.refused, ==, 1);
  g_assert_true (nothing.reference_refused);
  g_assert_false (gate.reference_refused);
}

/* While a run streams in it has no name for its candidate yet. */
static void
a_run_without_names_draws_whole_tables (void)
{
  g_autoptr (AssayRun) run = plot_fixture_run ();
  g_clear_pointer (&run->candidate, g_free);
  for (int figure = 0; figure < ASSAY_N_FIGURES; figure++)
    {
      g_autoptr (AssayPlotScene) scene = fixture_scene (run, figure);
      g_assert_cmpuint (scene->rows->len, >, 0);
      for (guint i = 0; i < scene->rows->len; i++)
        g_assert_cmpuint (g_strv_length (g_ptr_array_index (scene->rows, i)), ==,
                          g_strv_length (scene->columns));
    }
}

/* Vectors stay vectors; two exports of one scene are the same bytes where the format has no date. */
static void
exports_are_complete_and_repeatable (void)
{
  static const char *const MAGIC[][2] = {
      {"png", "\x89PNG"}, {"svg", "<?xml"}, {"pdf", "%PDF"}, {"csv", "kind,answer"}};
  g_autoptr (AssayRun) run = plot_fixture_run ();
  g_autoptr (AssayPlotScene) scene = fixture_scene (run, ASSAY_FIGURE_MARGIN);
  g_autofree char *folder = g_dir_make_tmp ("assay-plot-XXXXXX", NULL);
  const char *keep = g_getenv ("ASSAY_KEEP_FIGURES");
  for (gsize i = 0; i < G_N_ELEMENTS (MAGIC); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *text = NULL;
      g_autofree char *path = g_strdup_printf ("%s/margin.%s", folder, MAGIC[i][0]);
      g_assert_true (assay_plot_export (scene, path, 520, 260, &error));
      g_assert_no_error (error);
      g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
      g_assert_true (strncmp (text, MAGIC[i][1], strlen (MAGIC[i][1])) == 0);
      if (g_str_equal (MAGIC[i][0], "svg"))
        g_assert_null (strstr (text, "<image"));
      g_remove (path);
    }
  for (int figure = 0; keep && figure < ASSAY_N_FIGURES; figure++)
    {
      g_autoptr (AssayPlotScene) each = fixture_scene (run, figure);
      g_autofree char *path = g_strdup_printf ("%s/figure-%d.png", keep, figure);
      g_assert_true (assay_plot_export (each, path, 520, 250, NULL));
    }
  g_assert_false (assay_plot_export (scene, "figure.bmp", 10, 10, NULL));
  g_rmdir (folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/plot/ticks-are-sorted-inside-and-unique", ticks_are_sorted_inside_and_unique);
  g_test_add_func ("/plot/positions-invert", positions_invert);
  g_test_add_func ("/plot/numbers-read-as-written", numbers_read_as_written);
  g_test_add_func ("/plot/cursor-finds-every-datum", cursor_finds_every_datum);
  g_test_add_func ("/plot/a-view-zooms-only-its-panel", a_view_zooms_only_its_panel);
  g_test_add_func ("/plot/names-the-figure-it-came-from", names_the_figure_it_came_from);
  g_test_add_func ("/plot/verdicts-name-their-witnesses", verdicts_name_their_witnesses);
  g_test_add_func ("/plot/a-point-of-the-plane-counts-who-passes",
                   a_point_of_the_plane_counts_who_passes);
  g_test_add_func ("/plot/a-run-without-names-draws-whole-tables",
                   a_run_without_names_draws_whole_tables);
  g_test_add_func ("/plot/exports-are-complete-and-repeatable",
                   exports_are_complete_and_repeatable);
  g_test_add_func ("/plot/ptx-lines-lead-to-the-source-and-back",
                   ptx_lines_lead_to_the_source_and_back);
  g_test_add_func ("/plot/ptx-lines-lead-to-the-source-and-back-sass",
                   machine_code_leads_to_the_source_and_back);
  g_test_add_func ("/plot/heat-adds-up-over-launches", heat_adds_up_over_launches);
  g_test_add_func ("/plot/words-of-regions-cover-no-mark", words_of_regions_cover_no_mark);
  return g_test_run ();
}
