/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "widgets/markdown-view.h"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>

#define LONGEST (1 << 20) /* bytes of a specification that we render */

struct _AssayMarkdownView
{
  GtkTextView parent;
};

G_DEFINE_FINAL_TYPE (AssayMarkdownView, assay_markdown_view, GTK_TYPE_TEXT_VIEW)

/* What is open around the text being inserted. */
typedef struct
{
  GtkTextBuffer *buffer;
  GPtrArray *tags; /* names of open tags, outermost first */
  int list_depth;
  GArray *numbers; /* int: next number of each open list, 0 = bullets */
  gboolean item_start;
} Writer;

static void
insert (Writer *writer, const char *text, gssize length)
{
  GtkTextIter end, start;
  int offset;

  if (text == NULL || length == 0)
    return;
  gtk_text_buffer_get_end_iter (writer->buffer, &end);
  offset = gtk_text_iter_get_offset (&end);
  gtk_text_buffer_insert (writer->buffer, &end, text, (int) length);
  gtk_text_buffer_get_iter_at_offset (writer->buffer, &start, offset);
  for (guint i = 0; i < writer->tags->len; i++)
    gtk_text_buffer_apply_tag_by_name (writer->buffer, g_ptr_array_index (writer->tags, i), &start,
                                       &end);
}

static gboolean
at_start (Writer *writer)
{
  return gtk_text_buffer_get_char_count (writer->buffer) == 0;
}

static void
new_block (Writer *writer, gboolean gap)
{
  GtkTextIter end;

  if (at_start (writer) || writer->item_start)
    {
      writer->item_start = FALSE;
      return;
    }
  gtk_text_buffer_get_end_iter (writer->buffer, &end);
  if (!gtk_text_iter_starts_line (&end))
    insert (writer, "\n", 1);
  if (gap)
    {
      g_ptr_array_add (writer->tags, (gpointer) "gap");
      insert (writer, "\n", 1);
      g_ptr_array_set_size (writer->tags, (int) writer->tags->len - 1);
    }
}

static const char *const heading_tags[] = {"h1", "h1", "h2", "h3", "h3", "h3", "h3"};

static void
open_tag (Writer *writer, const char *tag, gboolean entering)
{
  if (entering)
    g_ptr_array_add (writer->tags, (gpointer) tag);
  else if (writer->tags->len > 0)
    g_ptr_array_set_size (writer->tags, (int) writer->tags->len - 1);
}

/* --- tables ---------------------------------------------------------------------------------- */

static char *
cell_text (cmark_node *cell)
{
  g_autoptr (GString) text = g_string_new (NULL);
  cmark_iter *iter = cmark_iter_new (cell);

  while (cmark_iter_next (iter) != CMARK_EVENT_DONE)
    {
      const char *literal = cmark_node_get_literal (cmark_iter_get_node (iter));

      if (literal != NULL)
        g_string_append (text, literal);
    }
  cmark_iter_free (iter);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static GPtrArray *
read_rows (cmark_node *table, GArray *widths)
{
  GPtrArray *rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_ptr_array_unref);

  for (cmark_node *row = cmark_node_first_child (table); row != NULL; row = cmark_node_next (row))
    {
      GPtrArray *cells = g_ptr_array_new_with_free_func (g_free);
      guint column = 0;

      for (cmark_node *cell = cmark_node_first_child (row); cell != NULL;
           cell = cmark_node_next (cell), column++)
        {
          char *text = cell_text (cell);
          int length = (int) g_utf8_strlen (text, -1);

          g_ptr_array_add (cells, text);
          if (column >= widths->len)
            g_array_append_val (widths, length);
          g_array_index (widths, int, column) = MAX (g_array_index (widths, int, column), length);
        }
      g_ptr_array_add (rows, cells);
    }
  return rows;
}

static void
write_table (Writer *writer, cmark_node *table)
{
  g_autoptr (GArray) widths = g_array_new (FALSE, TRUE, sizeof (int));
  g_autoptr (GPtrArray) rows = read_rows (table, widths);

  new_block (writer, TRUE);
  for (guint r = 0; r < rows->len; r++)
    {
      GPtrArray *cells = g_ptr_array_index (rows, r);
      g_autoptr (GString) line = g_string_new (NULL);

      for (guint c = 0; c < cells->len; c++)
        {
          const char *text = g_ptr_array_index (cells, c);
          int pad = g_array_index (widths, int, c) - (int) g_utf8_strlen (text, -1);

          g_string_append_printf (line, "%s%*s", text, c + 1 < cells->len ? pad + 3 : 0, "");
        }
      g_string_append_c (line, '\n');
      open_tag (writer, r == 0 ? "table-head" : "table", TRUE);
      insert (writer, line->str, (gssize) line->len);
      open_tag (writer, NULL, FALSE);
    }
}

