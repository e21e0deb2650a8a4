/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/import/sanitizer.h"

#include "engine/base/error.h"

#include <stdio.h>
#include <string.h>

#define MOST_BYTES ((gsize) 64 << 20)
#define MOST_FINDINGS 10000
#define MOST_NOTES 100
#define LONGEST_LINE 4096 /* template names are long; what comes after tells nothing more */
#define FEWEST_SIGNS 8    /* of "=========": logs lose one now and then */

/* The first line of a report, and what it is. The first that fits. */
static const struct
{
  const char *word, *rule, *axis;
  int severity;
} HEADS[] = {
    {"Invalid __", "mem.out-of-bounds", "numerics", ASSAY_SEVERITY_BLOCKER},
    {"Uninitialized ", "mem.uninitialised", "numerics", ASSAY_SEVERITY_BLOCKER},
    {"Host API ", "mem.uninitialised", "numerics", ASSAY_SEVERITY_BLOCKER},
    {"Race reported between", "race.shared", "numerics", ASSAY_SEVERITY_BLOCKER},
    {" hazard detected at __shared__", "race.shared", "numerics", ASSAY_SEVERITY_BLOCKER},
    {" hazard detected at __global__", "race.global", "numerics", ASSAY_SEVERITY_BLOCKER},
    {"Barrier error detected", "sync.divergent-barrier", "numerics", ASSAY_SEVERITY_BLOCKER},
    {"Divergent thread(s) in ", "sync.divergent-barrier", "numerics", ASSAY_SEVERITY_BLOCKER},
    {"Leaked ", "mem.leak", "validity", ASSAY_SEVERITY_MINOR},
};

typedef struct
{
  AssaySanitizerLog *log;
  GPtrArray *notes;
  GHashTable *known; /* rule, kernel and place → AssayFinding *, borrowed */
  AssayFinding *open;
  GString *detail;
  gboolean failed; /* the tool, not the program */
  gboolean warning, left_out;
} Reader;

/* ---- one line ---- */

/* What stands behind the signs; NULL for a line of the program. `indent` is the blanks in between. */
static char *
content_of (const char *line, gsize length, gsize *indent)
{
  gsize at = 0, signs = 0;
  while (at < length && (line[at] == ' ' || line[at] == '\t'))
    at++;
  while (at < length && line[at] == '=')
    at++, signs++;
  if (signs < FEWEST_SIGNS)
    return NULL;
  gsize from = at;
  while (at < length && line[at] == ' ')
    at++;
  *indent = at - from;
  g_autofree char *bytes = g_strndup (line + at, MIN (length - at, LONGEST_LINE));
  g_autofree char *text = g_utf8_make_valid (g_strchomp (bytes), -1);
  return g_steal_pointer (&text);
}

/* The last ":<digits>" of [start, end) that has a file before it; the file begins behind the last blank. */
static const char *
find_place (const char *start, const char *end, const char **file_start, gint64 *line)
{
  for (const char *colon = start; (colon = memchr (colon, ':', (gsize) (end - colon))); colon++)
    {
      const char *digit = colon + 1, *file = colon;
      if (digit >= end || !g_ascii_isdigit (*digit))
        continue;
      while (file > start && file[-1] != ' ')
        file--;
      /* A class's member is no file: "std::1" has another colon before it, and no dot. */
      if (file == colon || !memchr (file, '.', (gsize) (colon - file)) || colon[-1] == ':')
        continue;
      *line = g_ascii_strtoll (digit, NULL, 10);
      *file_start = file;
      return colon;
    }
  return NULL;
}

/* "F(args)+0x70 in file.cu:34", "F in file.cu:34", "0x3b0 in F(args)", "0x70 in file.cu:34:F(args)", "F(args)+0x70";
 * a number of hazards in brackets may follow. */
static void
set_place (AssayWhere *where, const char *text)
{
  const char *end = text + strlen (text), *bracket = strstr (text, " [");
  const char *in = strstr (text, " in "), *file = NULL, *colon = NULL;
  if (bracket && strstr (bracket, "hazard"))
    end = bracket;
  for (const char *next = in; next && next < end; next = strstr (next + 4, " in "))
    in = next;
  if (in && in < end)
    colon = find_place (in + 4, end, &file, &where->line);
  if (colon)
    where->file = g_strndup (file, (gsize) (colon - file));
  const char *after = colon ? colon + 1 + strspn (colon + 1, "0123456789") : NULL;
  const char *from = text, *to = in && in < end ? in : end;
  if (after && after < end && *after == ':')
    from = after + 1, to = end;
  else if (g_str_has_prefix (text, "0x") && !colon && in)
    from = in + 4, to = end;
  else if (g_str_has_prefix (text, "0x"))
    return;
  const char *offset = g_strrstr_len (from, to - from, "+0x");
  g_free (where->kernel);
  where->kernel = g_strndup (from, (gsize) ((offset ? offset : to) - from));
}

