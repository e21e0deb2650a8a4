/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/plot/draw-layers.h"

#include "engine/plot/text.h"

#include <math.h>

/* Boxes already taken: every mark, then every name as it is placed. */
typedef struct
{
  GArray *taken; /* AssayRect */
  const AssayRect *frame;
} Placing;

static gboolean
overlaps (const AssayRect *a, const AssayRect *b)
{
  return a->x < b->x + b->width && b->x < a->x + a->width && a->y < b->y + b->height
         && b->y < a->y + a->height;
}

static gboolean
is_free (const Placing *placing, const AssayRect *box)
{
  const AssayRect *f = placing->frame;
  if (box->x < f->x || box->x + box->width > f->x + f->width || box->y < f->y - 1
      || box->y + box->height > f->y + f->height + 1)
    return FALSE;
  for (guint i = 0; i < placing->taken->len; i++)
    if (overlaps (box, &g_array_index (placing->taken, AssayRect, i)))
      return FALSE;
  return TRUE;
}

static void
take_layer (Placing *placing, const AssayPlotStyle *style, const AssayPanelLayout *panel,
            const AssayLayer *layer)
{
  double r = 6.5 * style->scale;
  for (guint i = 0; layer->kind == ASSAY_LAYER_MARKS && i < layer->y->len; i++)
    {
      double x = assay_panel_layout_x (panel, g_array_index (layer->x0, double, i));
      double y = assay_panel_layout_y (panel, g_array_index (layer->y, double, i));
      AssayRect box = {x - r, y - r, 2 * r, 2 * r};
      if (isfinite (x) && isfinite (y))
        g_array_append_val (placing->taken, box);
    }
}

gboolean
assay_region_words (const AssayPlotStyle *style, const AssayPanelLayout *panel,
                    const AssayLayer *layer, const GPtrArray *layers, AssayRect *box)
{
  g_autoptr (GArray) taken = g_array_new (FALSE, FALSE, sizeof (AssayRect));
  Placing placing = {taken, &panel->frame};
  const AssayRect *f = &panel->frame;
  double width = 0, height = 0, s = style->scale;
  if (layer->kind != ASSAY_LAYER_REGION || layer->role == ASSAY_ROLE_REFERENCE || !layer->label)
    return FALSE;
  assay_text_size (style, ASSAY_TEXT_LABEL, layer->label, &width, &height);
  double left = MAX (f->x, assay_panel_layout_x (panel, layer->x)) + 6 * s;
  double right = MIN (f->x + f->width, assay_panel_layout_x (panel, layer->x_end)) - 6 * s;
  double bottom = f->y + f->height - height - 2 * s;
  for (guint l = 0; l < layers->len; l++)
    take_layer (&placing, style, panel, g_ptr_array_index (layers, l));
  for (double y = f->y + 2 * s; y <= bottom; y += 4 * s)
    for (double x = right - width; x >= left; x -= 6 * s)
      {
        *box = (AssayRect) {x, y, width, height};
        if (is_free (&placing, box))
          return TRUE;
      }
  return FALSE;
}

static void
take_marks (Placing *placing, const AssayPlotStyle *style, const AssayPanelLayout *panel,
            const GPtrArray *layers)
{
  for (guint l = 0; l < layers->len; l++)
    {
      const AssayLayer *layer = g_ptr_array_index (layers, l);
      AssayRect words;
      if (assay_region_words (style, panel, layer, layers, &words))
        g_array_append_val (placing->taken, words);
      take_layer (placing, style, panel, layer);
    }
}

/* Beside the mark, below, above: the first that is free; else the name is left to the cursor. A
 * filled mark was accepted and keeps its name on the accepted side, left of it. */
static void
place_name (Placing *placing, cairo_t *cr, const AssayPlotStyle *style, AssayColour colour,
            const char *name, double x, double y, gboolean filled)
{
  double width = 0, height = 0, r = 7.5 * style->scale;
  assay_text_size (style, ASSAY_TEXT_LABEL, name, &width, &height);
  double top = CLAMP (y - height / 2, placing->frame->y,
                      placing->frame->y + placing->frame->height - height);
  const AssayRect right = {x + r, top, width, height};
  const AssayRect left = {x - r - width, top, width, height};
  const AssayRect places[] = {
      filled ? left : right,
      {x - width / 2, y + r, width, height},
      {x - width / 2, y - r - height, width, height},
      filled ? right : left,
  };
  for (gsize i = 0; i < G_N_ELEMENTS (places); i++)
    if (is_free (placing, &places[i]))
      {
        g_array_append_val (placing->taken, places[i]);
        assay_text_draw_on_data (cr, style, ASSAY_TEXT_LABEL, colour, name, places[i].x,
                                 places[i].y, 0, 0);
        return;
      }
}

/* Witnesses first: wrong answers that the gate let through, and the candidate. */
static gboolean
is_first (const AssayLayer *layer, guint i)
{
  return layer->role == ASSAY_ROLE_CANDIDATE
         || (layer->role == ASSAY_ROLE_WRONG && g_array_index (layer->filled, gboolean, i));
}

void
assay_draw_mark_names (cairo_t *cr, const AssayPlotStyle *style, const AssayPanelLayout *panel,
                       const GPtrArray *layers)
{
  g_autoptr (GArray) taken = g_array_new (FALSE, FALSE, sizeof (AssayRect));
  Placing placing = {taken, &panel->frame};
  AssayColour text = assay_colour (style->theme, ASSAY_ROLE_TEXT);
  take_marks (&placing, style, panel, layers);
  for (guint n = 0; n < 2 * layers->len; n++)
    {
      const AssayLayer *layer = g_ptr_array_index (layers, n % layers->len);
      for (guint i = 0; layer->kind == ASSAY_LAYER_MARKS && i < layer->names->len; i++)
        {
          if (is_first (layer, i) != (n < layers->len))
            continue;
          const char *name = g_ptr_array_index (layer->names, i);
          double x = assay_panel_layout_x (panel, g_array_index (layer->x0, double, i));
          double y = assay_panel_layout_y (panel, g_array_index (layer->y, double, i));
          if (name && isfinite (x) && isfinite (y))
            place_name (&placing, cr, style, text, name, x, y,
                        g_array_index (layer->filled, gboolean, i));
        }
    }
}
