/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/findings/failure.h"

#include "engine/base/json-table.h"
#include "engine/findings/failure-log.h"
#include "failure-patterns-resource.h"

#include <string.h>

#define RESOURCE "/org/assay/engine/failure-patterns.json"
#define HALF_MIB (512 * 1024)

/* A code of CUDA (HIP has the same names) in text: by name, or by number where the text says whose. */
#define CODE                                                                                       \
  "\\b(CUDA_ERROR_[A-Z_]+|(?:cuda|hip)Error[A-Z]\\w+)\\b"                                          \
  "|(?i:\\bcuda(?:rt)?(?:[ _](?:runtime|driver|api|kernel|launch))*[ _]"                           \
  "(?:error|err|failure|failed|status)(?:[ _](?:code|number|no))?(?: with)?[ :=#(\\[]*)"           \
  "(\\d{1,3})\\b(?!\\.\\d)"                                                                        \
  "|\\[(\\d{3})\\] Call to cu|\\bError (\\d{3}): "

typedef struct
{
  char *id, *rule, *advice;
  int blame;
} Class;

/* How much a pattern proves, and so in which order they are asked. */
typedef enum
{
  SPECIFIC, /* these words, or this code, mean one thing */
  GENERAL, /* what tools say around the true cause, and where in a framework an exception came from */
  WORDS,   /* which things a line is about */
  N_TIERS,
} Tier;

static const char *const TIERS[] = {"specific", "general", "words", NULL};

