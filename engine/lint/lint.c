/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/lint/lint-private.h"

#include "engine/findings/rules.h"

#include <string.h>

/* Below this a hint is minor, whatever its rule. */
#define SURE 0.75

static GRegex *
compiled (const char *pattern)
{
  static GHashTable *known;
  static GMutex mutex;
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&mutex);
  if (!known)
    known = g_hash_table_new (g_str_hash, g_str_equal);
  GRegex *regex = g_hash_table_lookup (known, pattern);
  if (!regex)
    {
      g_autoptr (GError) error = NULL;
      regex = g_regex_new (pattern, G_REGEX_CASELESS | G_REGEX_OPTIMIZE, 0, &error);
      g_assert_no_error (error);
      g_hash_table_insert (known, g_strdup (pattern), regex);
    }
  return regex;
}

gboolean
assay_lint_is_like (const char *text, const char *pattern)
{
  return text && g_regex_match (compiled (pattern), text, 0, NULL);
}

gboolean
assay_lint_mentions_like (AssaySyntax *node, const char *pattern)
{
  return assay_syntax_matches (node, compiled (pattern));
}

static int
severity_of (const AssayRule *rule, double confidence)
{
  if (g_str_has_prefix (rule->id, "hack."))
    return ASSAY_SEVERITY_INFO;
  return confidence >= SURE ? rule->severity : MAX ((int) rule->severity, ASSAY_SEVERITY_MINOR);
}

void
assay_lint_add (AssayLint *lint, const char *rule, AssaySyntax *where, double confidence,
                char *title, const char *why)
{
  const AssayRule *known = assay_rule_find (rule);
  g_assert (known);
  AssayFinding *finding = assay_finding_new ();
  finding->rule = g_strdup (rule);
  finding->rule_version = 1;
  finding->axis = g_strdup (known->axis);
  finding->severity = severity_of (known, confidence);
  finding->blame = known->blame;
  finding->component = g_strdup (known->component);
  finding->confidence = confidence;
  finding->title = title;
  finding->detail = g_strdup (why ? why : "");
  finding->suggestion = g_strdup (known->suggestion);
  finding->where.file = g_strdup (lint->python->path);
  finding->where.line = assay_syntax_line (where);
  finding->count = 1;
  g_autofree char *file = g_shell_quote (lint->python->path);
  finding->reproduce = g_strdup_printf ("assay-engine lint %s", file);
  assay_finding_fingerprint (finding, title);
  g_ptr_array_add (lint->findings, finding);
}

typedef struct
{
  const char *module;
  gboolean found;
} Import;

static gboolean
find_import (AssaySyntax *node, gpointer user_data)
{
  Import *self = user_data;
  const char *from = assay_syntax_is (node, "ImportFrom") ? assay_syntax_text (node, "module")
                     : assay_syntax_is (node, "alias")    ? assay_syntax_text (node, "name")
                                                          : NULL;
  gsize length = strlen (self->module);
  if (from && strncmp (from, self->module, length) == 0 && (!from[length] || from[length] == '.'))
    self->found = TRUE;
  return !self->found;
}

gboolean
assay_lint_imports (const AssayPython *python, const char *module)
{
  Import self = {.module = module};
  assay_syntax_walk (assay_python_module (python), find_import, &self);
  return self.found;
}

typedef struct
{
  AssayLint *lint;
  AssayLintFunction visit;
} Functions;

static gboolean
visit_function (AssaySyntax *node, gpointer user_data)
{
  Functions *self = user_data;
  if (assay_syntax_is (node, "FunctionDef") || assay_syntax_is (node, "AsyncFunctionDef"))
    self->visit (self->lint, node);
  return TRUE;
}

void
assay_lint_functions (AssayLint *lint, AssayLintFunction visit)
{
  Functions self = {lint, visit};
  assay_syntax_walk (assay_python_module (lint->python), visit_function, &self);
}

static int
by_line (gconstpointer a, gconstpointer b)
{
  const AssayFinding *x = *(AssayFinding *const *) a, *y = *(AssayFinding *const *) b;
  if (x->where.line != y->where.line)
    return x->where.line < y->where.line ? -1 : 1;
  return strcmp (x->rule, y->rule);
}

/* One statement seen from two sides is told once. */
static void
drop_repeated (GPtrArray *findings)
{
  for (guint i = findings->len; i-- > 1;)
    {
      const AssayFinding *one = g_ptr_array_index (findings, i);
      const AssayFinding *before = g_ptr_array_index (findings, i - 1);
      if (one->where.line == before->where.line && g_str_equal (one->rule, before->rule))
        g_ptr_array_remove_index (findings, i);
    }
}

GPtrArray *
assay_lint_python (const AssayPython *python)
{
  AssayLint lint = {python, g_ptr_array_new_with_free_func ((GDestroyNotify) assay_finding_free)};
  assay_lint_timing (&lint);
  assay_lint_metrics (&lint);
  assay_lint_checkers (&lint);
  assay_lint_inputs (&lint);
  assay_lint_integrity (&lint);
  g_ptr_array_sort (lint.findings, by_line);
  drop_repeated (lint.findings);
  return lint.findings;
}
