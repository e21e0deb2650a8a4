/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/task/plan.h"

#include "engine/base/error.h"
#include "engine/base/expression.h"

#include <string.h>

static void
set_axis (AssayPlan *plan, const char *name, gint64 value)
{
  g_hash_table_insert (plan->axes, g_strdup (name), g_memdup2 (&value, sizeof value));
}

static gboolean
fixed_axes (AssayPlan *plan, GError **error)
{
  const GPtrArray *axes = plan->task->axes;
  JsonNode *node = plan->workload->axes;
  JsonObject *given = node && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
  for (guint i = 0; i < axes->len; i++)
    {
      const AssayTaskAxis *axis = g_ptr_array_index (axes, i);
      if (axis->type == ASSAY_AXIS_CONST)
        set_axis (plan, axis->name, axis->value);
      if (axis->type != ASSAY_AXIS_VAR)
        continue;
      JsonNode *value = given ? json_object_get_member (given, axis->name) : NULL;
      if (!value || !JSON_NODE_HOLDS_VALUE (value)
          || json_node_get_value_type (value) != G_TYPE_INT64)
        {
          g_autofree char *found = value ? assay_json_write_line (value) : g_strdup ("nothing");
          g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
                       "axes.%s: expected an integer, found %s", axis->name, found);
          return FALSE;
        }
      set_axis (plan, axis->name, json_node_get_int (value));
    }
  return TRUE;
}

/* Expressions may use one another in any order: each round must find at least one more. */
static gboolean
derived_axes (AssayPlan *plan, GError **error)
{
  for (guint known = 0; known != g_hash_table_size (plan->axes);)
    {
      known = g_hash_table_size (plan->axes);
      for (guint i = 0; i < plan->task->axes->len; i++)
        {
          const AssayTaskAxis *axis = g_ptr_array_index (plan->task->axes, i);
          gint64 value = 0;
          if (axis->type == ASSAY_AXIS_EXPR && axis->expression
              && !g_hash_table_contains (plan->axes, axis->name)
              && assay_plan_evaluate (plan, axis->expression, &value, NULL))
            set_axis (plan, axis->name, value);
        }
    }
  for (guint i = 0; i < plan->task->axes->len; i++)
    {
      const AssayTaskAxis *axis = g_ptr_array_index (plan->task->axes, i);
      gint64 value = 0;
      if (g_hash_table_contains (plan->axes, axis->name))
        continue;
      if (axis->expression && !assay_plan_evaluate (plan, axis->expression, &value, error))
        g_prefix_error (error, "axes.%s: ", axis->name);
      return FALSE;
    }
  return TRUE;
}

static void
describe_axes (AssayPlan *plan, GString *out)
{
  for (guint i = 0; i < plan->task->axes->len; i++)
    {
      const AssayTaskAxis *axis = g_ptr_array_index (plan->task->axes, i);
      gint64 *value = g_hash_table_lookup (plan->axes, axis->name);
      g_string_append_printf (out, "%s%s = %" G_GINT64_FORMAT, i ? ", " : "", axis->name,
                              value ? *value : 0);
    }
}

static gboolean
constraints_hold (AssayPlan *plan, GError **error)
{
  for (char **text = plan->task->constraints; text && *text; text++)
    {
      gint64 holds = 0;
      if (!assay_plan_evaluate (plan, *text, &holds, error))
        {
          g_prefix_error (error, "constraints: ");
          return FALSE;
        }
      if (holds)
        continue;
      g_autoptr (GString) axes = g_string_new (NULL);
      describe_axes (plan, axes);
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
                   "axes: expected %s, as constraints says, found %s", *text, axes->str);
      return FALSE;
    }
  return TRUE;
}

static AssayPlannedArray *
plan_array (AssayPlan *plan, const AssayTaskArray *array, GError **error)
{
  g_autofree AssayPlannedArray *planned = g_new0 (AssayPlannedArray, 1);
  planned->array = array;
  planned->scalar = array->shape == NULL;
  for (char **text = array->shape; text && *text; text++)
    {
      if (planned->ndim == ASSAY_ARRAY_MAX_DIMS)
        {
          g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_LIMIT,
                       "%s.shape: expected at most %d extents", array->name, ASSAY_ARRAY_MAX_DIMS);
          return NULL;
        }
      if (!assay_plan_evaluate (plan, *text, &planned->shape[planned->ndim++], error))
        {
          g_prefix_error (error, "%s.shape: ", array->name);
          return NULL;
        }
    }
  if (!assay_shape_size (array->dtype, planned->shape, planned->ndim, &planned->count,
                         &planned->bytes, error))
    {
      g_prefix_error (error, "%s.shape: ", array->name);
      return NULL;
    }
  return g_steal_pointer (&planned);
}

static gboolean
plan_arrays (AssayPlan *plan, GError **error)
{
  for (guint i = 0; i < plan->task->inputs->len; i++)
    {
      AssayPlannedArray *input =
          plan_array (plan, g_ptr_array_index (plan->task->inputs, i), error);
      if (!input)
        return FALSE;
      g_ptr_array_add (plan->inputs, input);
      const AssayTaskArray *scaled =
          assay_workload_scaled_by (plan->task, plan->workload, input->array->name);
      input->generator =
          assay_workload_generator (plan->workload, scaled ? scaled->name : input->array->name);
    }
  for (guint i = 0; i < plan->task->outputs->len; i++)
    {
      AssayPlannedArray *output =
          plan_array (plan, g_ptr_array_index (plan->task->outputs, i), error);
      if (!output)
        return FALSE;
      g_ptr_array_add (plan->outputs, output);
    }
  return TRUE;
}