typedef struct
{
  char *failure_class, *framework, *name, *type, *frame, *text, *blame, *advice, *source;
  int tier;
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
    FIELD (Row, type, "type", STRING),
    FIELD (Row, frame, "frame", STRING),
    FIELD (Row, text, "text", STRING),
    FIELD (Row, blame, "blame", STRING),
    FIELD (Row, advice, "advice", STRING),
    FIELD (Row, source, "source", STRING),
    FIELD (Row, tier, "tier", ENUM, .words = TIERS),
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
  GRegex *name, *type, *frame, *text; /* a NULL one matches everything */
  Tier tier;
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

/* Tools wrap their messages: a space in a pattern is any white space, where it is not in a set. */
static char *
with_any_space (const char *pattern)
{
  /* What looks ahead from one place would look from every place. */
  GString *self = g_string_new (g_str_has_prefix (pattern, "(?=") ? "\\A" : NULL);
  gboolean in_set = FALSE;
  for (const char *c = pattern; *c; c++)
    {
      if (*c == '\\' && c[1])
        {
          g_string_append_len (self, c++, 2);
          continue;
        }
      in_set = *c == '[' || (in_set && *c != ']');
      if (*c != ' ' || in_set)
        g_string_append_c (self, *c);
      else if (c[1] == '?' || c[1] == '*')
        {
          g_string_append (self, "\\s*");
          c++;
        }
      else
        g_string_append (self, "\\s+");
    }
  return g_string_free (self, FALSE);
}

static GRegex *
compile (const char *pattern, GRegexCompileFlags flags)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *spaced = pattern ? with_any_space (pattern) : NULL;
  GRegex *regex = spaced ? g_regex_new (
                      spaced, G_REGEX_RAW | G_REGEX_MULTILINE | G_REGEX_OPTIMIZE | flags, 0, &error)
                         : NULL;
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
  self->code = compile (CODE, 0);
  self->unknown = make_class (file, "UNKNOWN");
  self->unknown.undecided = TRUE;
  for (guint i = 0; i < file->patterns->len; i++)
    {
      const Row *row = g_ptr_array_index (file->patterns, i);
      Pattern pattern = {
          .is = make_class (file, row->failure_class),
          .name = compile (row->name, 0),
          .type = compile (row->type, 0),
          .frame = compile (row->frame, 0),
          .text = compile (row->text, row->tier == WORDS || row->type || row->frame
                                          ? G_REGEX_CASELESS | G_REGEX_DOTALL
                                          : 0),
          .tier = row->tier,
      };
      set_blame (&pattern.is, row->blame);
      if (row->tier == WORDS && pattern.is.undecided)
        {
          /* Words alone excuse nobody, and prove no rule broken. */
          pattern.is.blame = ASSAY_BLAME_CANDIDATE;
          g_free (pattern.is.rule);
          pattern.is.rule = g_strdup ("run.failed");
        }
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

static gboolean
is_trace (const Pattern *pattern)
{
  return pattern->type || pattern->frame;
}

/* By name, with the text as a further condition where the pattern has one. */
static const Pattern *
by_name (const Classifier *self, const char *name, const char *text, gsize length, Tier tier)
{
  gsize start, end;
  for (guint i = 0; name && i < self->patterns->len; i++)
    {
      const Pattern *pattern = &g_array_index (self->patterns, Pattern, i);
      if (pattern->name && pattern->tier == tier && g_regex_match (pattern->name, name, 0, NULL)
          && (!pattern->text || find (pattern->text, text, length, &start, &end)))
        return pattern;
    }
  return NULL;
}

/* The earliest place in the text; the first in the table of those at one place. */
static const Pattern *
by_text (const Classifier *self, const char *text, gsize length, Tier tier, AssayTextRange *at)
{
  const Pattern *best = NULL;
  for (guint i = 0; i < self->patterns->len; i++)
    {
      const Pattern *pattern = &g_array_index (self->patterns, Pattern, i);
      gsize start, end;
      if (pattern->name || is_trace (pattern) || pattern->tier != tier
          || !find (pattern->text, text, length, &start, &end) || (best && start >= at->start))
        continue;
      best = pattern;
      *at = (AssayTextRange) {start, end};
    }
  return best;
}

/* What the code in the text is called: the name, cudaErrorX for hipErrorX, or the number. */
static char *
code_in_text (const Classifier *self, const char *text, gsize length, AssayTextRange *at)
{
  g_autoptr (GMatchInfo) match = NULL;
  int from = 0, to = 0;
  if (!g_regex_match_full (self->code, text, (gssize) length, 0, 0, &match, NULL))
    return NULL;
  for (int i = g_match_info_get_match_count (match); i-- > 1;)
    if (g_match_info_fetch_pos (match, i, &from, &to) && to > from)
      break;
  g_autofree char *code = g_strndup (text + from, (gsize) (to - from));
  g_match_info_fetch_pos (match, 0, &from, &to);
  *at = (AssayTextRange) {(gsize) from, (gsize) to};
  return g_str_has_prefix (code, "hip") ? g_strconcat ("cuda", code + 3, NULL)
                                        : g_steal_pointer (&code);
}

/* A driver's code spelled out in the text says as much as one beside it. */
static const Pattern *
by_code_in_text (const Classifier *self, const char *text, gsize length, Tier tier,
                 AssayTextRange *at)
{
  g_autofree char *name = code_in_text (self, text, length, at);
  return name ? by_name (self, name, text, length, tier) : NULL;
}

/* A text or a code, whichever comes first. */
static const Pattern *
by_place (const Classifier *self, const char *text, gsize length, Tier tier, AssayTextRange *at)
{
  AssayTextRange code_at;
  const Pattern *words = by_text (self, text, length, tier, at);
  const Pattern *code = by_code_in_text (self, text, length, tier, &code_at);
  if (!code || (words && at->start < code_at.start))
    return words;
  *at = code_at;
  return code;
}

/* What the last traceback says, its first cause first: a log says much before. */
static const Pattern *
by_place_in_exceptions (const Classifier *self, const char *text, const GArray *exceptions,
                        AssayTextRange *at)
{
  for (guint i = 0; i < exceptions->len; i++)
    {
      AssayTextRange says = g_array_index (exceptions, AssayLoggedException, i).says;
      const Pattern *pattern =
          by_place (self, text + says.start, says.end - says.start, SPECIFIC, at);
      if (!pattern)
        continue;
      at->start += says.start;
      at->end += says.start;
      return pattern;
    }
  return NULL;
}

static gboolean
is_thrown (const Pattern *pattern, const AssayLoggedException *exception, const char *text,
           Tier tier)
{
  gsize start, end, length = exception->says.end - exception->says.start;
  return is_trace (pattern) && pattern->tier == tier
         && (!pattern->type || g_regex_match (pattern->type, exception->type, 0, NULL))
         && (!pattern->frame
             || (exception->frame && g_regex_match (pattern->frame, exception->frame, 0, NULL)))
         && (!pattern->text
             || find (pattern->text, text + exception->says.start, length, &start, &end));
}

/* Which kind of exception came from which part of a framework; the last one first, since programs catch
 * one to throw another. */
static const Pattern *
by_trace (const Classifier *self, const char *text, const GArray *exceptions, Tier tier,
          AssayTextRange *at)
{
  for (guint i = exceptions->len; i-- > 0;)
    for (guint k = 0; k < self->patterns->len; k++)
      {
        const Pattern *pattern = &g_array_index (self->patterns, Pattern, k);
        const AssayLoggedException *exception =
            &g_array_index (exceptions, AssayLoggedException, i);
        if (!is_thrown (pattern, exception, text, tier))
          continue;
        *at = exception->says;
        return pattern;
      }
  return NULL;
}

/* What a piece of text is about: the first in the table. */
static const Pattern *
by_words_in (const Classifier *self, const char *text, AssayTextRange where)
{
  gsize start, end;
  for (guint i = 0; i < self->patterns->len; i++)
    {
      const Pattern *pattern = &g_array_index (self->patterns, Pattern, i);
      if (pattern->tier == WORDS && !is_trace (pattern)
          && find (pattern->text, text + where.start, where.end - where.start, &start, &end))
        return pattern;
    }
  return NULL;
}

static const Pattern *
by_words_of_exceptions (const Classifier *self, const char *text, const GArray *exceptions,
                        AssayTextRange *at)
{
  const Pattern *pattern = NULL;
  for (guint i = exceptions->len; i-- > 0 && !pattern;)
    {
      *at = g_array_index (exceptions, AssayLoggedException, i).says;
      pattern = by_words_in (self, text, *at);
    }
  return pattern;
}

static const Pattern *
by_words_of_lines (const Classifier *self, const char *text, gsize length, const GArray *exceptions,
                   AssayTextRange *at)
{
  const Pattern *pattern = NULL;
  g_autoptr (GArray) lines = assay_log_error_lines (text, length);
  for (guint i = 0; i < lines->len && !pattern; i++)
    {
      *at = g_array_index (lines, AssayTextRange, i);
      pattern = by_words_in (self, text, *at);
    }
  return pattern ? pattern : by_trace (self, text, exceptions, WORDS, at);
}

/* One piece of a log, from what proves most to what proves least. */
static const Pattern *
explain (const Classifier *self, const char *name, const char *text, gsize length, Tier tier,
         const GArray *exceptions, AssayTextRange *at)
{
  const Pattern *pattern = by_name (self, name, text, length, tier);
  if (pattern)
    {
      *at = (AssayTextRange) {0, 0};
      return pattern;
    }
  AssayTextRange thrown_at = {0, 0};
  const Pattern *thrown = tier == SPECIFIC
                              ? by_place_in_exceptions (self, text, exceptions, &thrown_at)
                              : by_trace (self, text, exceptions, tier, &thrown_at);
  pattern = by_place (self, text, length, tier, at);
  /* The same, told earlier and closer to the fault. */
  if (!thrown || (pattern && g_str_equal (thrown->is.failure_class, pattern->is.failure_class)))
    return pattern;
  *at = thrown_at;
  return thrown;
}

/* One half MiB of a log. Warnings are asked after what ended the program, and before mere words. */
static const Pattern *
explain_part (const Classifier *self, const char *name, const char *text, gsize length,
              AssayTextRange *at)
{
  g_autofree char *said = assay_log_without_source (text, length);
  g_autofree char *failed = assay_log_without_warnings (said, length);
  g_autoptr (GArray) exceptions = assay_log_exceptions (failed, length);
  const Pattern *pattern = explain (self, name, failed, length, SPECIFIC, exceptions, at);
  if (!pattern)
    pattern = explain (self, name, failed, length, GENERAL, exceptions, at);
  if (!pattern)
    pattern = by_words_of_exceptions (self, failed, exceptions, at);
  if (!pattern)
    pattern = explain (self, NULL, said, length, SPECIFIC, exceptions, at);
  if (!pattern)
    pattern = explain (self, NULL, said, length, GENERAL, exceptions, at);
  if (!pattern)
    pattern = by_words_of_lines (self, failed, length, exceptions, at);
  return pattern ? pattern : by_words_of_lines (self, said, length, exceptions, at);
}

const AssayFailureClass *
assay_failure_explain (const char *name, const char *text, gsize *start, gsize *end)
{
  const Classifier *self = classifier ();
  const char *words = text ? text : "";
  gsize length = strlen (words), head = MIN (length, HALF_MIB), skipped = 0;
  AssayTextRange at = {0, 0};
  const Pattern *pattern = explain_part (self, name, words, head, &at);
  gboolean weak = !pattern || pattern->tier == WORDS;
  if (weak && length > head)
    {
      AssayTextRange late = {0, 0};
      skipped = MAX (length - HALF_MIB, HALF_MIB);
      const Pattern *last = explain_part (self, NULL, words + skipped, length - skipped, &late);
      at = last ? late : at;
      skipped = last ? skipped : 0;
      pattern = last ? last : pattern;
    }
  *start = at.start + (at.end ? skipped : 0);
  *end = at.end + (at.end ? skipped : 0);
  return pattern ? &pattern->is : &self->unknown;
}

const AssayFailureClass *
assay_failure_classify (const AssayFailure *failure)
{
  gsize start, end;
  return assay_failure_explain (failure->name, failure->message, &start, &end);
}
