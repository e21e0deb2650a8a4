/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/findings/failure.h"

#include "engine/base/json-table.h"
#include "failure-patterns-resource.h"

#include <string.h>

#define RESOURCE "/org/assay/engine/failure-patterns.json"
#define HALF_MIB (512 * 1024)

typedef struct
{
  char *id, *rule, *advice;
  int blame;
} Class;

typedef struct
{
  char *failure_class, *framework, *name, *text, *blame, *advice, *source;
  gboolean general;
} Row;

typedef struct
{
  char *about;
  GPtrArray *classes, *patterns;
} File;

#define FIELD(Type, member, key, KIND, ...) ASSAY_JSON_FIELD (Type, member, key, KIND, __VA_ARGS__)
#define MUST .flags = ASSAY_JSON_REQUIRED

static const AssayJsonField CLASS_FIELDS[] = {
    FIELD (Class, id, "id", STRING, MUST),
    FIELD (Class, rule, "rule", STRING, MUST),
    FIELD (Class, advice, "advice", STRING, MUST),
    FIELD (Class, blame, "blame", ENUM, .words = ASSAY_BLAMES, MUST),
    ASSAY_JSON_END,
};

static const AssayJsonTable CLASS_TABLE = {
    .name = "failure class", .size = sizeof (Class), .fields = CLASS_FIELDS};

static const AssayJsonField ROW_FIELDS[] = {
    FIELD (Row, failure_class, "class", STRING, MUST),
    FIELD (Row, framework, "framework", STRING, MUST),
    FIELD (Row, name, "name", STRING),
    FIELD (Row, text, "text", STRING),
    FIELD (Row, blame, "blame", STRING),
    FIELD (Row, advice, "advice", STRING),
    FIELD (Row, source, "source", STRING),
    FIELD (Row, general, "general", BOOLEAN),
    ASSAY_JSON_END,
};

static const AssayJsonTable ROW_TABLE = {
    .name = "failure pattern", .size = sizeof (Row), .fields = ROW_FIELDS};

static const AssayJsonField FILE_FIELDS[] = {
    FIELD (File, about, "about", STRING),
    FIELD (File, classes, "classes", LIST, .table = &CLASS_TABLE, MUST),
    FIELD (File, patterns, "patterns", LIST, .table = &ROW_TABLE, MUST),
    ASSAY_JSON_END,
};

static const AssayJsonTable FILE_TABLE = {
    .name = "failure patterns", .size = sizeof (File), .fields = FILE_FIELDS};

typedef struct
{
  AssayFailureClass is;
  GRegex *name, *text; /* a NULL one matches everything */
  gboolean general;
} Pattern;

typedef struct
{
  GArray *patterns; /* Pattern */
  GRegex *code;     /* a driver's code in text */
  AssayFailureClass unknown;
} Classifier;

static AssayFailureClass
make_class (const File *file, const char *id)
{
  for (guint i = 0; i < file->classes->len; i++)
    {
      const Class *is = g_ptr_array_index (file->classes, i);
      if (g_str_equal (is->id, id))
        return (AssayFailureClass) {
            .failure_class = g_strdup (id),
            .blame = is->blame,
            .advice = g_strdup (is->advice),
            .rule = g_strdup (is->rule),
        };
    }
  g_error (RESOURCE ": a pattern names class \"%s\", which is not in the list", id);
}

/* "undecided" keeps the class's own blame. */
static void
set_blame (AssayFailureClass *is, const char *blame)
{
  is->undecided = g_strcmp0 (blame, "undecided") == 0;
  for (int i = 0; blame && !is->undecided && ASSAY_BLAMES[i]; i++)
    if (g_str_equal (ASSAY_BLAMES[i], blame))
      is->blame = i;
}

static GRegex *
compile (const char *pattern)
{
  g_autoptr (GError) error = NULL;
  GRegex *regex =
      pattern ? g_regex_new (pattern, G_REGEX_RAW | G_REGEX_MULTILINE, 0, &error) : NULL;
  if (error)
    g_error (RESOURCE ": %s: %s", pattern, error->message);
  return regex;
}

