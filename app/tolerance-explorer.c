/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/tolerance-explorer.h"

#include "engine/figures/figures.h"
#include "engine/figures/plane.h"
#include "widgets/card.h"

#include <math.h>

struct _AssayToleranceExplorer
{
  GtkWidget parent;
  GtkWidget *box;
  AssayPlotWidget *plot;
  GtkGrid *facts;
  GtkLabel *rtol, *atol, *share, *living, *refused, *headroom, *living_names;
  GtkLabel *proposal;
  GtkButton *use;
  GtkWidget *share_name;
  GtkLabel *where;
  AssayRunModel *run; /* keeps `plane` */
  const AssayPlane *plane;
  char *shown; /* scene the point belongs to */
};

G_DEFINE_FINAL_TYPE (AssayToleranceExplorer, assay_tolerance_explorer, GTK_TYPE_WIDGET)

static void
set_number (GtkLabel *label, double value, int digits)
{
  g_autofree char *text = isnan (value) ? g_strdup ("–") : assay_format_number (value, digits);
  g_autofree char *full = g_strdup_printf ("%.17g", value);

  gtk_label_set_text (label, text);
  gtk_widget_set_tooltip_text (GTK_WIDGET (label), full);
}

static void
set_share (GtkLabel *label, guint part, guint whole)
{
  g_autofree char *text = g_strdup_printf ("%u of %u", part, whole);

  gtk_label_set_text (label, text);
  gtk_widget_remove_css_class (GTK_WIDGET (label), part > 0 ? "passed" : "failed");
  gtk_widget_add_css_class (GTK_WIDGET (label), part > 0 ? "failed" : "passed");
}

static void
show_point (AssayToleranceExplorer *self)
{
  g_autoptr (GString) names = g_string_new (NULL);
  AssayPlanePoint point;
  double rtol, atol;

  if (self->plane == NULL || !assay_plot_widget_get_point (self->plot, &rtol, &atol))
    return;
  point = assay_plane_at (self->plane, rtol, atol);
  set_number (self->rtol, rtol, 2);
  set_number (self->atol, atol, 2);
  set_number (self->share, point.share, 4);
  gtk_widget_set_visible (self->share_name, !isnan (point.share));
  gtk_widget_set_visible (GTK_WIDGET (self->share), !isnan (point.share));
  set_share (self->living, point.living, point.wrong);
  set_share (self->refused, point.refused, point.honest);
  for (guint i = 0; i < G_N_ELEMENTS (point.living_names) && i < point.living; i++)
    g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", point.living_names[i]);
  if (point.living > G_N_ELEMENTS (point.living_names))
    g_string_append (names, " …");
  gtk_label_set_text (self->living_names, names->str);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->living_names), names->str);
}

static void
use_proposed (AssayToleranceExplorer *self)
{
  if (self->plane == NULL)
    return;
  assay_plot_widget_set_point (self->plot, self->plane->proposed_rtol, self->plane->proposed_atol);
  show_point (self);
}

static void
point_moved (AssayToleranceExplorer *self)
{
  show_point (self);
}

/* The point starts on the gate, and stays where the reader left it while the same output is shown. */
static void
place_point (AssayToleranceExplorer *self, AssayPlotScene *scene, const AssayTolerance *tolerance)
{
  double rtol, atol;

  if (g_strcmp0 (self->shown, scene->id) == 0
      && assay_plot_widget_get_point (self->plot, &rtol, &atol))
    return;
  g_free (self->shown);
  self->shown = g_strdup (scene->id);
  rtol = g_array_index (self->plane->rtol, double, 0);
  assay_plot_widget_set_point (self->plot, tolerance != NULL ? fmax (tolerance->rtol, rtol) : rtol,
                               tolerance != NULL ? fmax (tolerance->atol, 1e-14) : 1e-14);
}

/* The rule behind the proposal; and, where the task's own is no plain allclose, that this plane is. */
static char *
proposal_text (AssayToleranceExplorer *self, const AssayTolerance *tolerance)
{
  const char *proposal = self->plane != NULL ? self->plane->proposal : NULL;
  gboolean plain = tolerance == NULL
                   || (tolerance->rule == ASSAY_RULE_ALLCLOSE && tolerance->matched_ratio >= 1
                       && isnan (tolerance->max_error_cap)
                       && tolerance->relative_to == ASSAY_RELATIVE_TO_REFERENCE);
  g_autofree char *rule = plain ? NULL : assay_tolerance_describe (tolerance);

  if (plain)
    return g_strdup (proposal != NULL ? proposal : "");
  return g_strdup_printf ("Here as allclose on every element; the task's own rule is %s. %s", rule,
                          proposal != NULL ? proposal : "");
}

