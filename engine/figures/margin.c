/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/figures/margin.h"

#include "engine/figures/figures.h"

#include <math.h>

static const struct
{
  const char *row;
  const char *legend;
  AssayRole role;
  AssayMark mark;
} KINDS[] = {
    [ASSAY_PROBE_REFERENCE] = {"reference", "reference", ASSAY_ROLE_REFERENCE, ASSAY_MARK_SQUARE},
    [ASSAY_PROBE_HONEST] = {"honest", "honest variant", ASSAY_ROLE_HONEST, ASSAY_MARK_CIRCLE},
    [ASSAY_PROBE_DOWNGRADE] = {"downgrades", "wrong on purpose", ASSAY_ROLE_WRONG,
                               ASSAY_MARK_DIAMOND},
    [ASSAY_PROBE_TRIVIAL] = {"trivial", "wrong on purpose", ASSAY_ROLE_WRONG, ASSAY_MARK_DIAMOND},
    [ASSAY_PROBE_MUTANT] = {"mutants", "wrong on purpose", ASSAY_ROLE_WRONG, ASSAY_MARK_DIAMOND},
};

typedef struct
{
  int kind;
  const char *name;
  double margin;
  gboolean accepted;
  double max_abs;
  gboolean is_candidate;
} Entry;

static void
collect (GArray *entries, const AssayRun *run, const AssayWorkloadRecord *workload,
         const AssayOutput *output)
{
  const AssayComparison *own = output->comparison;
  Entry candidate = {ASSAY_PROBE_HONEST, assay_run_candidate_name (run),
                     own->margin,        own->accepted,
                     own->max_abs.value, TRUE};
  g_array_append_val (entries, candidate);
  const AssayComparison *reference = output->gold ? output->gold->reference : NULL;
  if (reference && isfinite (reference->margin))
    {
      Entry entry = {ASSAY_PROBE_REFERENCE,    "reference", reference->margin, reference->accepted,
                     reference->max_abs.value, FALSE};
      g_array_append_val (entries, entry);
    }
  for (guint i = 0; run->audit && i < run->audit->probes->len; i++)
    {
      const AssayProbe *probe = g_ptr_array_index (run->audit->probes, i);
      Entry entry = {probe->kind,     probe->name,    probe->margin,
                     probe->accepted, probe->max_abs, FALSE};
      if (g_strcmp0 (probe->workload, workload->name) == 0
          && g_strcmp0 (probe->output, output->name) == 0)
        g_array_append_val (entries, entry);
    }
}

/* Ends of the axis, in decades, around every finite margin and the gate. */
static void
range_of (const GArray *entries, double *low, double *high)
{
  double least = 1.0, most = 1.0;
  for (guint i = 0; i < entries->len; i++)
    {
      double margin = g_array_index (entries, Entry, i).margin;
      if (margin > 0 && isfinite (margin))
        {
          least = fmin (least, margin);
          most = fmax (most, margin);
        }
    }
  *low = pow (10.0, floor (fmax (log10 (least), -14.0) - 0.5));
  *high = pow (10.0, ceil (fmin (log10 (most), 14.0) + 0.8));
}

/* A zero error stands at the left end, a hopeless one at the right. */
static double
place_of (const Entry *entry, double low, double high)
{
  if (isnan (entry->margin))
    return NAN;
  return CLAMP (entry->margin, low * 1.5, high / 1.5);
}

static void
add_entry (AssayPlotScene *scene, AssayLayer *layer, const Entry *entry, double row, double low,
           double high)
{
  double x = place_of (entry, low, high);
  if (isnan (x))
    return;
  g_autofree char *margin = assay_format_number (entry->margin, 3);
  g_autofree char *error = assay_format_number (entry->max_abs, 3);
  g_autofree char *detail =
      g_strdup_printf ("%s\n%s × the tolerance\nlargest error %s",
                       entry->accepted ? "accepted" : "rejected", margin, error);
  assay_layer_add_mark (layer, x, row, entry->accepted, entry->name);
  assay_plot_scene_add_datum (scene, 0, x, x, row, entry->name, detail, -1);
  char *cells[] = {(char *) (entry->is_candidate ? "candidate" : KINDS[entry->kind].row),
                   (char *) entry->name,
                   (char *) (entry->accepted ? "accepted" : "rejected"),
                   NULL,
                   NULL,
                   NULL};
  char **copy = g_new0 (char *, 6);
  for (int i = 0; i < 3; i++)
    copy[i] = g_strdup (cells[i]);
  copy[3] = assay_double_to_string (entry->margin);
  copy[4] = assay_double_to_string (entry->max_abs);
  assay_plot_scene_add_row (scene, copy);
}