/* The file is part of the program: one that does not read is a fault of the build. */
static Classifier *
load (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes =
      g_resource_lookup_data (failure_patterns_get_resource (), RESOURCE, 0, &error);
  g_autoptr (JsonNode) node =
      bytes ? assay_json_parse (g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes),
                                &ASSAY_JSON_LIMITS_RECORD, RESOURCE, &error)
            : NULL;
  File *file = node ? assay_json_table_read (&FILE_TABLE, node, "", NULL, &error) : NULL;
  if (!file)
    g_error (RESOURCE ": %s", error->message);
  Classifier *self = g_new0 (Classifier, 1);
  self->patterns = g_array_new (FALSE, TRUE, sizeof (Pattern));
  self->code = compile ("\\bCUDA_ERROR_[A-Z_]+\\b");
  self->unknown = make_class (file, "UNKNOWN");
  self->unknown.undecided = TRUE;
  for (guint i = 0; i < file->patterns->len; i++)
    {
      const Row *row = g_ptr_array_index (file->patterns, i);
      Pattern pattern = {
          .is = make_class (file, row->failure_class),
          .name = compile (row->name),
          .text = compile (row->text),
          .general = row->general,
      };
      set_blame (&pattern.is, row->blame);
      if (row->advice)
        {
          g_free (pattern.is.advice);
          pattern.is.advice = g_strdup (row->advice);
        }
      pattern.is.framework = g_strdup (row->framework);
      pattern.is.source = g_strdup (row->source);
      g_array_append_val (self->patterns, pattern);
    }
  assay_json_table_free (&FILE_TABLE, file);
  return self;
}

static const Classifier *
classifier (void)
{
  static gsize ready;
  if (g_once_init_enter (&ready))
    g_once_init_leave (&ready, (gsize) load ());
  return (const Classifier *) ready;
}

static gboolean
find (const GRegex *regex, const char *text, gsize length, gsize *start, gsize *end)
{
  g_autoptr (GMatchInfo) match = NULL;
  int from = 0, to = 0;
  if (!g_regex_match_full (regex, text, (gssize) length, 0, 0, &match, NULL)
      || !g_match_info_fetch_pos (match, 0, &from, &to))
    return FALSE;
  *start = (gsize) from;
  *end = (gsize) to;
  return TRUE;
}

/* By name, with the text as a further condition where the pattern has one. */
static const Pattern *
by_name (const Classifier *self, const char *name, const char *text, gsize length, gboolean general)
{
  gsize start, end;
  for (guint i = 0; name && i < self->patterns->len; i++)
    {
      const Pattern *pattern = &g_array_index (self->patterns, Pattern, i);
      if (pattern->name && pattern->general == general
          && g_regex_match (pattern->name, name, 0, NULL)
          && (!pattern->text || find (pattern->text, text, length, &start, &end)))
        return pattern;
    }
  return NULL;
}

/* The earliest place in the text; the first in the table of those at one place. */
static const Pattern *
by_text (const Classifier *self, const char *text, gsize length, gboolean general, gsize *at,
         gsize *to)
{
  const Pattern *best = NULL;
  for (guint i = 0; i < self->patterns->len; i++)
    {
      const Pattern *pattern = &g_array_index (self->patterns, Pattern, i);
      gsize start, end;
      if (pattern->name || pattern->general != general
          || !find (pattern->text, text, length, &start, &end) || (best && start >= *at))
        continue;
      best = pattern;
      *at = start;
      *to = end;
    }
  return best;
}

/* A driver's code spelled out in the text says as much as one beside it. */
static const Pattern *
by_code_in_text (const Classifier *self, const char *text, gsize length, gboolean general,
                 gsize *at, gsize *to)
{
  gsize start, end;
  if (!find (self->code, text, length, &start, &end))
    return NULL;
  g_autofree char *name = g_strndup (text + start, end - start);
  const Pattern *pattern = by_name (self, name, text, length, general);
  if (pattern)
    {
      *at = start;
      *to = end;
    }
  return pattern;
}

/* Words or a code, whichever comes first. */
static const Pattern *
by_words (const Classifier *self, const char *text, gsize length, gboolean general, gsize *at,
          gsize *to)
{
  gsize start = 0, end = 0;
  const Pattern *words = by_text (self, text, length, general, at, to);
  const Pattern *code = by_code_in_text (self, text, length, general, &start, &end);
  if (!code || (words && *at <= start))
    return words;
  *at = start;
  *to = end;
  return code;
}

const AssayFailureClass *
assay_failure_explain (const char *name, const char *text, gsize *start, gsize *end)
{
  const Classifier *self = classifier ();
  const char *words = text ? text : "";
  gsize length = strlen (words), skipped = 0;
  *start = *end = 0;
  for (int general = 0; general < 2; general++)
    {
      const Pattern *pattern = by_name (self, name, words, MIN (length, HALF_MIB), general);
      if (!pattern)
        pattern = by_words (self, words, MIN (length, HALF_MIB), general, start, end);
      if (!pattern && length > HALF_MIB)
        {
          skipped = MAX (length - HALF_MIB, HALF_MIB);
          pattern = by_words (self, words + skipped, length - skipped, general, start, end);
          *start += pattern ? skipped : 0;
          *end += pattern ? skipped : 0;
        }
      if (pattern)
        return &pattern->is;
    }
  return &self->unknown;
}

const AssayFailureClass *
assay_failure_classify (const AssayFailure *failure)
{
  gsize start, end;
  return assay_failure_explain (failure->name, failure->message, &start, &end);
}
