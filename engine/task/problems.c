/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/task/problems.h"

#include "engine/base/error.h"
#include "engine/base/expression.h"

#include <string.h>

void
assay_problem (AssayProblems *problems, const char *path, const char *expected, const char *found)
{
  g_ptr_array_add (problems->list, g_strdup_printf (ASSAY_TASK_FILE ": %s: expected %s, found %s",
                                                    path, expected, found));
}

void
assay_problem_quoted (AssayProblems *problems, const char *path, const char *expected,
                      const char *found)
{
  g_autofree char *quoted = found ? g_strdup_printf ("\"%s\"", found) : g_strdup ("nothing");
  assay_problem (problems, path, expected, quoted);
}

/* For errors that already say what was expected and found. */
void
assay_problem_error (AssayProblems *problems, const char *path, const GError *error)
{
  g_ptr_array_add (problems->list, g_strdup_printf (ASSAY_TASK_FILE ": %s%s%s", path,
                                                    *path ? ": " : "", error->message));
}

static gboolean
matches (const char *text, const char *pattern)
{
  return text && g_regex_match_simple (pattern, text, G_REGEX_DOLLAR_ENDONLY, 0);
}

void
assay_check_word (AssayProblems *problems, const char *path, const char *word,
                  const char *const *words)
{
  if (!word || g_strv_contains (words, word))
    return;
  g_autofree char *list = g_strjoinv (", ", (char **) words);
  g_autofree char *expected = g_strconcat ("one of ", list, NULL);
  assay_problem_quoted (problems, path, expected, word);
}

void
assay_check_file (AssayProblems *problems, const char *path, const char *relative)
{
  g_autoptr (GError) error = NULL;
  if (!relative)
    return;
  if (strpbrk (relative, "\"\\\n\r"))
    {
      assay_problem_quoted (problems, path, "a path without quotes, backslashes or line breaks",
                            relative);
      return;
    }
  g_autofree char *full = assay_task_path (problems->task, relative, &error);
  if (!full)
    assay_problem_error (problems, path, error);
  else if (!g_file_test (full, G_FILE_TEST_IS_REGULAR))
    assay_problem_quoted (problems, path, "a regular file", relative);
}

void
assay_check_files (AssayProblems *problems, const char *path, char **files)
{
  if (!files || !*files)
    assay_problem (problems, path, "at least one file", "none");
  for (guint i = 0; files && files[i]; i++)
    {
      g_autofree char *inner = g_strdup_printf ("%s[%u]", path, i);
      assay_check_file (problems, inner, files[i]);
    }
}

typedef struct
{
  const AssayTask *task;
  char *unknown;
} Names;

/* Any value does for a check of names; 7 keeps most divisions sound. */
static gboolean
lookup_name (const char *name, gint64 *value, gpointer user_data)
{
  Names *names = user_data;
  *value = 7;
  if (assay_task_axis (names->task, name))
    return TRUE;
  g_free (names->unknown);
  names->unknown = g_strdup (name);
  return FALSE;
}

char *
assay_task_names (const AssayTask *task, gboolean arrays)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  const GPtrArray *lists[] = {arrays ? task->inputs : NULL, arrays ? task->outputs : NULL,
                              task->axes};
  for (gsize l = 0; l < G_N_ELEMENTS (lists); l++)
    for (guint i = 0; lists[l] && i < lists[l]->len; i++)
      g_ptr_array_add (names, *(char **) g_ptr_array_index (lists[l], i));
  g_ptr_array_add (names, NULL);
  char *text = g_strjoinv (", ", (char **) names->pdata);
  return *text ? text : (g_free (text), g_strdup ("none are defined"));
}

