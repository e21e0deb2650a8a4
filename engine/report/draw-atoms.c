/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/report/draw-atoms.h"

#include "engine/plot/layout.h"

#include <pango/pangocairo.h>
#include <math.h>
#include <string.h>

static void
ink (cairo_t *cr, AssayRole role)
{
  AssayColour colour = assay_colour (ASSAY_THEME_PRINT, role);
  cairo_set_source_rgb (cr, colour.red, colour.green, colour.blue);
}

static PangoLayout *
cell (const AssayAtom *atom, guint i)
{
  return g_ptr_array_index (atom->layouts, i);
}

static void
show (cairo_t *cr, PangoLayout *layout, AssayRole role, double x, double y)
{
  ink (cr, role);
  cairo_move_to (cr, x, y);
  pango_cairo_show_layout (cr, layout);
}

static void
rule (cairo_t *cr, AssayRole role, double x, double y, double width, double thickness)
{
  ink (cr, role);
  cairo_set_line_width (cr, thickness);
  cairo_move_to (cr, x, y);
  cairo_line_to (cr, x + width, y);
  cairo_stroke (cr);
}

void
assay_draw_text_line (const AssayAtom *atom, cairo_t *cr, double x, double y, double width)
{
  PangoLayoutLine *line = pango_layout_get_line_readonly (cell (atom, 0), (int) atom->row);
  PangoRectangle logical;
  pango_layout_line_get_extents (line, NULL, &logical);
  gboolean caption = g_str_equal (atom->tag, "Caption");
  ink (cr, caption ? ASSAY_ROLE_DIM : ASSAY_ROLE_TEXT);
  cairo_move_to (cr, x, y - (double) logical.y / PANGO_SCALE);
  pango_cairo_show_layout_line (cr, line);
}

void
assay_draw_title (const AssayAtom *atom, cairo_t *cr, double x, double y, double width)
{
  double box = 96, right = x + width - box;
  show (cr, cell (atom, 0), ASSAY_ROLE_TEXT, x, y);
  show (cr, cell (atom, 1), ASSAY_ROLE_DIM, x, y + assay_layout_height (cell (atom, 0)) + 2);
  ink (cr, ASSAY_ROLE_TEXT);
  cairo_set_line_width (cr, 1);
  cairo_rectangle (cr, right + 0.5, y + 0.5, box - 1, 32);
  cairo_stroke (cr);
  show (cr, cell (atom, 3), ASSAY_ROLE_DIM, right + (box - assay_layout_width (cell (atom, 3))) / 2,
        y + 4);
  show (cr, cell (atom, 2), ASSAY_ROLE_TEXT,
        right + (box - assay_layout_width (cell (atom, 2))) / 2, y + 14);
}

void
assay_draw_heading (const AssayAtom *atom, cairo_t *cr, double x, double y, double width)
{
  double note = assay_layout_width (cell (atom, 1));
  double below = assay_layout_height (cell (atom, 0)) - assay_layout_height (cell (atom, 1)) - 1;
  show (cr, cell (atom, 0), ASSAY_ROLE_TEXT, x, y);
  show (cr, cell (atom, 1), ASSAY_ROLE_DIM, x + width - note, y + below);
}

void
assay_draw_facts (const AssayAtom *atom, cairo_t *cr, double x, double y, double width)
{
  for (guint i = 0; i + 1 < atom->layouts->len; i += 2)
    {
      double left = x + (i / 2) * width / 2;
      show (cr, cell (atom, i), ASSAY_ROLE_DIM, left, y);
      show (cr, cell (atom, i + 1), ASSAY_ROLE_TEXT, left + 66, y);
    }
}

static void
draw_cells (const AssayAtom *atom, cairo_t *cr, double x, double y, double width, AssayRole role)
{
  double total = 0;
  for (guint i = 0; i < atom->block->weights->len; i++)
    total += g_array_index (atom->block->weights, double, i);
  for (guint i = 0; i < atom->layouts->len; i++)
    {
      show (cr, cell (atom, i), role, x, y + 3);
      x += width * g_array_index (atom->block->weights, double, i) / total;
    }
}

void
assay_draw_table_head (const AssayAtom *atom, cairo_t *cr, double x, double y, double width)
{
  draw_cells (atom, cr, x, y, width, ASSAY_ROLE_DIM);
  rule (cr, ASSAY_ROLE_TEXT, x, y + atom->height, width, 0.8);
}

void
assay_draw_table_row (const AssayAtom *atom, cairo_t *cr, double x, double y, double width)
{
  draw_cells (atom, cr, x, y, width, ASSAY_ROLE_TEXT);
  rule (cr, ASSAY_ROLE_GRID, x, y + atom->height, width, 0.6);
}

