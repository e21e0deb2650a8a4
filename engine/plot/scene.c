/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/plot/scene.h"

#include <math.h>
#include <string.h>

static void
layer_free (gpointer data)
{
  AssayLayer *layer = data;
  g_free (layer->label);
  g_array_unref (layer->x0);
  g_array_unref (layer->x1);
  g_array_unref (layer->y);
  g_array_unref (layer->filled);
  g_ptr_array_unref (layer->names);
  g_free (layer);
}

static void
axis_clear (AssayAxis *axis)
{
  g_clear_pointer (&axis->title, g_free);
  g_clear_pointer (&axis->categories, g_strfreev);
}

static void
panel_free (gpointer data)
{
  AssayPanel *panel = data;
  axis_clear (&panel->x);
  axis_clear (&panel->y);
  g_ptr_array_unref (panel->layers);
  g_free (panel);
}

static void
datum_clear (gpointer data)
{
  AssayDatum *datum = data;
  g_free (datum->heading);
  g_free (datum->detail);
}

AssayPlotScene *
assay_plot_scene_new (const char *id, const char *title)
{
  AssayPlotScene *scene = g_new0 (AssayPlotScene, 1);
  g_atomic_ref_count_init (&scene->references);
  scene->id = g_strdup (id);
  scene->title = g_strdup (title);
  scene->panels = g_ptr_array_new_with_free_func (panel_free);
  scene->data = g_array_new (FALSE, FALSE, sizeof (AssayDatum));
  g_array_set_clear_func (scene->data, datum_clear);
  scene->rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  return scene;
}

AssayPlotScene *
assay_plot_scene_ref (AssayPlotScene *scene)
{
  g_atomic_ref_count_inc (&scene->references);
  return scene;
}

void
assay_plot_scene_unref (AssayPlotScene *scene)
{
  if (!g_atomic_ref_count_dec (&scene->references))
    return;
  g_free (scene->id);
  g_free (scene->title);
  g_free (scene->subtitle);
  g_free (scene->description);
  g_ptr_array_unref (scene->panels);
  g_array_unref (scene->data);
  g_strfreev (scene->columns);
  g_ptr_array_unref (scene->rows);
  g_free (scene);
}

AssayPanel *
assay_plot_scene_add_panel (AssayPlotScene *scene, double weight)
{
  AssayPanel *panel = g_new0 (AssayPanel, 1);
  panel->weight = weight;
  panel->own_y = scene->panels->len == 0;
  panel->layers = g_ptr_array_new_with_free_func (layer_free);
  g_ptr_array_add (scene->panels, panel);
  return panel;
}

void
assay_axis_set (AssayAxis *axis, AssayScale scale, double min, double max, const char *title)
{
  axis->scale = scale;
  axis->min = min;
  axis->max = max;
  g_free (axis->title);
  axis->title = g_strdup (title);
}

void
assay_axis_set_categories (AssayAxis *axis, const char *const *labels)
{
  g_strfreev (axis->categories);
  axis->categories = g_strdupv ((char **) labels);
  axis->scale = ASSAY_SCALE_CATEGORY;
  axis->min = -0.5;
  axis->max = g_strv_length (axis->categories) - 0.5;
}

AssayLayer *
assay_panel_add (AssayPanel *panel, AssayLayerKind kind, AssayRole role, const char *label)
{
  AssayLayer *layer = g_new0 (AssayLayer, 1);
  layer->kind = kind;
  layer->role = role;
  layer->label = g_strdup (label);
  layer->x0 = g_array_new (FALSE, FALSE, sizeof (double));
  layer->x1 = g_array_new (FALSE, FALSE, sizeof (double));
  layer->y = g_array_new (FALSE, FALSE, sizeof (double));
  layer->filled = g_array_new (FALSE, FALSE, sizeof (gboolean));
  layer->names = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (panel->layers, layer);
  return layer;
}

double
assay_layer_edge (const AssayAxis *axis, double first, double size, double i)
{
  if (axis->scale != ASSAY_SCALE_LOG)
    return first + i * size;
  return (first > 0 ? first : 1) * pow (size, i);
}

int
assay_layer_cell (const AssayAxis *axis, double first, double size, double value)
{
  if (axis->scale != ASSAY_SCALE_LOG)
    return (int) floor ((value - first) / size);
  return (int) floor (log (value / (first > 0 ? first : 1)) / log (size));
}

void
assay_layer_add_tint (AssayLayer *layer, AssayRole role, double alpha)
{
  int kind = role;
  assay_layer_add_bin (layer, 0, 0, alpha);
  g_array_append_val (layer->filled, kind);
}

void
assay_layer_add_bin (AssayLayer *layer, double x0, double x1, double y)
{
  g_array_append_val (layer->x0, x0);
  g_array_append_val (layer->x1, x1);
  g_array_append_val (layer->y, y);
}

void
assay_layer_add_mark (AssayLayer *layer, double x, double y, gboolean filled, const char *name)
{
  assay_layer_add_bin (layer, x, x, y);
  g_array_append_val (layer->filled, filled);
  g_ptr_array_add (layer->names, g_strdup (name));
}

void
assay_plot_scene_add_datum (AssayPlotScene *scene, guint panel, double x0, double x1, double y,
                            const char *heading, const char *detail, gint64 payload)
{
  AssayDatum datum = {panel, x0, x1, y, g_strdup (heading), g_strdup (detail), payload};
  g_array_append_val (scene->data, datum);
}

void
assay_plot_scene_set_columns (AssayPlotScene *scene, const char *const *columns)
{
  g_strfreev (scene->columns);
  scene->columns = g_strdupv ((char **) columns);
}

void
assay_plot_scene_add_row (AssayPlotScene *scene, GStrv cells)
{
  g_return_if_fail (g_strv_length (cells) == g_strv_length (scene->columns));
  g_ptr_array_add (scene->rows, cells);
}

static void
csv_line (GString *out, GStrv cells)
{
  for (char **cell = cells; cell && *cell; cell++)
    {
      if (cell != cells)
        g_string_append_c (out, ',');
      if (!strpbrk (*cell, ",\"\r\n"))
        {
          g_string_append (out, *cell);
          continue;
        }
      g_string_append_c (out, '"');
      for (const char *c = *cell; *c; c++)
        g_string_append (out, *c == '"' ? "\"\"" : (char[]) {*c, 0});
      g_string_append_c (out, '"');
    }
  g_string_append (out, "\r\n");
}

char *
assay_plot_scene_csv (const AssayPlotScene *scene)
{
  GString *out = g_string_new (NULL);
  csv_line (out, scene->columns);
  for (guint i = 0; i < scene->rows->len; i++)
    csv_line (out, g_ptr_array_index (scene->rows, i));
  return g_string_free (out, FALSE);
}