void
assay_check_expression (AssayProblems *problems, const char *path, const char *text)
{
  if (!text)
    return;
  Names names = {problems->task, NULL};
  gint64 value = 0;
  g_autoptr (GError) error = NULL;
  gboolean good = assay_expression_evaluate (text, lookup_name, &names, &value, &error);
  g_autofree char *unknown = names.unknown;
  if (unknown)
    {
      g_autofree char *known = assay_task_names (problems->task, FALSE);
      g_autofree char *expected =
          g_strdup_printf ("an integer or arithmetic over the axes (%s)", known);
      g_autofree char *found = g_strdup_printf ("\"%s\" with the unknown name %s", text, unknown);
      assay_problem (problems, path, expected, found);
    }
  else if (!good && !strstr (error->message, "zero"))
    {
      g_autofree char *found = g_strdup_printf ("\"%s\": %s", text, error->message);
      assay_problem (problems, path, "an integer or arithmetic over the axes", found);
    }
}

void
assay_check_expressions (AssayProblems *problems, const char *path, char **texts)
{
  for (guint i = 0; texts && texts[i]; i++)
    {
      g_autofree char *inner = g_strdup_printf ("%s[%u]", path, i);
      assay_check_expression (problems, inner, texts[i]);
    }
}

static void
check_name (AssayProblems *problems, const char *path, const char *name, GHashTable *taken)
{
  if (!matches (name, "^[A-Za-z_][A-Za-z0-9_]*$"))
    assay_problem_quoted (problems, path, "a name of letters, digits and _", name);
  if (!g_hash_table_add (taken, (gpointer) name))
    assay_problem_quoted (problems, path, "a name used once among axes, inputs and outputs", name);
}

static void
check_axes (AssayProblems *problems, GHashTable *taken)
{
  for (guint i = 0; i < problems->task->axes->len; i++)
    {
      const AssayTaskAxis *axis = g_ptr_array_index (problems->task->axes, i);
      g_autofree char *path = g_strdup_printf ("axes.%s", axis->name);
      g_autofree char *inner = g_strdup_printf ("axes.%s.expression", axis->name);
      check_name (problems, path, axis->name, taken);
      if (axis->type == ASSAY_AXIS_EXPR && !axis->expression)
        assay_problem (problems, inner, "an expression, since the type is expr", "nothing");
      if (axis->type == ASSAY_AXIS_EXPR)
        assay_check_expression (problems, inner, axis->expression);
    }
}

static void
check_array (AssayProblems *problems, const char *group, const AssayTaskArray *array)
{
  g_autofree char *shape = g_strdup_printf ("%s.%s.shape", group, array->name);
  assay_check_expressions (problems, shape, array->shape);
  if (array->alias && !assay_task_input (problems->task, array->alias))
    {
      g_autofree char *path = g_strdup_printf ("%s.%s.alias", group, array->name);
      assay_problem_quoted (problems, path, "the name of an input", array->alias);
    }
  if (array->quant && array->quant->scale
      && !assay_task_input (problems->task, array->quant->scale))
    {
      g_autofree char *path = g_strdup_printf ("%s.%s.quant.scale", group, array->name);
      assay_problem_quoted (problems, path, "the name of an input", array->quant->scale);
    }
  if (array->quant && array->quant->tensor_scale
      && !assay_task_input (problems->task, array->quant->tensor_scale))
    {
      g_autofree char *path = g_strdup_printf ("%s.%s.quant.tensor_scale", group, array->name);
      assay_problem_quoted (problems, path, "the name of an input", array->quant->tensor_scale);
    }
}

static void
check_arrays (AssayProblems *problems, const char *group, const GPtrArray *arrays,
              GHashTable *taken)
{
  for (guint i = 0; i < arrays->len; i++)
    {
      const AssayTaskArray *array = g_ptr_array_index (arrays, i);
      g_autofree char *path = g_strdup_printf ("%s.%s", group, array->name);
      check_name (problems, path, array->name, taken);
      check_array (problems, group, array);
    }
}

static void
check_promise (AssayProblems *problems, const char *path, JsonNode *node)
{
  if (!node || JSON_NODE_HOLDS_NULL (node) || assay_task_promise (node) >= 0)
    return;
  g_autofree char *found = assay_json_write_line (node);
  assay_problem (problems, path, "true, false or null", found);
}

