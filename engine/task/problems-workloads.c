/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/task/plan.h"
#include "engine/task/problems.h"

static void
check_range (AssayProblems *problems, const char *path, const char *key, gboolean good,
             const char *expected, double value)
{
  if (good)
    return;
  g_autofree char *inner = g_strdup_printf ("%s.%s", path, key);
  g_autofree char *found = assay_double_to_string (value);
  assay_problem (problems, inner, expected, found);
}

static void
check_shares (AssayProblems *problems, const char *path, const AssayGenerator *g)
{
  const double shares[] = {g->share_zero, g->share_negative_zero, g->share_infinity,
                           g->share_negative_infinity, g->share_nan};
  double sum = 0;
  gboolean good = TRUE;
  for (gsize i = 0; i < G_N_ELEMENTS (shares); i++)
    {
      good &= shares[i] >= 0 && shares[i] <= 1;
      sum += shares[i];
    }
  check_range (problems, path, "share_…", good && sum <= 1,
               "shares from 0 to 1, together at most 1", sum);
}

static void
check_random (AssayProblems *problems, const char *path, const AssayGenerator *g)
{
  gboolean bounded = g->distribution == ASSAY_DISTRIBUTION_UNIFORM
                     || g->distribution == ASSAY_DISTRIBUTION_INTEGERS
                     || g->distribution == ASSAY_DISTRIBUTION_SORTED;
  check_range (problems, path, "high", !bounded || g->high > g->low, "a number above low", g->high);
  check_range (problems, path, "std", g->std >= 0, "a number, 0 or more", g->std);
  check_shares (problems, path, g);
}

static void
check_generator (AssayProblems *problems, const char *path, const AssayGenerator *g)
{
  const AssayTaskArray *input = assay_task_input (problems->task, g->name);
  g_autofree char *type = g_strconcat (path, ".type", NULL);
  g_autofree char *file = g_strconcat (path, ".path", NULL);
  if (!input)
    {
      g_autofree char *names = assay_task_names (problems->task, TRUE);
      g_autofree char *expected = g_strdup_printf ("the name of an input (%s)", names);
      assay_problem_quoted (problems, path, expected, g->name);
      return;
    }
  gboolean stored = g->type == ASSAY_GENERATOR_NPY || g->type == ASSAY_GENERATOR_SAFETENSORS;
  if (stored && !g->path)
    assay_problem (problems, file, "the path of a file", "nothing");
  if (stored)
    assay_check_file (problems, file, g->path);
  if (g->type == ASSAY_GENERATOR_SCALAR && input->shape)
    assay_problem_quoted (problems, type, "a generator of arrays, since the input has a shape",
                          "scalar");
  check_random (problems, path, g);
}

static void
check_inputs (AssayProblems *problems, const char *path, const AssayWorkload *workload)
{
  for (guint i = 0; i < workload->inputs->len; i++)
    {
      const AssayGenerator *generator = g_ptr_array_index (workload->inputs, i);
      g_autofree char *inner = g_strdup_printf ("%s.inputs.%s", path, generator->name);
      check_generator (problems, inner, generator);
    }
  for (guint i = 0; i < problems->task->inputs->len; i++)
    {
      const AssayTaskArray *input = g_ptr_array_index (problems->task->inputs, i);
      g_autofree char *inner = g_strdup_printf ("%s.inputs.%s", path, input->name);
      if (input->role != ASSAY_ROLE_WORKSPACE && !assay_workload_generator (workload, input->name)
          && !assay_workload_scaled_by (problems->task, workload, input->name))
        assay_problem (problems, inner, "how to make this input", "nothing");
    }
}

static void
check_axis_values (AssayProblems *problems, const char *path, const AssayWorkload *workload)
{
  g_autofree char *axes = g_strconcat (path, ".axes", NULL);
  if (!workload->axes || JSON_NODE_HOLDS_NULL (workload->axes))
    return;
  if (!JSON_NODE_HOLDS_OBJECT (workload->axes))
    {
      assay_problem (problems, axes, "an object of axis values", "something else");
      return;
    }
  JsonObject *object = json_node_get_object (workload->axes);
  g_autoptr (GList) keys = json_object_get_members (object);
  for (GList *key = keys; key; key = key->next)
    {
      const AssayTaskAxis *axis = assay_task_axis (problems->task, key->data);
      if (axis && axis->type == ASSAY_AXIS_VAR)
        continue;
      g_autofree char *inner = g_strdup_printf ("%s.%s", axes, (char *) key->data);
      g_autofree char *names = assay_task_names (problems->task, FALSE);
      g_autofree char *expected = g_strdup_printf ("an axis of type var (axes: %s)", names);
      assay_problem_quoted (problems, inner, expected, key->data);
    }
}

static void
check_tolerances (AssayProblems *problems, const AssayWorkload *workload)
{
  const AssayTask *task = problems->task;
  gboolean own = (task->checker && !JSON_NODE_HOLDS_NULL (task->checker))
                 || (task->harness && !JSON_NODE_HOLDS_NULL (task->harness));
  gboolean none = !task->tolerance || JSON_NODE_HOLDS_NULL (task->tolerance);
  if (own && none)
    return;
  for (guint i = 0; i < task->outputs->len; i++)
    {
      const AssayTaskArray *output = g_ptr_array_index (task->outputs, i);
      g_autoptr (GError) error = NULL;
      g_autoptr (AssayTolerance) tolerance =
          assay_task_tolerance (task, workload, output->name, &error);
      if (tolerance)
        continue;
      assay_problem_error (problems, "", error);
      return;
    }
}

static void
check_workload (AssayProblems *problems, const char *path, const AssayWorkload *workload)
{
  static const char *const USES[] = {"check", "bench", NULL};
  const AssayTask *task = problems->task;
  guint before = problems->list->len;
  for (guint i = 0; workload->use && workload->use[i]; i++)
    {
      g_autofree char *inner = g_strdup_printf ("%s.use[%u]", path, i);
      assay_check_word (problems, inner, workload->use[i], USES);
    }
  check_axis_values (problems, path, workload);
  check_inputs (problems, path, workload);
  check_tolerances (problems, workload);
  if (problems->list->len > before)
    return;
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayPlan) plan = assay_plan_new (task, workload, &error);
  if (!plan)
    {
      assay_problem_error (problems, "", error);
      return;
    }
  for (guint i = 0; i < task->candidates->len; i++)
    {
      const AssayCandidate *candidate = g_ptr_array_index (task->candidates, i);
      AssayLaunchShape shape;
      if (candidate->entry.kind != ASSAY_ENTRY_KERNEL
          || assay_plan_launch (plan, &candidate->entry, &shape, &error))
        continue;
      g_autofree char *inner =
          g_strdup_printf ("candidates[%u].entry (workload %s)", i, workload->name);
      assay_problem_error (problems, inner, error);
      return;
    }
}

void
assay_check_workloads (AssayProblems *problems)
{
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint i = 0; i < problems->task->workloads->len; i++)
    {
      const AssayWorkload *workload = g_ptr_array_index (problems->task->workloads, i);
      g_autofree char *path = g_strdup_printf ("workloads[%u]", i);
      g_autofree char *name = g_strdup_printf ("workloads[%u].name", i);
      if (!g_hash_table_add (names, workload->name))
        assay_problem_quoted (problems, name, "a name no other workload has", workload->name);
      check_workload (problems, path, workload);
    }
}
