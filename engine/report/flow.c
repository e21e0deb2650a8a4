/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/report/flow.h"

#include "engine/report/draw-atoms.h"

#include <pango/pangocairo.h>
#include <string.h>

#define BODY 10.0
#define SMALL 8.5
#define CODE 8.0

PangoLayout *
assay_document_text (const char *markup, double size, gboolean mono, double width)
{
  PangoContext *context = pango_font_map_create_context (pango_cairo_font_map_get_default ());
  g_autoptr (PangoFontDescription) font =
      pango_font_description_from_string (mono ? "Monospace" : "Sans");
  cairo_font_options_t *options = cairo_font_options_create ();
  cairo_font_options_set_hint_style (options, CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics (options, CAIRO_HINT_METRICS_OFF);
  pango_cairo_context_set_font_options (context, options);
  cairo_font_options_destroy (options);
  pango_font_description_set_absolute_size (font, size * PANGO_SCALE);
  PangoLayout *layout = pango_layout_new (context);
  g_object_unref (context);
  pango_layout_set_font_description (layout, font);
  pango_layout_set_markup (layout, markup, -1);
  if (width > 0)
    {
      pango_layout_set_width (layout, (int) (width * PANGO_SCALE));
      pango_layout_set_wrap (layout, PANGO_WRAP_WORD_CHAR);
    }
  return layout;
}

double
assay_layout_height (PangoLayout *layout)
{
  int height = 0;
  pango_layout_get_size (layout, NULL, &height);
  return (double) height / PANGO_SCALE;
}

double
assay_layout_width (PangoLayout *layout)
{
  int width = 0;
  pango_layout_get_size (layout, &width, NULL);
  return (double) width / PANGO_SCALE;
}

void
assay_atom_free (AssayAtom *atom)
{
  g_ptr_array_unref (atom->layouts);
  g_free (atom);
}

static AssayAtom *
add_atom (GPtrArray *atoms, const AssayBlock *block, AssayAtomDraw draw, double height, double gap,
          const char *tag)
{
  AssayAtom *atom = g_new0 (AssayAtom, 1);
  atom->block = block;
  atom->draw = draw;
  atom->height = height;
  atom->gap = gap;
  atom->tag = tag;
  atom->heading = -1;
  atom->layouts = g_ptr_array_new_with_free_func (g_object_unref);
  g_ptr_array_add (atoms, atom);
  return atom;
}

static void
add_layout (AssayAtom *atom, PangoLayout *layout)
{
  g_ptr_array_add (atom->layouts, layout);
}

/* A layout broken into one atom a line; never one line alone at the end of a page. */
static void
add_lines (GPtrArray *atoms, const AssayBlock *block, PangoLayout *layout, double gap,
           const char *tag)
{
  int lines = pango_layout_get_line_count (layout);
  double above = 0;
  g_autoptr (PangoLayoutIter) iter = pango_layout_get_iter (layout);
  for (int i = 0; i < lines; i++, pango_layout_iter_next_line (iter))
    {
      int top = 0, bottom = 0;
      pango_layout_iter_get_line_yrange (iter, &top, &bottom);
      double height = (double) (bottom - top) / PANGO_SCALE;
      AssayAtom *atom = add_atom (atoms, block, assay_draw_text_line, height, i ? 0 : gap, tag);
      add_layout (atom, g_object_ref (layout));
      atom->row = (guint) i;
      atom->keep_next = (i == 0 && lines > 1) || (lines > 2 && i == lines - 2);
      above += height;
    }
  g_object_unref (layout);
}

static void
flow_title (GPtrArray *atoms, const AssayBlock *block, double width)
{
  g_autofree char *title = g_markup_printf_escaped ("<span weight='bold'>%s</span>", block->text);
  g_autofree char *lead = g_markup_escape_text (block->lead ? block->lead : "", -1);
  g_autofree char *note = g_markup_printf_escaped ("<b>%s</b>", block->note ? block->note : "");
  PangoLayout *name = assay_document_text (title, 19, FALSE, width - 120);
  PangoLayout *under = assay_document_text (lead, 10.5, FALSE, width - 120);
  double height = assay_layout_height (name) + assay_layout_height (under) + 6;
  AssayAtom *atom = add_atom (atoms, block, assay_draw_title, MAX (height, 40), 0, "H1");
  add_layout (atom, name);
  add_layout (atom, under);
  add_layout (atom, assay_document_text (note, 11, FALSE, -1));
  add_layout (atom, assay_document_text ("recommendation", 7.5, FALSE, -1));
}

static void
flow_heading (GPtrArray *atoms, const AssayBlock *block, double width, int *number)
{
  gboolean first = block->level == 1;
  g_autofree char *text = g_markup_printf_escaped ("<b>%s</b>", block->text);
  g_autofree char *note = g_markup_escape_text (block->note ? block->note : "", -1);
  PangoLayout *layout = assay_document_text (text, first ? 13.5 : 11, FALSE, width * 0.7);
  AssayAtom *atom = add_atom (atoms, block, assay_draw_heading, assay_layout_height (layout) + 2,
                              first ? 18 : 10, first ? "H2" : "H3");
  atom->keep_next = TRUE;
  atom->heading = (*number)++;
  add_layout (atom, layout);
  add_layout (atom, assay_document_text (note, SMALL, FALSE, -1));
}

/* Pango markup of plain words in which `code` may stand, as in Markdown. */
static char *
inline_markup (const char *text)
{
  g_auto (GStrv) parts = g_strsplit (text, "`", -1);
  guint n = g_strv_length (parts);
  GString *out = g_string_new (NULL);
  for (guint i = 0; i < n; i++)
    {
      gboolean code = i % 2 == 1 && i + 1 < n; /* between two backticks */
      g_autofree char *escaped = g_markup_escape_text (parts[i], -1);
      if (i % 2 == 1 && !code)
        g_string_append_c (out, '`');
      g_string_append_printf (out, code ? "<tt>%s</tt>" : "%s", escaped);
    }
  return g_string_free (out, FALSE);
}

static void
flow_paragraph (GPtrArray *atoms, const AssayBlock *block, double width)
{
  g_autofree char *text = inline_markup (block->text);
  g_autofree char *lead = block->lead ? g_markup_printf_escaped ("<b>%s</b> ", block->lead) : NULL;
  g_autofree char *markup = g_strconcat (lead ? lead : "", text, NULL);
  PangoLayout *layout = assay_document_text (markup, BODY, FALSE, width);
  pango_layout_set_line_spacing (layout, 1.12f);
  add_lines (atoms, block, layout, 5, "P");
}

/* Two columns of key and value. */
static void
flow_facts (GPtrArray *atoms, const AssayBlock *block, double width)
{
  for (guint i = 0; i < block->rows->len; i += 2)
    {
      AssayAtom *atom = add_atom (atoms, block, assay_draw_facts, 0, i ? 2 : 6, "P");
      for (guint j = i; j < MIN (i + 2, block->rows->len); j++)
        {
          char **row = g_ptr_array_index (block->rows, j);
          g_autofree char *key = g_markup_escape_text (row[0], -1);
          g_autofree char *value = g_markup_escape_text (row[1], -1);
          add_layout (atom, assay_document_text (key, SMALL, FALSE, -1));
          PangoLayout *text = assay_document_text (value, SMALL, FALSE, width / 2 - 74);
          add_layout (atom, text);
          atom->height = MAX (atom->height, assay_layout_height (text));
        }
    }
}

static void
flow_row (GPtrArray *atoms, const AssayBlock *block, char **cells, const double *widths, guint n,
          gboolean head, double gap)
{
  AssayAtom *atom = add_atom (atoms, block, head ? assay_draw_table_head : assay_draw_table_row, 0,
                              gap, head ? "TH" : "TR");
  atom->keep_next = head;
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *text = g_markup_escape_text (cells[i], -1);
      PangoLayout *layout = assay_document_text (text, SMALL, FALSE, widths[i] - 8);
      add_layout (atom, layout);
      atom->height = MAX (atom->height, assay_layout_height (layout) + 6);
    }
}