static void
show_words (AssayToleranceExplorer *self, const AssayOutput *output)
{
  gboolean proposed = self->plane != NULL && !isnan (self->plane->proposed_rtol)
                      && !isnan (self->plane->proposed_atol);

  g_autofree char *text = proposal_text (self, output != NULL ? output->tolerance : NULL);
  gtk_label_set_text (self->proposal, text);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->proposal), gtk_label_get_text (self->proposal));
  gtk_widget_set_visible (GTK_WIDGET (self->use), proposed);
  set_number (
      self->headroom,
      output != NULL && output->comparison != NULL ? output->comparison->headroom_bits : NAN, 3);
}

/* The answers above the plots count over all workloads, this plane is of one. */
static void
show_where (AssayToleranceExplorer *self, const char *workload, const AssayRun *record)
{
  g_autofree char *text = workload == NULL || record->workloads->len < 2
                              ? g_strdup ("At the point")
                              : g_strdup_printf ("At the point, on %s alone", workload);

  gtk_widget_set_visible (GTK_WIDGET (self->where), workload != NULL);
  gtk_label_set_text (self->where, text);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->where), text);
}

void
assay_tolerance_explorer_show (AssayToleranceExplorer *self, AssayRunModel *run,
                               const char *workload, const char *output, AssayPlotScene *scene,
                               const char *why)
{
  const AssayRun *record = run != NULL ? assay_run_model_get (run) : NULL;
  const AssayWorkloadRecord *of =
      record != NULL && workload != NULL ? assay_run_find_workload (record, workload) : NULL;
  const AssayOutput *shown = of != NULL ? assay_workload_find_output (of, output) : NULL;

  g_return_if_fail (ASSAY_IS_TOLERANCE_EXPLORER (self));
  g_set_object (&self->run, run);
  self->plane =
      scene != NULL && record != NULL ? assay_run_find_plane (record, workload, output) : NULL;
  if (self->plane == NULL)
    scene = NULL;
  assay_plot_widget_set_scene (self->plot, scene, why);
  gtk_widget_set_visible (GTK_WIDGET (self->facts), scene != NULL);
  show_where (self, scene != NULL ? workload : NULL, record);
  if (scene != NULL)
    {
      place_point (self, scene, shown != NULL ? shown->tolerance : NULL);
      show_point (self);
    }
  else
    assay_plot_widget_set_point (self->plot, NAN, NAN);
  show_words (self, shown);
}

AssayPlotWidget *
assay_tolerance_explorer_get_plot (AssayToleranceExplorer *self)
{
  return self->plot;
}

static void
assay_tolerance_explorer_dispose (GObject *object)
{
  AssayToleranceExplorer *self = ASSAY_TOLERANCE_EXPLORER (object);

  g_clear_pointer (&self->box, gtk_widget_unparent);
  g_clear_object (&self->run);
  g_clear_pointer (&self->shown, g_free);
  G_OBJECT_CLASS (assay_tolerance_explorer_parent_class)->dispose (object);
}

static void
assay_tolerance_explorer_class_init (AssayToleranceExplorerClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = assay_tolerance_explorer_dispose;
  g_type_ensure (ASSAY_TYPE_PLOT_WIDGET);
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/assay/Assay/ui/tolerance-explorer.ui");
  gtk_widget_class_bind_template_child (widget_class, AssayToleranceExplorer, box);
  gtk_widget_class_bind_template_child (widget_class, AssayToleranceExplorer, plot);
  gtk_widget_class_bind_template_child (widget_class, AssayToleranceExplorer, facts);
  gtk_widget_class_bind_template_child (widget_class, AssayToleranceExplorer, rtol);
  gtk_widget_class_bind_template_child (widget_class, AssayToleranceExplorer, atol);
  gtk_widget_class_bind_template_child (widget_class, AssayToleranceExplorer, share);
  gtk_widget_class_bind_template_child (widget_class, AssayToleranceExplorer, living);
  gtk_widget_class_bind_template_child (widget_class, AssayToleranceExplorer, living_names);
  gtk_widget_class_bind_template_child (widget_class, AssayToleranceExplorer, refused);
  gtk_widget_class_bind_template_child (widget_class, AssayToleranceExplorer, headroom);
  gtk_widget_class_bind_template_child (widget_class, AssayToleranceExplorer, proposal);
  gtk_widget_class_bind_template_child (widget_class, AssayToleranceExplorer, use);
  gtk_widget_class_bind_template_child (widget_class, AssayToleranceExplorer, share_name);
  gtk_widget_class_bind_template_child (widget_class, AssayToleranceExplorer, where);
  gtk_widget_class_bind_template_callback (widget_class, use_proposed);
  gtk_widget_class_bind_template_callback (widget_class, point_moved);
}

static void
assay_tolerance_explorer_init (AssayToleranceExplorer *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  gtk_widget_remove_css_class (GTK_WIDGET (self->plot), "card");
}