/* --- blocks and inlines ---------------------------------------------------------------------- */

static void
enter_list (Writer *writer, cmark_node *node, gboolean entering)
{
  if (entering)
    {
      int first = cmark_node_get_list_type (node) == CMARK_ORDERED_LIST
                      ? MAX (cmark_node_get_list_start (node), 1)
                      : 0;

      if (writer->list_depth == 0)
        new_block (writer, TRUE);
      writer->list_depth++;
      g_array_append_val (writer->numbers, first);
    }
  else
    {
      writer->list_depth--;
      g_array_set_size (writer->numbers, writer->numbers->len - 1);
    }
}

static void
enter_item (Writer *writer, gboolean entering)
{
  g_autofree char *mark = NULL;
  int *number;

  open_tag (writer, writer->list_depth > 1 ? "item2" : "item", entering);
  if (!entering)
    return;
  number = &g_array_index (writer->numbers, int, writer->numbers->len - 1);
  mark = *number > 0 ? g_strdup_printf ("%d.\t", (*number)++) : g_strdup ("•\t");
  writer->item_start = FALSE;
  new_block (writer, FALSE);
  insert (writer, mark, -1);
  writer->item_start = TRUE;
}

static void
write_literal (Writer *writer, const char *tag, const char *text)
{
  open_tag (writer, tag, TRUE);
  insert (writer, text, text != NULL ? (gssize) strlen (text) : 0);
  open_tag (writer, tag, FALSE);
}

static void
write_code_block (Writer *writer, const char *text)
{
  g_autofree char *body = g_strchomp (g_strdup (text));

  new_block (writer, TRUE);
  write_literal (writer, "code-block", body);
  insert (writer, "\n", 1);
}

static void
leave_link (Writer *writer, cmark_node *node, gboolean entering)
{
  open_tag (writer, "link", entering);
  if (!entering && cmark_node_get_url (node) != NULL && *cmark_node_get_url (node) != '\0')
    {
      g_autofree char *address = g_strdup_printf (" (%s)", cmark_node_get_url (node));

      write_literal (writer, "dim", address);
    }
}

static void
write_block (Writer *writer, cmark_node *node, gboolean entering)
{
  switch (cmark_node_get_type (node))
    {
    case CMARK_NODE_HEADING:
      if (entering)
        new_block (writer, !at_start (writer));
      open_tag (writer, heading_tags[CLAMP (cmark_node_get_heading_level (node), 0, 6)], entering);
      break;
    case CMARK_NODE_PARAGRAPH:
      if (entering)
        new_block (writer, writer->list_depth == 0);
      break;
    case CMARK_NODE_LIST:
      enter_list (writer, node, entering);
      break;
    case CMARK_NODE_ITEM:
      enter_item (writer, entering);
      break;
    case CMARK_NODE_BLOCK_QUOTE:
      open_tag (writer, "quote", entering);
      break;
    case CMARK_NODE_CODE_BLOCK:
      write_code_block (writer, cmark_node_get_literal (node));
      break;
    case CMARK_NODE_HTML_BLOCK:
      write_code_block (writer, cmark_node_get_literal (node));
      break;
    case CMARK_NODE_THEMATIC_BREAK:
      new_block (writer, TRUE);
      write_literal (writer, "dim", "⁂");
      break;
    default:
      break;
    }
}

static void
write_inline (Writer *writer, cmark_node *node, gboolean entering)
{
  cmark_node_type type = cmark_node_get_type (node);

  if (type == CMARK_NODE_TEXT || type == CMARK_NODE_HTML_INLINE)
    insert (writer, cmark_node_get_literal (node), (gssize) strlen (cmark_node_get_literal (node)));
  else if (type == CMARK_NODE_SOFTBREAK)
    insert (writer, " ", 1);
  else if (type == CMARK_NODE_LINEBREAK)
    insert (writer, "\n", 1);
  else if (type == CMARK_NODE_CODE)
    write_literal (writer, "code", cmark_node_get_literal (node));
  else if (type == CMARK_NODE_EMPH)
    open_tag (writer, "emphasis", entering);
  else if (type == CMARK_NODE_STRONG)
    open_tag (writer, "strong", entering);
  else if (type == CMARK_NODE_LINK)
    leave_link (writer, node, entering);
  else if (g_str_equal (cmark_node_get_type_string (node), "strikethrough"))
    open_tag (writer, "strike", entering);
}