static void
flow_table (GPtrArray *atoms, const AssayBlock *block, double width)
{
  guint n = g_strv_length (block->columns);
  double total = 0;
  g_autofree double *widths = g_new0 (double, n);
  for (guint i = 0; i < n; i++)
    total += g_array_index (block->weights, double, i);
  for (guint i = 0; i < n; i++)
    widths[i] = width * g_array_index (block->weights, double, i) / total;
  flow_row (atoms, block, block->columns, widths, n, TRUE, 8);
  for (guint r = 0; r < block->rows->len; r++)
    flow_row (atoms, block, g_ptr_array_index (block->rows, r), widths, n, FALSE, 0);
}

static void
flow_verdicts (GPtrArray *atoms, const AssayBlock *block, double width)
{
  for (guint r = 0; r < block->rows->len; r++)
    {
      char **row = g_ptr_array_index (block->rows, r);
      g_autofree char *axis = g_markup_escape_text (row[0], -1);
      g_autofree char *verdict = g_markup_printf_escaped ("<b>%s</b>", row[1]);
      g_autofree char *why = g_markup_escape_text (row[3], -1);
      AssayAtom *atom = add_atom (atoms, block, assay_draw_verdict, 0, r ? 0 : 4, "TR");
      atom->row = r;
      add_layout (atom, assay_document_text (axis, BODY, FALSE, -1));
      add_layout (atom, assay_document_text (verdict, BODY, FALSE, width * 0.26));
      PangoLayout *words = assay_document_text (why, SMALL, FALSE, width * 0.37);
      add_layout (atom, words);
      atom->height = MAX (17, assay_layout_height (words) + 5);
    }
}