static gboolean
read_triple (const char *text, GArray *out)
{
  gint64 x, y, z;
  if (sscanf (text, "(%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT, &x, &y, &z) != 3
      && sscanf (text, "(%" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT, &x, &y, &z)
             != 3)
    return FALSE;
  g_array_set_size (out, 0);
  g_array_append_val (out, x);
  g_array_append_val (out, y);
  g_array_append_val (out, z);
  return TRUE;
}

/* ---- reports ---- */

static void
set_rule (AssayFinding *finding, const char *rule)
{
  g_free (finding->rule);
  finding->rule = g_strdup (rule);
}

/* Equal reports are one finding with a count. */
static void
close_report (Reader *reader)
{
  AssayFinding *finding = g_steal_pointer (&reader->open);
  if (!finding)
    return;
  const AssayWhere *where = &finding->where;
  g_autofree char *key = g_strdup_printf ("%s|%s|%s|%" G_GINT64_FORMAT, finding->rule,
                                          where->kernel ? where->kernel : "",
                                          where->file ? where->file : "", where->line);
  AssayFinding *same = g_hash_table_lookup (reader->known, key);
  finding->detail = g_strdup_printf ("```\n%s```\n", reader->detail->str);
  if (same)
    same->count += finding->count;
  else if (reader->log->findings->len < MOST_FINDINGS)
    {
      assay_finding_fingerprint (finding, key);
      g_hash_table_insert (reader->known, g_steal_pointer (&key), finding);
      g_ptr_array_add (reader->log->findings, g_steal_pointer (&finding));
    }
  else
    reader->left_out = TRUE;
  g_clear_pointer (&finding, assay_finding_free);
}

static void
open_report (Reader *reader, gsize head, const char *text)
{
  AssayFinding *finding = assay_finding_new ();
  gboolean warning = g_ascii_strncasecmp (text, "warn", 4) == 0;
  const char *at = strstr (text, " access at ");
  set_rule (finding, HEADS[head].rule);
  finding->axis = g_strdup (HEADS[head].axis);
  finding->severity = warning ? ASSAY_SEVERITY_MINOR : HEADS[head].severity;
  finding->blame = ASSAY_BLAME_CANDIDATE;
  finding->component = g_strdup ("candidate");
  finding->confidence = warning ? 0.5 : 0.95;
  finding->title = g_strdup (text);
  finding->count = 1;
  finding->where.index = -1;
  if (strstr (text, "Race reported") && at)
    set_place (&finding->where, at + strlen (" access at "));
  if (strstr (text, "__global__") && g_str_equal (finding->rule, "mem.out-of-bounds")
      && strstr (text, "freed"))
    set_rule (finding, "mem.use-after-free");
  reader->open = finding;
  reader->log->reports++;
  g_string_assign (reader->detail, text);
  g_string_append_c (reader->detail, '\n');
}

static void
add_note (Reader *reader, const char *text)
{
  if (reader->notes->len < MOST_NOTES)
    g_ptr_array_add (reader->notes, g_strdup (text));
}

/* A report's further lines: place, thread, what is wrong with the address. */
static void
read_detail (Reader *reader, const char *text)
{
  AssayFinding *finding = reader->open;
  if (reader->detail->len < LONGEST_LINE)
    g_string_append_printf (reader->detail, "    %s\n", text);
  if (g_str_has_prefix (text, "at ") && !finding->where.file && !finding->where.kernel)
    set_place (&finding->where, text + 3);
  else if (g_str_has_prefix (text, "by thread "))
    {
      const char *block = strstr (text, "block ");
      read_triple (text + strlen ("by thread "), finding->where.thread);
      if (block)
        read_triple (block + strlen ("block "), finding->where.block);
    }
  else if (g_str_has_prefix (text, "Write Thread ") && strstr (text, " at ")
           && !finding->where.kernel && !finding->where.file)
    set_place (&finding->where, strstr (text, " at ") + 4);
  if (strstr (text, "is misaligned"))
    set_rule (finding, "mem.misaligned");
  else if (g_str_equal (finding->rule, "mem.out-of-bounds") && strstr (text, "freed"))
    set_rule (finding, "mem.use-after-free");
  else if (strstr (text, "is out of bounds") && g_str_equal (finding->rule, "mem.uninitialised"))
    set_rule (finding, "mem.out-of-bounds");
}

/* "ERROR SUMMARY: 1,024 errors", "RACECHECK SUMMARY: 3 hazards displayed (…)" */
static gboolean
read_summary (Reader *reader, const char *text)
{
  const char *at = strstr (text, " SUMMARY: ");
  guint64 count = 0;
  if (!at)
    return FALSE;
  for (const char *c = at + strlen (" SUMMARY: "); g_ascii_isdigit (*c) || *c == ','; c++)
    count = *c == ',' ? count : 10 * count + (guint64) (*c - '0');
  reader->log->whole = TRUE;
  if (g_str_has_prefix (text, "ERROR") || g_str_has_prefix (text, "RACECHECK"))
    reader->log->told += count;
  return TRUE;
}

/* What every run prints, and says nothing about the program. */
static gboolean
is_banner (const char *text)
{
  static const char *const words[] = {"COMPUTE-SANITIZER",
                                      "CUDA-MEMCHECK",
                                      "This tool is deprecated",
                                      "Please use the compute-sanitizer",
                                      "Saved host backtrace",
                                      "Host Frame",
                                      "Device Frame",
                                      "in "};
  for (gsize i = 0; i < G_N_ELEMENTS (words); i++)
    if (g_str_has_prefix (text, words[i]))
      return TRUE;
  return text[0] == '\0';
}

static void
read_line (Reader *reader, const char *text, gsize indent)
{
  if (indent >= 3 && reader->open)
    {
      read_detail (reader, text);
      return;
    }
  if (text[0] == '\0' || !reader->open || indent < 3)
    close_report (reader);
  if (read_summary (reader, text) || is_banner (text) || indent >= 3)
    return;
  for (gsize i = 0; i < G_N_ELEMENTS (HEADS); i++)
    if (strstr (text, HEADS[i].word))
      {
        open_report (reader, i, text);
        return;
      }
  reader->log->api_errors += g_str_has_prefix (text, "Program hit ") ? 1 : 0;
  reader->failed = reader->failed || strstr (text, "Internal Sanitizer Error")
                   || strstr (text, "No kernels were launched");
  add_note (reader, text);
}

static void
finish (Reader *reader)
{
  AssaySanitizerLog *log = reader->log;
  close_report (reader);
  if (!log->whole)
    add_note (reader, "no summary: the log is cut, or the tool did not get that far");
  log->whole = log->whole && !reader->failed;
  if (log->told > log->reports + log->api_errors)
    {
      g_autofree char *text = g_strdup_printf (
          "its summary tells of %" G_GUINT64_FORMAT ", the log holds %" G_GUINT64_FORMAT
          ": run it with --print-limit 0, or give the whole log",
          log->told, log->reports + log->api_errors);
      add_note (reader, text);
    }
  if (reader->left_out)
    add_note (reader, "more than 10000 different reports: the rest is left out");
  g_ptr_array_add (reader->notes, NULL);
  log->notes = (char **) g_ptr_array_free (g_steal_pointer (&reader->notes), FALSE);
}

AssaySanitizerLog *
assay_sanitizer_read (const char *text, gsize bytes, GError **error)
{
  g_autoptr (AssaySanitizerLog) log = g_new0 (AssaySanitizerLog, 1);
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GString) detail = g_string_new (NULL);
  Reader reader = {.log = log, .known = known, .detail = detail};
  gsize lines = 0;
  log->findings = g_ptr_array_new_with_free_func ((GDestroyNotify) assay_finding_free);
  if (bytes > MOST_BYTES)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_LIMIT,
                   "the log has %" G_GSIZE_FORMAT " bytes; at most %" G_GSIZE_FORMAT " are read",
                   bytes, MOST_BYTES);
      return NULL;
    }
  reader.notes = g_ptr_array_new ();
  for (const char *at = text, *end = text + bytes; at < end;)
    {
      const char *stop = memchr (at, '\n', (gsize) (end - at));
      gsize length = (gsize) ((stop ? stop : end) - at), indent = 0;
      g_autofree char *content = content_of (at, length, &indent);
      if (content)
        {
          lines++;
          read_line (&reader, content, indent);
        }
      at = stop ? stop + 1 : end;
    }
  finish (&reader);
  if (lines > 0)
    return g_steal_pointer (&log);
  g_set_error (
      error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
      memmem (text, MIN (bytes, 4096), "<?xml", 5)
          ? "the XML of compute-sanitizer is not read: run it without --xml, or save its text"
          : "no output of compute-sanitizer: expected lines that begin with \"=========\", "
            "found none");
  return NULL;
}

void
assay_sanitizer_log_free (AssaySanitizerLog *log)
{
  g_clear_pointer (&log->findings, g_ptr_array_unref);
  g_strfreev (log->notes);
  g_free (log);
}