/* ✓, a triangle, ✕ or a dash, so that the tone is not in the colour alone. */
static void
draw_tone (cairo_t *cr, const char *tone, double x, double y)
{
  cairo_set_line_width (cr, 1.4);
  if (g_str_equal (tone, "good"))
    {
      ink (cr, ASSAY_ROLE_ACCEPTED);
      cairo_move_to (cr, x, y + 4);
      cairo_line_to (cr, x + 2.6, y + 6.8);
      cairo_line_to (cr, x + 7.4, y + 1.2);
      cairo_stroke (cr);
    }
  else if (g_str_equal (tone, "between"))
    {
      cairo_set_source_rgb (cr, 0x8a / 255.0, 0x61 / 255.0, 0);
      cairo_move_to (cr, x + 3.8, y + 0.6);
      cairo_line_to (cr, x + 7.8, y + 7.4);
      cairo_line_to (cr, x - 0.2, y + 7.4);
      cairo_close_path (cr);
      cairo_fill (cr);
    }
  else if (g_str_equal (tone, "bad"))
    {
      ink (cr, ASSAY_ROLE_REJECTED);
      cairo_move_to (cr, x + 0.8, y + 1);
      cairo_line_to (cr, x + 6.8, y + 7);
      cairo_move_to (cr, x + 6.8, y + 1);
      cairo_line_to (cr, x + 0.8, y + 7);
      cairo_stroke (cr);
    }
  else
    rule (cr, ASSAY_ROLE_DIM, x + 1, y + 4, 6, 1.2);
}

/* Each score as a row of boxes, filled up to the score. */
static void
draw_scores (cairo_t *cr, const char *digits, int most, double x, double y)
{
  g_auto (GStrv) scores = g_strsplit (digits, " ", -1);
  for (char **score = scores; *score; score++)
    {
      gint64 level = g_ascii_strtoll (*score, NULL, 10);
      for (int i = 1; i <= most; i++)
        {
          ink (cr, i <= level ? ASSAY_ROLE_TEXT : ASSAY_ROLE_GRID);
          cairo_rectangle (cr, x, y, 3.6, 7);
          cairo_fill (cr);
          x += 4.4;
        }
      x += 5;
    }
}

void
assay_draw_verdict (const AssayAtom *atom, cairo_t *cr, double x, double y, double width)
{
  char **row = g_ptr_array_index (atom->block->rows, atom->row);
  show (cr, cell (atom, 0), ASSAY_ROLE_TEXT, x, y + 1.5);
  draw_tone (cr, row[4], x + width * 0.17, y + 4.5);
  show (cr, cell (atom, 1), ASSAY_ROLE_TEXT, x + width * 0.17 + 14, y + 1.5);
  draw_scores (cr, row[2], atom->block->level, x + width * 0.45, y + 4.5);
  show (cr, cell (atom, 2), ASSAY_ROLE_TEXT, x + width * 0.63, y + 2.5);
  rule (cr, ASSAY_ROLE_GRID, x, y + atom->height, width, 0.6);
}

void
assay_draw_figure (const AssayAtom *atom, cairo_t *cr, double x, double y, double width)
{
  AssayPlotStyle style = assay_plot_style (ASSAY_THEME_PRINT);
  style.scale = 0.72;
  g_autoptr (AssayPlotLayout) layout =
      assay_plot_layout_new (atom->block->scene, &style, width, atom->height, NULL);
  cairo_save (cr);
  cairo_translate (cr, x, y);
  assay_plot_layout_draw (layout, cr);
  cairo_restore (cr);
}

void
assay_draw_code_line (const AssayAtom *atom, cairo_t *cr, double x, double y, double width)
{
  double number = assay_layout_width (cell (atom, 1));
  double caption = atom->layouts->len > 2 ? assay_layout_height (cell (atom, 2)) + 2 : 0;
  cairo_set_source_rgb (cr, 0.957, 0.953, 0.949);
  cairo_rectangle (cr, x, y - (atom->row == 0 ? 3 : 0), width,
                   atom->height + (atom->row == 0 ? 3 : 0) + (atom->last ? 3 : 0.3));
  cairo_fill (cr);
  show (cr, cell (atom, 1), ASSAY_ROLE_DIM, x + 26 - number, y + caption + 1);
  show (cr, cell (atom, 0), ASSAY_ROLE_TEXT, x + 34, y + caption + 1);
  if (caption > 0)
    show (cr, cell (atom, 2), ASSAY_ROLE_DIM, x + 34, y);
}

void
assay_draw_finding (const AssayAtom *atom, cairo_t *cr, double x, double y, double width)
{
  static const double COLOURS[][3] = {{0xb5 / 255.0, 0x46 / 255.0, 0},
                                      {0x8a / 255.0, 0x61 / 255.0, 0},
                                      {0x55 / 255.0, 0x62 / 255.0, 0x6b / 255.0},
                                      {0x1b / 255.0, 0x63 / 255.0, 0xb8 / 255.0}};
  static const int CORNERS[] = {8, 3, 4, 24}; /* octagon, triangle, diamond, circle */
  const double *colour = COLOURS[atom->block->level];
  int corners = CORNERS[atom->block->level];
  double cx = x + 6, cy = y + 7.5, turn = corners == 8 ? G_PI / 8 : -G_PI / 2;
  cairo_new_path (cr);
  for (int i = 0; i < corners; i++)
    {
      double angle = turn + 2 * G_PI * i / corners;
      cairo_line_to (cr, cx + 5 * cos (angle), cy + 5 * sin (angle));
    }
  cairo_close_path (cr);
  cairo_set_source_rgb (cr, colour[0], colour[1], colour[2]);
  cairo_fill (cr);
  show (cr, cell (atom, 0), ASSAY_ROLE_TEXT, x + 18, y);
  show (cr, cell (atom, 1), ASSAY_ROLE_DIM, x + 18, y + assay_layout_height (cell (atom, 0)) + 1);
}
