/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/report/report.h"

#include <string.h>

/* One character that CommonMark would read as markup is escaped. */
static void
append_character (GString *out, const char *c, gboolean line_start, gboolean cell)
{
  if (strchr ("\\`*_[]<>", *c) || (cell && *c == '|') || (line_start && strchr ("#+-=", *c)))
    g_string_append_c (out, '\\');
  g_string_append_c (out, *c);
}

/* The words as they are: code between two backticks of one line stays code, line breaks stay. */
static void
append_text (GString *out, const char *text, gboolean cell)
{
  for (const char *c = text; c && *c; c++)
    {
      const char *end = *c == '`' ? strpbrk (c + 1, "`\n") : NULL;
      if (end && *end == '`' && end > c + 1 && !cell)
        {
          g_string_append_len (out, c, end - c + 1);
          c = end;
        }
      else if (*c == '\n' && cell)
        g_string_append (out, "<br>");
      else if (*c == '\n')
        g_string_append (out, c[1] != '\n' && c > text && c[-1] != '\n' ? "  \n" : "\n");
      else
        append_character (out, c, c == text || c[-1] == '\n', cell);
    }
}

static void
append_table (GString *out, const char *const *columns, const GPtrArray *rows)
{
  guint n = g_strv_length ((char **) columns);
  g_string_append_c (out, '|');
  for (guint i = 0; i < n; i++)
    g_string_append_printf (out, " %s |", columns[i]);
  g_string_append (out, "\n|");
  for (guint i = 0; i < n; i++)
    g_string_append (out, " --- |");
  for (guint r = 0; r < rows->len; r++)
    {
      char **row = g_ptr_array_index (rows, r);
      g_string_append (out, "\n|");
      for (guint i = 0; i < n; i++)
        {
          g_string_append_c (out, ' ');
          append_text (out, row[i], TRUE);
          g_string_append (out, " |");
        }
    }
  g_string_append (out, "\n\n");
}

/* A fence longer than any run of backticks inside. */
static void
append_code (GString *out, const AssayBlock *block)
{
  guint longest = 2, run = 0;
  for (const char *c = block->text; *c; c++)
    {
      run = *c == '`' ? run + 1 : 0;
      longest = MAX (longest, run);
    }
  g_autofree char *fence = g_strnfill (longest + 1, '`');
  if (block->lead && block->first > 0)
    g_string_append_printf (out, "`%s`, from line %" G_GINT64_FORMAT "%s%s:\n\n", block->lead,
                            block->first, block->note ? "; " : "", block->note ? block->note : "");
  else if (block->lead)
    g_string_append_printf (out, "%s\n\n", block->lead);
  g_string_append_printf (out, "%s\n%s%s%s\n\n", fence, block->text,
                          g_str_has_suffix (block->text, "\n") ? "" : "\n", fence);
}

static void
append_facts (GString *out, const AssayBlock *block)
{
  for (guint i = 0; i < block->rows->len; i++)
    {
      char **row = g_ptr_array_index (block->rows, i);
      g_string_append_printf (out, "- **%s**: ", row[0]);
      append_text (out, row[1], FALSE);
      g_string_append_c (out, '\n');
    }
  g_string_append_c (out, '\n');
}

static void
append_block (GString *out, const AssayBlock *block, const char *figures, guint *figure)
{
  static const char *const VERDICT_COLUMNS[] = {"axis", "verdict", "scores", "why", NULL};
  switch (block->kind)
    {
    case ASSAY_BLOCK_TITLE:
      g_string_append_printf (out, "# %s\n\n", block->text);
      append_text (out, block->lead, FALSE);
      g_string_append_printf (out, "\n\n**Recommendation: %s**\n\n", block->note);
      break;
    case ASSAY_BLOCK_HEADING:
      g_string_append_printf (out, "%s %s\n\n", block->level == 1 ? "##" : "###", block->text);
      if (block->note)
        g_string_append_printf (out, "*%s*\n\n", block->note);
      break;
    case ASSAY_BLOCK_PARAGRAPH:
      if (block->lead)
        g_string_append_printf (out, "**%s** ", block->lead);
      append_text (out, block->text, FALSE);
      g_string_append (out, "\n\n");
      break;
    case ASSAY_BLOCK_FACTS:
      append_facts (out, block);
      break;
    case ASSAY_BLOCK_VERDICTS:
      append_table (out, VERDICT_COLUMNS, block->rows);
      break;
    case ASSAY_BLOCK_TABLE:
      append_table (out, (const char *const *) block->columns, block->rows);
      break;
    case ASSAY_BLOCK_FIGURE:
      g_string_append_printf (out, "![%s](%s/figure-%u.svg)\n\n*", block->scene->title, figures,
                              ++*figure);
      append_text (out, block->text, FALSE);
      g_string_append (out, "*\n\n");
      break;
    case ASSAY_BLOCK_CODE:
      append_code (out, block);
      break;
    case ASSAY_BLOCK_FINDING:
    default:
      g_string_append_printf (out, "### %s: ", ASSAY_SEVERITIES[block->level]);
      append_text (out, block->text, FALSE);
      g_string_append_printf (out, "\n\n`%s` · ", block->lead);
      append_text (out, block->note, FALSE);
      g_string_append (out, "\n\n");
      break;
    }
}

char *
assay_document_markdown (const AssayDocument *report, const char *figures)
{
  GString *out = g_string_new (NULL);
  guint figure = 0;
  for (guint i = 0; i < report->blocks->len; i++)
    append_block (out, g_ptr_array_index (report->blocks, i), figures, &figure);
  g_string_append_printf (out, "---\n\n%s · %s\n", report->footer, report->status);
  return g_string_free (out, FALSE);
}
