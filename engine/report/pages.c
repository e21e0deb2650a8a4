/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/report/flow.h"

#include <pango/pangocairo.h>

#define MARGIN 59.5 /* 21 mm */
#define HEAD 74.0   /* where text begins */
#define FOOT 792.0  /* where it ends */

typedef struct
{
  guint page;
  double y;
} Place;

struct _AssayPages
{
  const AssayDocument *report;
  GPtrArray *atoms; /* AssayAtom * */
  GArray *places;   /* Place, one an atom */
  guint count;
};

/* Height of the atoms from `first` that must stay together. */
static double
together (const AssayPages *pages, guint first, guint *end)
{
  double height = 0;
  guint i = first;
  for (; i < pages->atoms->len; i++)
    {
      const AssayAtom *atom = g_ptr_array_index (pages->atoms, i);
      height += atom->height + (i > first ? atom->gap : 0);
      if (!atom->keep_next)
        break;
    }
  *end = MIN (i + 1, pages->atoms->len);
  return height;
}

static void
paginate (AssayPages *pages)
{
  double y = HEAD;
  guint page = 0;
  for (guint i = 0; i < pages->atoms->len;)
    {
      guint end = i;
      double height = together (pages, i, &end);
      const AssayAtom *first = g_ptr_array_index (pages->atoms, i);
      if (y > HEAD && y + first->gap + height > FOOT)
        {
          page++;
          y = HEAD;
        }
      for (guint start = i; i < end; i++)
        {
          const AssayAtom *atom = g_ptr_array_index (pages->atoms, i);
          y += y > HEAD || i > start ? atom->gap : 0;
          if (y + atom->height > FOOT && y > HEAD)
            {
              page++;
              y = HEAD;
            }
          Place place = {page, y};
          g_array_append_val (pages->places, place);
          y += atom->height;
        }
    }
  pages->count = page + 1;
}

AssayPages *
assay_pages_new (const AssayDocument *report)
{
  AssayPages *pages = g_new0 (AssayPages, 1);
  pages->report = report;
  pages->atoms = g_ptr_array_new_with_free_func ((GDestroyNotify) assay_atom_free);
  pages->places = g_array_new (FALSE, FALSE, sizeof (Place));
  assay_flow_blocks (report, ASSAY_PAGE_WIDTH - 2 * MARGIN, pages->atoms);
  paginate (pages);
  return pages;
}

void
assay_pages_free (AssayPages *pages)
{
  if (!pages)
    return;
  g_ptr_array_unref (pages->atoms);
  g_array_unref (pages->places);
  g_free (pages);
}

guint
assay_pages_count (const AssayPages *pages)
{
  return pages->count;
}

guint
assay_pages_unknown_glyphs (const AssayPages *pages)
{
  guint unknown = 0;
  for (guint i = 0; i < pages->atoms->len; i++)
    {
      const AssayAtom *atom = g_ptr_array_index (pages->atoms, i);
      for (guint l = 0; l < atom->layouts->len && !(atom->row && l == 0); l++)
        unknown +=
            (guint) pango_layout_get_unknown_glyphs_count (g_ptr_array_index (atom->layouts, l));
    }
  return unknown;
}

static void
draw_margin_text (cairo_t *cr, const char *text, double x, double y, double align)
{
  g_autofree char *escaped = g_markup_escape_text (text, -1);
  g_autoptr (PangoLayout) layout = assay_document_text (escaped, 8, FALSE, -1);
  AssayColour dim = assay_colour (ASSAY_THEME_PRINT, ASSAY_ROLE_DIM);
  cairo_set_source_rgb (cr, dim.red, dim.green, dim.blue);
  cairo_move_to (cr, x - align * assay_layout_width (layout), y);
  pango_cairo_show_layout (cr, layout);
}

static void
draw_margins (const AssayPages *pages, guint index, cairo_t *cr)
{
  double right = ASSAY_PAGE_WIDTH - MARGIN;
  AssayColour line = assay_colour (ASSAY_THEME_PRINT, ASSAY_ROLE_TEXT);
  AssayColour thin = assay_colour (ASSAY_THEME_PRINT, ASSAY_ROLE_GRID);
  g_autofree char *number = g_strdup_printf ("page %u of %u", index + 1, pages->count);
  draw_margin_text (cr, pages->report->heading, MARGIN, 39, 0);
  draw_margin_text (cr, pages->report->status, right, 39, 1);
  draw_margin_text (cr, pages->report->footer, MARGIN, 803, 0);
  draw_margin_text (cr, number, right, 803, 1);
  cairo_set_line_width (cr, 0.9);
  cairo_set_source_rgb (cr, line.red, line.green, line.blue);
  cairo_move_to (cr, MARGIN, 54);
  cairo_line_to (cr, right, 54);
  cairo_stroke (cr);
  cairo_set_source_rgb (cr, thin.red, thin.green, thin.blue);
  cairo_move_to (cr, MARGIN, 798);
  cairo_line_to (cr, right, 798);
  cairo_stroke (cr);
}

void
assay_pages_draw (const AssayPages *pages, guint index, cairo_t *cr)
{
  cairo_tag_begin (cr, "Document", NULL);
  draw_margins (pages, index, cr);
  for (guint i = 0; i < pages->atoms->len; i++)
    {
      const Place *place = &g_array_index (pages->places, Place, i);
      const AssayAtom *atom = g_ptr_array_index (pages->atoms, i);
      if (place->page != index)
        continue;
      g_autofree char *name = g_strdup_printf ("name='heading-%d'", atom->heading);
      if (atom->tag)
        cairo_tag_begin (cr, atom->tag, NULL);
      if (atom->heading >= 0)
        cairo_tag_begin (cr, CAIRO_TAG_DEST, name);
      atom->draw (atom, cr, MARGIN, place->y, ASSAY_PAGE_WIDTH - 2 * MARGIN);
      if (atom->heading >= 0)
        cairo_tag_end (cr, CAIRO_TAG_DEST);
      if (atom->tag)
        cairo_tag_end (cr, atom->tag);
    }
  cairo_tag_end (cr, "Document");
}

gboolean
assay_pages_heading (const AssayPages *pages, guint i, const char **title, int *level, guint *page)
{
  for (guint a = 0; a < pages->atoms->len; a++)
    {
      const AssayAtom *atom = g_ptr_array_index (pages->atoms, a);
      if (atom->heading != (int) i)
        continue;
      *title = atom->block->text;
      *level = atom->block->level;
      *page = g_array_index (pages->places, Place, a).page;
      return TRUE;
    }
  return FALSE;
}