static void
add_regions (AssayPanel *panel, double low, double high)
{
  AssayLayer *accepted =
      assay_panel_add (panel, ASSAY_LAYER_REGION, ASSAY_ROLE_ACCEPTED_GROUND, "accepted");
  AssayLayer *rejected =
      assay_panel_add (panel, ASSAY_LAYER_REGION, ASSAY_ROLE_REJECTED_GROUND, "rejected");
  accepted->x = low;
  accepted->x_end = rejected->x = 1.0;
  rejected->x_end = high;
  assay_panel_add (panel, ASSAY_LAYER_RULE, ASSAY_ROLE_ACCEPTED, NULL)->x = 1.0;
}

static char *
describe (const GArray *entries)
{
  guint wrong = 0, living = 0, honest = 0, refused = 0;
  for (guint i = 0; i < entries->len; i++)
    {
      const Entry *entry = &g_array_index (entries, Entry, i);
      gboolean right = entry->kind == ASSAY_PROBE_HONEST;
      if (entry->kind == ASSAY_PROBE_REFERENCE)
        continue; /* judged by itself, and not among the right answers */
      wrong += !right;
      living += !right && entry->accepted;
      honest += right && !entry->is_candidate;
      refused += right && !entry->is_candidate && !entry->accepted;
    }
  return g_strdup_printf ("Planted answers against the gate: %u of %u wrong ones are accepted, %u "
                          "of %u right ones are rejected. Filled marks pass the gate.",
                          living, wrong, refused, honest);
}

AssayPlotScene *
assay_figure_margin_scene (const char *id, const AssayRun *run, const AssayWorkloadRecord *workload,
                           const AssayOutput *output)
{
  static const char *const COLUMNS[] = {
      "kind", "answer", "verdict", "factor on the tolerance", "largest error", NULL};
  g_autoptr (GArray) entries = g_array_new (FALSE, FALSE, sizeof (Entry));
  double low = 0, high = 0, rows[G_N_ELEMENTS (KINDS)];
  guint n_rows = 0;
  const char *labels[G_N_ELEMENTS (KINDS) + 1] = {NULL};
  collect (entries, run, workload, output);
  range_of (entries, &low, &high);
  AssayPlotScene *scene = assay_plot_scene_new (id, "Margin");
  AssayPanel *panel = assay_plot_scene_add_panel (scene, 1.0);
  g_autofree char *rule = assay_tolerance_describe (output->tolerance);
  scene->subtitle = g_strdup (rule);
  assay_axis_set (&panel->x, ASSAY_SCALE_LOG, low, high,
                  "factor on the tolerance; gate at 1; filled = accepted");
  assay_plot_scene_set_columns (scene, COLUMNS);
  add_regions (panel, low, high);
  for (gsize kind = 0; kind < G_N_ELEMENTS (KINDS); kind++)
    {
      AssayLayer *layer = NULL, *own = NULL;
      for (guint i = 0; i < entries->len; i++)
        {
          const Entry *entry = &g_array_index (entries, Entry, i);
          if (entry->kind != (int) kind)
            continue;
          if (!layer && !own)
            {
              labels[n_rows] = KINDS[kind].row;
              rows[kind] = n_rows++;
            }
          AssayLayer **target = entry->is_candidate ? &own : &layer;
          if (!*target)
            {
              *target =
                  assay_panel_add (panel, ASSAY_LAYER_MARKS,
                                   entry->is_candidate ? ASSAY_ROLE_CANDIDATE : KINDS[kind].role,
                                   entry->is_candidate ? "candidate" : KINDS[kind].legend);
              (*target)->mark = KINDS[kind].mark;
            }
          add_entry (scene, *target, entry, rows[kind], low, high);
        }
    }
  assay_axis_set_categories (&panel->y, labels);
  panel->y.min -= 0.6; /* room for the words of the two regions */
  panel->y.reversed = TRUE;
  scene->description = describe (entries);
  return scene;
}