static void
flow_figure (GPtrArray *atoms, const AssayBlock *block, double width)
{
  double height = block->scene->ramp ? 170 : 180;
  AssayAtom *atom = add_atom (atoms, block, assay_draw_figure, height, 8, "Figure");
  g_autofree char *caption = g_markup_escape_text (block->text, -1);
  g_autofree char *markup = g_strdup_printf ("<i>%s</i>", caption);
  atom->keep_next = TRUE;
  add_lines (atoms, block, assay_document_text (markup, SMALL, FALSE, width), 3, "Caption");
}

static void
flow_code (GPtrArray *atoms, const AssayBlock *block, double width)
{
  g_auto (GStrv) lines = g_strsplit (block->text, "\n", -1);
  guint n = g_strv_length (lines);
  while (n > 1 && !*lines[n - 1])
    n--;
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *escaped = g_markup_escape_text (lines[i], -1);
      g_autofree char *number = block->first > 0
                                    ? g_strdup_printf ("%" G_GINT64_FORMAT, block->first + i)
                                    : g_strdup ("");
      PangoLayout *text = assay_document_text (escaped, CODE, TRUE, width - 40);
      double height = assay_layout_height (text) + 2;
      AssayAtom *atom = add_atom (atoms, block, assay_draw_code_line, height, i ? 0 : 6, "Code");
      atom->row = i;
      atom->last = i + 1 == n;
      add_layout (atom, text);
      add_layout (atom, assay_document_text (number, CODE, TRUE, -1));
      if (i == 0 && block->lead)
        {
          g_autofree char *caption = g_markup_printf_escaped (
              "%s%s%s", block->lead, block->note ? " · " : "", block->note ? block->note : "");
          PangoLayout *above = assay_document_text (caption, 7.5, FALSE, width - 40);
          atom->height += assay_layout_height (above) + 2;
          add_layout (atom, above);
        }
    }
}

static void
flow_finding (GPtrArray *atoms, const AssayBlock *block, double width)
{
  g_autofree char *title = g_markup_printf_escaped ("<b>%s</b>", block->text);
  g_autofree char *rule = g_markup_printf_escaped (
      "<b>%s</b>  <tt>%s</tt>  %s", ASSAY_SEVERITIES[block->level], block->lead, block->note);
  PangoLayout *name = assay_document_text (title, BODY, FALSE, width - 20);
  PangoLayout *under = assay_document_text (rule, SMALL, FALSE, width - 20);
  AssayAtom *atom =
      add_atom (atoms, block, assay_draw_finding,
                assay_layout_height (name) + assay_layout_height (under) + 2, 11, "H3");
  add_layout (atom, name);
  add_layout (atom, under);
}

void
assay_flow_blocks (const AssayDocument *report, double width, GPtrArray *atoms)
{
  int number = 0;
  for (guint i = 0; i < report->blocks->len; i++)
    {
      const AssayBlock *block = g_ptr_array_index (report->blocks, i);
      if (block->kind == ASSAY_BLOCK_HEADING)
        {
          flow_heading (atoms, block, width, &number);
          continue;
        }
      static void (*const FLOW[]) (GPtrArray *, const AssayBlock *, double) = {
          [ASSAY_BLOCK_TITLE] = flow_title, [ASSAY_BLOCK_PARAGRAPH] = flow_paragraph,
          [ASSAY_BLOCK_FACTS] = flow_facts, [ASSAY_BLOCK_VERDICTS] = flow_verdicts,
          [ASSAY_BLOCK_TABLE] = flow_table, [ASSAY_BLOCK_FIGURE] = flow_figure,
          [ASSAY_BLOCK_CODE] = flow_code,   [ASSAY_BLOCK_FINDING] = flow_finding,
      };
      FLOW[block->kind](atoms, block, width);
    }
}
