/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/findings/failure-log.h"

#include <string.h>

#define MOST_LINES 100
#define LONGEST_MESSAGE 4000

/* As Python prints them: at the start of a line, or behind a logger's prefix or pytest's "E". Without a
 * message the type stands alone. */
#define EXCEPTION                                                                                  \
  "^(?:[^\\n]{0,160}?[\\])|>:][ \\t]+|E[ \\t]+|[ \\t]*)??((?:[A-Za-z_]\\w*\\.)*[A-Z]\\w*"          \
  "(?:Error|Exception|Failure|Fault|OutOfResources|Timeout|TimeoutExpired|Interrupt|Construct))"   \
  "(?::(?!:)[ \\t]*(?=\\S)|:?[ \\t]*$|:[ \\t]*\\n(?=[ \\t]*\\S))"

/* CPython's, then IPython's two. */
#define FRAME                                                                                      \
  "File \"([^\"\\n]+)\", line \\d+|^File (\\S+?):\\d+|^\\[?([/~]\\S+\\.py)\\b[^\\n]* in "

#define LINKED "direct cause of the following exception|another exception occurred"

/* Lines that are surely about it, asked before those that may be. */
#define FAILED                                                                                     \
  "\\b(?:error|fatal|fail(?:ed|ure|s)?|assert\\w*|abort\\w*|exception|denied|crash\\w*)\\b"

#define FAILS                                                                                      \
  "^[^\\n]*\\b(?:error|fatal|fail(?:ed|ure|s)?|exception|assert\\w*|abort\\w*|cannot|can't|"       \
  "could ?n[o']t|unable|invalid|illegal|not (?:found|supported|available|implemented|enough)|"     \
  "unsupported|no such|must|denied|crash\\w*|refused|mismatch\\w*|incorrect|wrong|time ?d? ?out|"  \
  "out of|hangs?|killed|exceed\\w*|missing|undefined)\\b[^\\n]*$"

/* Source text that a log shows around a fault: IPython's and gcc's numbered lines, and the line below a
 * frame of a traceback. It says nothing, whatever words stand in it. */
#define SHOWN                                                                                      \
  "^[ \\t]{2,}\\d+[ \\t][^\\n]*$|^-+>[ \\t]*\\d+[^\\n]*$|^[ \\t]*\\d+[ \\t]*\\|[^\\n]*$|"          \
  "(?<=\\n)[ \\t]*File \"[^\"\\n]+\", line \\d+[^\\n]*\\n\\K[ \\t]{3,}(?!File \")[^\\n]*$"

/* What went on regardless; glog marks it by a letter. */
#define WARNS                                                                                      \
  "^[^\\n]*(?:\\b\\w*Warning: |\\b(?:INFO|DEBUG|WARN|WARNING)\\b[ :\\]]|\\b[IW]\\d{4} "            \
  "\\d\\d:\\d\\d)[^\\n]*$"

/* A command of a build has so many options; they are no words about what went wrong. */
#define OPTIONS 5

/* What stands for text that says nothing: no space, since patterns go over those, and no letter. */
#define NOTHING '\1'

/* Patterns go over lines again and again, so none is longer than this. */
#define LONGEST_LINE 1000

static GRegex *
regex (const char *pattern, GRegexCompileFlags flags)
{
  g_autoptr (GError) error = NULL;
  GRegex *self = g_regex_new (pattern, G_REGEX_RAW | G_REGEX_MULTILINE | flags, 0, &error);
  g_assert_no_error (error);
  return self;
}

static gboolean
next_match (const GRegex *regex, const char *text, gsize from, gsize length, GMatchInfo **match)
{
  return g_regex_match_full (regex, text, (gssize) length, (gssize) from, 0, match, NULL);
}

/* Of the capture groups of a match, the one that took part. */
static char *
captured (const GMatchInfo *match)
{
  for (int i = 1; i < g_match_info_get_match_count (match); i++)
    {
      g_autofree char *text = g_match_info_fetch (match, i);
      if (text && text[0])
        return g_steal_pointer (&text);
    }
  return NULL;
}

/* A message ends where the next traceback begins, or at an empty line that no indented one follows. */
static gsize
message_end (const char *text, gsize start, gsize length)
{
  gsize limit = MIN (length, start + LONGEST_MESSAGE);
  for (gsize i = start; i < limit; i++)
    {
      if (text[i] != '\n')
        continue;
      gsize next = i + 1;
      gboolean gap = next < limit && text[next] == '\n';
      while (next < limit && text[next] == '\n')
        next++;
      if (next >= limit || (gap && text[next] != ' ' && text[next] != '\t')
          || g_str_has_prefix (text + next, "Traceback (most recent"))
        return i;
    }
  return limit;
}

static void
blank (const GRegex *regex, char *text, gsize length)
{
  g_autoptr (GMatchInfo) match = NULL;
  g_autofree char *before = g_strndup (text, length);
  int start = 0, end = 0;
  if (!next_match (regex, before, 0, length, &match))
    return;
  do
    if (g_match_info_fetch_pos (match, 0, &start, &end))
      memset (text + start, NOTHING, (gsize) (end - start));
  while (g_match_info_next (match, NULL));
}

