/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/times-card.h"

#include <math.h>

#include "engine/figures/times.h"
#include "engine/record/finding.h"
#include "widgets/badge.h"
#include "widgets/card.h"

static const AssayBadge *
badge_of (const AssayTiming *timing)
{
  if (g_strcmp0 (timing->verdict, "slower") == 0)
    return assay_badge_severity (ASSAY_SEVERITY_MINOR);
  if (g_strcmp0 (timing->verdict, "faster") == 0 || g_strcmp0 (timing->verdict, "equivalent") == 0)
    return assay_badge_status (ASSAY_STATUS_PASSED);
  return assay_badge_status (ASSAY_STATUS_SKIPPED);
}

static void
row_activated (GtkButton *button, AssayPlotWidget *plot)
{
  assay_plot_widget_set_scene (plot, g_object_get_data (G_OBJECT (button), "scene"), NULL);
}

static GtkWidget *
name_new (const AssayTiming *timing, AssayPlotScene *scene, AssayPlotWidget *plot)
{
  GtkWidget *button = gtk_button_new_with_label (timing->workload);

  gtk_widget_add_css_class (button, "flat");
  gtk_widget_set_halign (button, GTK_ALIGN_START);
  gtk_widget_set_tooltip_text (button, "Plot this workload's times");
  g_object_set_data_full (G_OBJECT (button), "scene", assay_plot_scene_ref (scene),
                          (GDestroyNotify) assay_plot_scene_unref);
  g_signal_connect_object (button, "clicked", G_CALLBACK (row_activated), plot, 0);
  return button;
}

/* Numbers are never cut. */
static GtkWidget *
number_new (const char *text)
{
  GtkWidget *label = assay_cell_new (text, "mono");

  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_NONE);
  return label;
}

/* Two lines a workload: the numbers, and what the verdict rests on. */
static void
add_row (GtkGrid *grid, AssayPlotWidget *plot, const AssayTiming *timing, int row,
         gboolean only_one)
{
  g_autoptr (AssayPlotScene) scene = assay_figure_times_scene (timing);
  g_autofree char *ours = g_strdup_printf ("%.4g", 1e6 * timing->candidate.median);
  g_autofree char *theirs = g_strdup_printf ("%.4g", 1e6 * timing->baseline.median);
  g_autofree char *ratio =
      g_strdup_printf ("%.4f [%.4f, %.4f]", timing->ratio, timing->low, timing->high);
  GtkWidget *why = assay_cell_new (timing->reason, "dim");
  GtkWidget *baseline = assay_cell_new (
      timing->against_itself ? "the candidate itself" : timing->baseline.name, NULL);
  GtkWidget *verdict = assay_chip_new (badge_of (timing), timing->verdict);

  gtk_widget_set_halign (verdict, GTK_ALIGN_START);
  gtk_widget_set_hexpand (why, TRUE);
  gtk_grid_attach (grid,
                   only_one || scene == NULL ? assay_cell_new (timing->workload, "name")
                                             : name_new (timing, scene, plot),
                   0, row, 1, 1);
  gtk_grid_attach (grid, number_new (ours), 1, row, 1, 1);
  gtk_grid_attach (grid, number_new (theirs), 2, row, 1, 1);
  gtk_grid_attach (grid, baseline, 3, row, 1, 1);
  gtk_grid_attach (grid, number_new (ratio), 4, row, 1, 1);
  gtk_grid_attach (grid, verdict, 5, row, 1, 1);
  gtk_grid_attach (grid, why, 1, row + 1, 5, 1);
  if (row == 1)
    assay_plot_widget_set_scene (plot, scene, "No samples were kept.");
}

void
assay_times_fill (GtkGrid *grid, AssayPlotWidget *plot, const AssayTimingSummary *benchmark)
{
  static const char *const heads[] = {"workload", "candidate, µs", "baseline, µs",
                                      "baseline", "ratio, 95 %",   "verdict"};

  assay_clear_children (GTK_WIDGET (grid));
  for (int i = 0; i < (int) G_N_ELEMENTS (heads); i++)
    gtk_grid_attach (grid, assay_cell_new (heads[i], "table-head"), i, 0, 1, 1);
  for (guint i = 0; i < benchmark->timings->len; i++)
    add_row (grid, plot, g_ptr_array_index (benchmark->timings, i), 2 * (int) i + 1,
             benchmark->timings->len == 1);
}

char *
assay_times_describe (const AssayTimingSummary *benchmark)
{
  const AssayTiming *first = g_ptr_array_index (benchmark->timings, 0);
  g_autoptr (GString) text = g_string_new (NULL);

  g_string_append_printf (text,
                          "%" G_GINT64_FORMAT " rounds in turn, %" G_GINT64_FORMAT
                          " samples a side each, cold cache",
                          first->rounds, first->samples);
  if (benchmark->timings->len > 1 && !isnan (benchmark->ratio))
    g_string_append_printf (text,
                            "; geometric mean of %" G_GINT64_FORMAT " ratios %.4f [%.4f, %.4f]",
                            benchmark->counted, benchmark->ratio, benchmark->low, benchmark->high);
  return g_string_free (g_steal_pointer (&text), FALSE);
}