static void
check_free_order (AssayProblems *problems, JsonNode *node)
{
  JsonObjectIter iter;
  const char *name;
  JsonNode *value;
  if (!node || JSON_NODE_HOLDS_NULL (node))
    return;
  if (!JSON_NODE_HOLDS_OBJECT (node))
    {
      assay_problem (problems, "numerics.free_order", "an object {array: axis}", "something else");
      return;
    }
  json_object_iter_init (&iter, json_node_get_object (node));
  while (json_object_iter_next (&iter, &name, &value))
    {
      g_autofree char *path = g_strconcat ("numerics.free_order.", name, NULL);
      const AssayTaskArray *array = assay_task_input (problems->task, name);
      if (!array)
        array = assay_task_output (problems->task, name);
      gint64 axis = JSON_NODE_HOLDS_VALUE (value) ? json_node_get_int (value) : -1;
      if (!array)
        assay_problem_quoted (problems, path, "the name of an input or output", name);
      else if (!array->shape || axis < 0 || axis >= (gint64) g_strv_length (array->shape))
        assay_problem (problems, path, "the number of one of its axes, from 0", "something else");
    }
}

static void
check_numerics (AssayProblems *problems)
{
  static const char *const SCALES[] = {"absolute_inputs", NULL};
  const AssayNumerics *numerics = &problems->task->numerics;
  assay_check_word (problems, "numerics.compute", numerics->compute, ASSAY_DTYPE_NAMES);
  assay_check_word (problems, "numerics.accumulate", numerics->accumulate, ASSAY_DTYPE_NAMES);
  assay_check_word (problems, "numerics.scale", numerics->scale, SCALES);
  check_free_order (problems, numerics->free_order);
  check_promise (problems, "numerics.tf32", numerics->tf32);
  check_promise (problems, "numerics.fast_math", numerics->fast_math);
  check_promise (problems, "numerics.flush_subnormals", numerics->flush_subnormals);
  check_promise (problems, "numerics.deterministic", numerics->deterministic);
}

static void
check_header (AssayProblems *problems)
{
  static const char *const TRAINING[] = {"yes", "no", "conditional", NULL};
  const AssayTask *task = problems->task;
  if (!matches (task->id, "^[A-Za-z0-9][A-Za-z0-9_.-]*$"))
    assay_problem_quoted (problems, "id", "letters, digits, _, . and -", task->id);
  assay_check_file (problems, "spec", task->spec);
  assay_check_file (problems, "prompt", task->prompt);
  assay_check_word (problems, "license.training_allowed", task->license.training_allowed, TRAINING);
  for (guint i = 0; task->targets && task->targets[i]; i++)
    if (!matches (task->targets[i], "^(cuda|hip|tpu|neuron):[A-Za-z0-9_]+$"))
      {
        g_autofree char *path = g_strdup_printf ("targets[%u]", i);
        assay_problem_quoted (problems, path, "family:architecture, such as cuda:sm_80",
                              task->targets[i]);
      }
  if (!task->outputs->len)
    assay_problem (problems, "outputs", "at least one output", "none");
  if (!task->candidates->len)
    assay_problem (problems, "candidates", "at least one candidate", "none");
  if (!task->workloads->len)
    assay_problem (problems, "workloads", "at least one workload", "none");
}

static void
check_benchmark (AssayProblems *problems)
{
  const AssayBenchmark *benchmark = problems->task->benchmark;
  if (!benchmark)
    return;
  assay_check_expression (problems, "benchmark.flops", benchmark->flops);
  assay_check_expression (problems, "benchmark.bytes", benchmark->bytes);
}

GPtrArray *
assay_task_problems (const AssayTask *task)
{
  AssayProblems problems = {task, g_ptr_array_new_with_free_func (g_free)};
  g_autoptr (GHashTable) taken = g_hash_table_new (g_str_hash, g_str_equal);
  check_header (&problems);
  check_axes (&problems, taken);
  check_arrays (&problems, "inputs", task->inputs, taken);
  check_arrays (&problems, "outputs", task->outputs, taken);
  assay_check_expressions (&problems, "constraints", task->constraints);
  check_numerics (&problems);
  assay_check_programs (&problems);
  check_benchmark (&problems);
  /* Workloads are worked out with the names above; with those wrong they would only repeat it. */
  if (problems.list->len == 0)
    assay_check_workloads (&problems);
  return problems.list;
}