static void
break_lines (char *text, gsize length)
{
  gsize column = 0;
  for (gsize i = 0; i < length; i++)
    {
      column = text[i] == '\n' ? 0 : column + 1;
      if (column == LONGEST_LINE)
        {
          text[i] = '\n';
          column = 0;
        }
    }
}

static void
blank_commands (char *text, gsize length)
{
  for (gsize from = 0, to; from < length; from = to + 1)
    {
      const char *end = memchr (text + from, '\n', length - from);
      int options = 0;
      to = end ? (gsize) (end - text) : length;
      for (gsize i = from; i + 2 < to; i++)
        options += (text[i] == ' ' || text[i] == '\t') && (text[i + 1] == '-' || text[i + 1] == '/')
                   && g_ascii_isalpha (text[i + 2]);
      if (options >= OPTIONS)
        memset (text + from, NOTHING, to - from);
    }
}

char *
assay_log_without_source (const char *text, gsize length)
{
  static GRegex *shown;
  static gsize ready;
  if (g_once_init_enter (&ready))
    {
      shown = regex (SHOWN, 0);
      g_once_init_leave (&ready, 1);
    }
  char *bare = g_strndup (text, length);
  break_lines (bare, length);
  blank (shown, bare, length);
  blank_commands (bare, length);
  return bare;
}

char *
assay_log_without_warnings (const char *text, gsize length)
{
  static GRegex *warns;
  static gsize ready;
  if (g_once_init_enter (&ready))
    {
      warns = regex (WARNS, 0);
      g_once_init_leave (&ready, 1);
    }
  char *bare = g_strndup (text, length);
  blank (warns, bare, length);
  return bare;
}

static char *
frame_between (const GRegex *regex, const char *text, gsize from, gsize to)
{
  g_autoptr (GMatchInfo) match = NULL;
  char *frame = NULL;
  if (!next_match (regex, text, from, to, &match))
    return NULL;
  do
    {
      g_free (frame);
      frame = captured (match);
    }
  while (g_match_info_next (match, NULL));
  return frame;
}

static void
clear_exception (gpointer data)
{
  AssayLoggedException *self = data;
  g_free (self->type);
  g_free (self->frame);
}

GArray *
assay_log_exceptions (const char *text, gsize length)
{
  static GRegex *exception, *frame, *linked;
  static gsize ready;
  if (g_once_init_enter (&ready))
    {
      exception = regex (EXCEPTION, 0);
      frame = regex (FRAME, 0);
      linked = regex (LINKED, 0);
      g_once_init_leave (&ready, 1);
    }
  GArray *chain = g_array_new (FALSE, TRUE, sizeof (AssayLoggedException));
  g_array_set_clear_func (chain, clear_exception);
  gsize from = 0;
  for (;;)
    {
      g_autoptr (GMatchInfo) match = NULL, link = NULL;
      int start = 0, end = 0;
      if (from >= length || !next_match (exception, text, from, length, &match)
          || !g_match_info_fetch_pos (match, 1, &start, &end))
        return chain;
      if (!next_match (linked, text, from, (gsize) start, &link))
        g_array_set_size (chain, 0);
      AssayLoggedException one = {
          .type = g_match_info_fetch (match, 1),
          .frame = frame_between (frame, text, from, (gsize) start),
          .says = {(gsize) start, message_end (text, (gsize) end, length)},
      };
      g_array_append_val (chain, one);
      from = MAX (one.says.end, (gsize) end);
    }
}

static GArray *
lines_that_match (const GRegex *regex, const char *text, gsize length)
{
  GArray *lines = g_array_new (FALSE, FALSE, sizeof (AssayTextRange));
  g_autoptr (GMatchInfo) match = NULL;
  int start = 0, end = 0;
  if (!next_match (regex, text, 0, length, &match))
    return lines;
  do
    if (g_match_info_fetch_pos (match, 0, &start, &end) && end > start)
      {
        AssayTextRange line = {(gsize) start, (gsize) end};
        g_array_append_val (lines, line);
      }
  while (lines->len < MOST_LINES && g_match_info_next (match, NULL));
  return lines;
}

GArray *
assay_log_error_lines (const char *text, gsize length)
{
  static GRegex *failed, *fails, *any;
  static gsize ready;
  if (g_once_init_enter (&ready))
    {
      failed = regex ("^[^\\n]*" FAILED "[^\\n]*$", G_REGEX_CASELESS);
      fails = regex (FAILS, G_REGEX_CASELESS);
      any = regex ("^[^\\n]+$", 0);
      g_once_init_leave (&ready, 1);
    }
  GArray *lines = lines_that_match (failed, text, length);
  g_autoptr (GArray) perhaps = lines_that_match (fails, text, length);
  g_autoptr (GArray) all =
      lines->len + perhaps->len == 0 ? lines_that_match (any, text, length) : NULL;
  if (perhaps->len)
    g_array_append_vals (lines, perhaps->data, perhaps->len);
  if (all && all->len)
    g_array_append_vals (lines, all->data, all->len);
  return lines;
}