AssayPlan *
assay_plan_new (const AssayTask *task, const AssayWorkload *workload, GError **error)
{
  g_autoptr (AssayPlan) plan = g_new0 (AssayPlan, 1);
  plan->task = task;
  plan->workload = workload;
  plan->axes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  plan->inputs = g_ptr_array_new_with_free_func (g_free);
  plan->outputs = g_ptr_array_new_with_free_func (g_free);
  if (fixed_axes (plan, error) && derived_axes (plan, error) && constraints_hold (plan, error)
      && plan_arrays (plan, error))
    return g_steal_pointer (&plan);
  g_prefix_error (error, "workloads.%s: ", workload->name);
  return NULL;
}

void
assay_plan_free (AssayPlan *plan)
{
  if (!plan)
    return;
  g_clear_pointer (&plan->axes, g_hash_table_unref);
  g_clear_pointer (&plan->inputs, g_ptr_array_unref);
  g_clear_pointer (&plan->outputs, g_ptr_array_unref);
  g_free (plan);
}

gboolean
assay_plan_evaluate (const AssayPlan *plan, const char *expression, gint64 *value, GError **error)
{
  return assay_expression_evaluate (expression, assay_expression_lookup_table, plan->axes, value,
                                    error);
}

static gboolean
evaluate_three (const AssayPlan *plan, char **texts, const char *what, gint64 *values,
                GError **error)
{
  guint n = texts ? g_strv_length (texts) : 0;
  if (n > 3)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
                   "%s: expected at most three entries, found %u", what, n);
      return FALSE;
    }
  for (guint i = 0; i < 3; i++)
    {
      values[i] = 1;
      if (i < n && !assay_plan_evaluate (plan, texts[i], &values[i], error))
        {
          g_prefix_error (error, "%s[%u]: ", what, i);
          return FALSE;
        }
    }
  return TRUE;
}

gboolean
assay_plan_launch (const AssayPlan *plan, const AssayEntry *entry, AssayLaunchShape *shape,
                   GError **error)
{
  shape->shared = 0;
  if (!evaluate_three (plan, entry->grid, "grid", shape->grid, error)
      || !evaluate_three (plan, entry->block, "block", shape->block, error))
    return FALSE;
  if (!entry->shared || assay_plan_evaluate (plan, entry->shared, &shape->shared, error))
    return TRUE;
  g_prefix_error (error, "shared: ");
  return FALSE;
}

static gboolean
find_array (const GPtrArray *arrays, const char *name, gsize length, guint *index)
{
  for (guint i = 0; i < arrays->len; i++)
    {
      const AssayPlannedArray *planned = g_ptr_array_index (arrays, i);
      if (strlen (planned->array->name) == length
          && strncmp (planned->array->name, name, length) == 0)
        {
          *index = i;
          return TRUE;
        }
    }
  return FALSE;
}

static gboolean
stride_argument (const AssayPlan *plan, const char *name, AssayArgument *argument)
{
  const char *dot = strstr (name, ".stride");
  guint64 dimension = 0;
  if (!dot
      || !g_ascii_string_to_unsigned (dot + 7, 10, 0, ASSAY_ARRAY_MAX_DIMS - 1, &dimension, NULL))
    return FALSE;
  gsize length = (gsize) (dot - name);
  argument->kind = ASSAY_ARGUMENT_STRIDE;
  argument->dimension = (guint) dimension;
  argument->of_output = !find_array (plan->inputs, name, length, &argument->index);
  if (argument->of_output && !find_array (plan->outputs, name, length, &argument->index))
    return FALSE;
  const AssayPlannedArray *array =
      g_ptr_array_index (argument->of_output ? plan->outputs : plan->inputs, argument->index);
  argument->value = 1;
  for (guint d = argument->dimension + 1; d < array->ndim; d++)
    argument->value *= array->shape[d];
  return argument->dimension < array->ndim;
}

gboolean
assay_plan_argument (const AssayPlan *plan, const char *name, AssayArgument *argument,
                     GError **error)
{
  memset (argument, 0, sizeof *argument);
  gint64 *axis = g_hash_table_lookup (plan->axes, name);
  if (find_array (plan->inputs, name, strlen (name), &argument->index))
    {
      const AssayPlannedArray *input = g_ptr_array_index (plan->inputs, argument->index);
      argument->kind = input->scalar ? ASSAY_ARGUMENT_SCALAR : ASSAY_ARGUMENT_INPUT;
      return TRUE;
    }
  if (find_array (plan->outputs, name, strlen (name), &argument->index))
    {
      argument->kind = ASSAY_ARGUMENT_OUTPUT;
      argument->of_output = TRUE;
      return TRUE;
    }
  if (axis)
    {
      argument->kind = ASSAY_ARGUMENT_AXIS;
      argument->value = *axis;
      return TRUE;
    }
  if (stride_argument (plan, name, argument))
    return TRUE;
  g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_NOT_FOUND,
               "expected an input, output, axis or stride, found \"%s\"", name);
  return FALSE;
}