static cmark_node *
parse (const char *markdown, gsize length)
{
  cmark_parser *parser;
  cmark_node *document;

  cmark_gfm_core_extensions_ensure_registered ();
  parser = cmark_parser_new (CMARK_OPT_VALIDATE_UTF8 | CMARK_OPT_SMART);
  for (const char *const *name = (const char *const[]) {"table", "strikethrough", NULL};
       *name != NULL; name++)
    cmark_parser_attach_syntax_extension (parser, cmark_find_syntax_extension (*name));
  cmark_parser_feed (parser, markdown, length);
  document = cmark_parser_finish (parser);
  cmark_parser_free (parser);
  return document;
}

static void
walk (Writer *writer, cmark_node *document)
{
  cmark_iter *iter = cmark_iter_new (document);
  cmark_event_type event;

  while ((event = cmark_iter_next (iter)) != CMARK_EVENT_DONE)
    {
      cmark_node *node = cmark_iter_get_node (iter);
      gboolean entering = event == CMARK_EVENT_ENTER;

      if (g_str_equal (cmark_node_get_type_string (node), "table"))
        {
          write_table (writer, node);
          cmark_iter_reset (iter, node, CMARK_EVENT_EXIT);
        }
      else if ((cmark_node_get_type (node) & CMARK_NODE_TYPE_MASK) == CMARK_NODE_TYPE_BLOCK)
        write_block (writer, node, entering);
      else
        write_inline (writer, node, entering);
    }
  cmark_iter_free (iter);
}

void
assay_markdown_view_set_text (AssayMarkdownView *self, const char *markdown)
{
  Writer writer = {0};
  cmark_node *document;

  g_return_if_fail (ASSAY_IS_MARKDOWN_VIEW (self));
  writer.buffer = gtk_text_view_get_buffer (GTK_TEXT_VIEW (self));
  gtk_text_buffer_set_text (writer.buffer, "", 0);
  if (markdown == NULL)
    return;
  writer.tags = g_ptr_array_new ();
  writer.numbers = g_array_new (FALSE, FALSE, sizeof (int));
  document = parse (markdown, MIN (strlen (markdown), (gsize) LONGEST));
  gtk_text_buffer_begin_irreversible_action (writer.buffer);
  walk (&writer, document);
  gtk_text_buffer_end_irreversible_action (writer.buffer);
  cmark_node_free (document);
  g_ptr_array_unref (writer.tags);
  g_array_unref (writer.numbers);
}

/* --- tags ------------------------------------------------------------------------------------ */

static void
create_tags (GtkTextBuffer *buffer)
{
  PangoTabArray *tabs = pango_tab_array_new_with_positions (1, TRUE, PANGO_TAB_LEFT, 18);

#define TAG(name, ...) gtk_text_buffer_create_tag (buffer, name, __VA_ARGS__, NULL)
  TAG ("gap", "scale", 0.5);
  TAG ("h1", "scale", 1.3, "weight", PANGO_WEIGHT_BOLD);
  TAG ("h2", "scale", 1.12, "weight", PANGO_WEIGHT_BOLD);
  TAG ("h3", "weight", PANGO_WEIGHT_BOLD);
  TAG ("emphasis", "style", PANGO_STYLE_ITALIC);
  TAG ("strong", "weight", PANGO_WEIGHT_BOLD);
  TAG ("strike", "strikethrough", TRUE);
  TAG ("link", "underline", PANGO_UNDERLINE_SINGLE);
  TAG ("dim", "scale", 0.9);
  TAG ("code", "family", "DejaVu Sans Mono, monospace", "scale", 0.88);
  TAG ("code-block", "family", "DejaVu Sans Mono, monospace", "scale", 0.86, "left-margin", 16);
  TAG ("table", "family", "DejaVu Sans Mono, monospace", "scale", 0.86, "pixels-above-lines", 1);
  TAG ("table-head", "family", "DejaVu Sans Mono, monospace", "scale", 0.86, "weight",
       PANGO_WEIGHT_BOLD);
  TAG ("item", "left-margin", 20, "indent", -18, "tabs", tabs);
  TAG ("item2", "left-margin", 40, "indent", -18, "tabs", tabs);
  TAG ("quote", "left-margin", 16, "style", PANGO_STYLE_ITALIC);
#undef TAG
  pango_tab_array_free (tabs);
}

static void
assay_markdown_view_class_init (AssayMarkdownViewClass *class)
{
}

static void
assay_markdown_view_init (AssayMarkdownView *self)
{
  GtkTextView *view = GTK_TEXT_VIEW (self);

  create_tags (gtk_text_view_get_buffer (view));
  gtk_text_view_set_editable (view, FALSE);
  gtk_text_view_set_cursor_visible (view, FALSE);
  gtk_text_view_set_wrap_mode (view, GTK_WRAP_WORD_CHAR);
  gtk_text_view_set_accepts_tab (view, FALSE);
  gtk_text_view_set_pixels_below_lines (view, 2);
  gtk_widget_add_css_class (GTK_WIDGET (self), "document");
}
