/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/task/problems.h"
#include "engine/task/reference.h"

#include <string.h>

/* Reference, starting point and candidates. */

static gboolean
is_argument (const AssayTask *task, const char *name)
{
  if (assay_task_input (task, name) || assay_task_output (task, name)
      || assay_task_axis (task, name))
    return TRUE;
  const char *dot = strstr (name, ".stride");
  if (!dot || !g_ascii_isdigit (dot[7]) || dot[8])
    return FALSE;
  g_autofree char *array = g_strndup (name, (gsize) (dot - name));
  const AssayTaskArray *found = assay_task_input (task, array);
  found = found ? found : assay_task_output (task, array);
  return found && found->shape && (guint) (dot[7] - '0') < g_strv_length (found->shape);
}

static void
check_arguments (AssayProblems *problems, const char *path, char **arguments)
{
  for (guint i = 0; arguments && arguments[i]; i++)
    {
      if (is_argument (problems->task, arguments[i]))
        continue;
      g_autofree char *inner = g_strdup_printf ("%s[%u]", path, i);
      g_autofree char *names = assay_task_names (problems->task, TRUE);
      g_autofree char *expected = g_strdup_printf ("an input, output or axis (%s)", names);
      assay_problem_quoted (problems, inner, expected, arguments[i]);
    }
}

static void
check_three (AssayProblems *problems, const char *path, const char *key, char **texts)
{
  g_autofree char *inner = g_strdup_printf ("%s.%s", path, key);
  guint n = texts ? g_strv_length (texts) : 0;
  if (n < 1 || n > 3)
    {
      g_autofree char *found = g_strdup_printf ("%u", n);
      assay_problem (problems, inner, "one to three entries, since the kind is kernel", found);
    }
  assay_check_expressions (problems, inner, texts);
}

static void
check_entry (AssayProblems *problems, const char *path, const AssayEntry *entry)
{
  static const gboolean NEEDS_ARGUMENTS[] = {
      [ASSAY_ENTRY_KERNEL] = TRUE, [ASSAY_ENTRY_HOST] = TRUE, [ASSAY_ENTRY_NKI] = FALSE};
  g_autofree char *arguments = g_strconcat (path, ".arguments", NULL);
  check_arguments (problems, arguments, entry->arguments);
  if (NEEDS_ARGUMENTS[entry->kind] && !entry->arguments)
    assay_problem (problems, arguments, "the names of the arguments, in order", "nothing");
  if (entry->kind != ASSAY_ENTRY_KERNEL)
    return;
  g_autofree char *shared = g_strconcat (path, ".shared", NULL);
  check_three (problems, path, "grid", entry->grid);
  check_three (problems, path, "block", entry->block);
  assay_check_expression (problems, shared, entry->shared);
}

/* Which kinds of entry a framework can have, one bit a kind. */
static const guint ENTRIES_OF[] = {
    [0] = 1 << ASSAY_ENTRY_KERNEL | 1 << ASSAY_ENTRY_HOST | 1 << ASSAY_ENTRY_PROGRAM
          | 1 << ASSAY_ENTRY_TORCH_MODULE,                                            /* cuda */
    [1] = 1 << ASSAY_ENTRY_KERNEL,                                                    /* ptx */
    [2] = 1 << ASSAY_ENTRY_KERNEL | 1 << ASSAY_ENTRY_HOST | 1 << ASSAY_ENTRY_PROGRAM, /* hip */
    [3] = 1 << ASSAY_ENTRY_TRITON_KERNEL | 1 << ASSAY_ENTRY_PYTHON
          | 1 << ASSAY_ENTRY_TORCH_MODULE,                         /* triton */
    [4] = 1 << ASSAY_ENTRY_PALLAS | 1 << ASSAY_ENTRY_PYTHON,       /* pallas */
    [5] = 1 << ASSAY_ENTRY_NKI | 1 << ASSAY_ENTRY_PYTHON,          /* nki */
    [6] = 1 << ASSAY_ENTRY_TORCH_MODULE | 1 << ASSAY_ENTRY_PYTHON, /* torch */
    [7] = 1 << ASSAY_ENTRY_PYTHON | 1 << ASSAY_ENTRY_TORCH_MODULE, /* python */
    [8] = 1 << ASSAY_ENTRY_HOST | 1 << ASSAY_ENTRY_PROGRAM,        /* c */
};

static void
check_framework (AssayProblems *problems, const char *path, const AssayCandidate *candidate)
{
  if (ENTRIES_OF[candidate->framework] & 1u << candidate->entry.kind)
    return;
  g_autoptr (GString) expected = g_string_new ("one of");
  for (guint kind = 0; ASSAY_ENTRY_KINDS[kind]; kind++)
    if (ENTRIES_OF[candidate->framework] & 1u << kind)
      g_string_append_printf (expected, " %s", ASSAY_ENTRY_KINDS[kind]);
  g_string_append_printf (expected, " for framework %s",
                          ASSAY_TASK_FRAMEWORKS[candidate->framework]);
  g_autofree char *inner = g_strconcat (path, ".entry.kind", NULL);
  assay_problem_quoted (problems, inner, expected->str, ASSAY_ENTRY_KINDS[candidate->entry.kind]);
}

static void
check_candidate (AssayProblems *problems, const char *path, const AssayCandidate *candidate)
{
  g_autofree char *sources = g_strconcat (path, ".sources", NULL);
  g_autofree char *entry = g_strconcat (path, ".entry", NULL);
  assay_check_files (problems, sources, candidate->sources);
  check_framework (problems, path, candidate);
  check_entry (problems, entry, &candidate->entry);
}

static void
check_candidates (AssayProblems *problems)
{
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint i = 0; i < problems->task->candidates->len; i++)
    {
      const AssayCandidate *candidate = g_ptr_array_index (problems->task->candidates, i);
      g_autofree char *path = g_strdup_printf ("candidates[%u]", i);
      g_autofree char *name = g_strdup_printf ("candidates[%u].name", i);
      if (!g_hash_table_add (names, candidate->name))
        assay_problem_quoted (problems, name, "a name no other candidate has", candidate->name);
      check_candidate (problems, path, candidate);
    }
}

static void
check_reference (AssayProblems *problems, const char *path, const AssayReference *reference)
{
  static const char *const LANGUAGES[] = {"c", "cuda", "python", NULL};
  g_autofree char *language = g_strconcat (path, ".language", NULL);
  g_autofree char *sources = g_strconcat (path, ".sources", NULL);
  g_autofree char *arguments = g_strconcat (path, ".arguments", NULL);
  assay_check_word (problems, language, reference->language, LANGUAGES);
  assay_check_files (problems, sources, reference->sources);
  check_arguments (problems, arguments, reference->arguments);
  g_autofree char *entry = g_strconcat (path, ".entry", NULL);
  gboolean c = g_strcmp0 (reference->language, "c") == 0;
  if (c && !g_regex_match_simple ("^[A-Za-z_][A-Za-z0-9_]*$", reference->entry, 0, 0))
    assay_problem_quoted (problems, entry, "the name of a C function", reference->entry);
}

void
assay_check_programs (AssayProblems *problems)
{
  const AssayTask *task = problems->task;
  if (task->reference)
    check_reference (problems, "reference", task->reference);
  else if (!task->harness || JSON_NODE_HOLDS_NULL (task->harness))
    assay_problem (problems, "reference", "an object, since the task has no harness", "nothing");
  if (task->cross_check)
    check_reference (problems, "cross_check", task->cross_check);
  if (task->starting_point)
    check_candidate (problems, "starting_point", task->starting_point);
  check_candidates (problems);
}
