/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/task-facts.h"

#include "engine/base/json.h"

static void
fact_free (gpointer data)
{
  AssayFact *fact = data;

  g_free (fact->name);
  g_free (fact->value);
  g_free (fact);
}

/* Takes `value`; NULL or empty means that the task is silent, said as `silent`. */
static void
add (GPtrArray *facts, const char *name, char *value, const char *silent)
{
  AssayFact *fact;

  if ((value == NULL || *value == '\0') && silent == NULL)
    {
      g_free (value);
      return;
    }
  fact = g_new0 (AssayFact, 1);
  fact->name = g_strdup (name);
  fact->silent = value == NULL || *value == '\0';
  fact->value = fact->silent ? g_strdup (silent) : g_strdup (value);
  g_free (value);
  g_ptr_array_add (facts, fact);
}

static char *
join (char **words)
{
  return words != NULL ? g_strjoinv (", ", words) : NULL;
}

static char *
describe_arrays (const GPtrArray *arrays)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < arrays->len; i++)
    {
      const AssayTaskArray *array = g_ptr_array_index (arrays, i);
      g_autofree char *shape = array->shape != NULL ? g_strjoinv (" × ", array->shape) : NULL;

      g_string_append_printf (text, "%s%s  %s %s", i > 0 ? "\n" : "", array->name,
                              assay_dtype_name (array->dtype), shape != NULL ? shape : "scalar");
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static char *
describe_axes (const GPtrArray *axes)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < axes->len; i++)
    {
      const AssayTaskAxis *axis = g_ptr_array_index (axes, i);

      if (i > 0)
        g_string_append (text, ", ");
      g_string_append (text, axis->name);
      if (axis->type == ASSAY_AXIS_CONST)
        g_string_append_printf (text, " = %" G_GINT64_FORMAT, axis->value);
      else if (axis->type == ASSAY_AXIS_EXPR && axis->expression != NULL)
        g_string_append_printf (text, " = %s", axis->expression);
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
add_promise (GString *text, const char *name, JsonNode *node)
{
  int promise = assay_task_promise (node);

  if (promise >= 0)
    g_string_append_printf (text, "%s%s %s", text->len > 0 ? ", " : "", name,
                            promise ? "yes" : "no");
}

static char *
describe_numerics (const AssayNumerics *numerics)
{
  g_autoptr (GString) text = g_string_new (NULL);

  if (numerics->compute != NULL)
    g_string_append_printf (text, "compute %s", numerics->compute);
  if (numerics->accumulate != NULL)
    g_string_append_printf (text, "%saccumulate %s", text->len > 0 ? ", " : "",
                            numerics->accumulate);
  add_promise (text, "tf32", numerics->tf32);
  add_promise (text, "fast math", numerics->fast_math);
  add_promise (text, "flush subnormals", numerics->flush_subnormals);
  add_promise (text, "deterministic", numerics->deterministic);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static char *
describe_tolerance (const AssayTask *task)
{
  g_autoptr (AssayTolerance) tolerance = assay_task_tolerance (task, NULL, NULL, NULL);

  return tolerance != NULL ? assay_tolerance_describe (tolerance) : NULL;
}

static char *
describe_reference (const AssayTask *task)
{
  g_autofree char *sources = NULL;

  if (task->reference == NULL)
    return NULL;
  sources = join (task->reference->sources);
  return g_strdup_printf ("%s, %s%s",
                          task->reference->language != NULL ? task->reference->language
                                                            : "language not said",
                          sources != NULL ? sources : "no source",
                          task->cross_check != NULL ? "; second reference as a cross-check" : "");
}

static char *
describe_license (const AssayLicense *license)
{
  if (license->id == NULL)
    return NULL;
  return g_strdup_printf ("%s%s%s", license->id,
                          license->training_allowed != NULL ? " · training " : "",
                          license->training_allowed != NULL ? license->training_allowed : "");
}

static char *
describe_benchmark (const AssayBenchmark *benchmark)
{
  g_autoptr (GString) text = g_string_new (NULL);

  if (benchmark == NULL)
    return NULL;
  g_string_append_printf (
      text, "%s, %" G_GINT64_FORMAT " warm-ups, %" G_GINT64_FORMAT " repeats, %s",
      benchmark->clock != NULL ? benchmark->clock : "clock not said", benchmark->warmup,
      benchmark->repeats, benchmark->flush_l2 ? "L2 flushed" : "L2 not flushed");
  for (guint i = 0; benchmark->claimed != NULL && i < benchmark->claimed->len; i++)
    {
      const AssayClaim *claim = g_ptr_array_index (benchmark->claimed, i);

      if (claim->speedup > 0)
        g_string_append_printf (text, "; claims %.3g × on %s", claim->speedup,
                                claim->device != NULL ? claim->device : "an unnamed device");
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static char *
describe_provenance (const AssayProvenance *provenance)
{
  g_autoptr (GString) text = g_string_new (NULL);

  if (provenance->source != NULL)
    g_string_append (text, provenance->source);
  if (provenance->generator != NULL && *provenance->generator != '\0')
    g_string_append_printf (text, "%sgenerated by %s", text->len > 0 ? " · " : "",
                            provenance->generator);
  if (provenance->revision > 0)
    g_string_append_printf (text, "%srevision %" G_GINT64_FORMAT, text->len > 0 ? " · " : "",
                            provenance->revision);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

GPtrArray *
assay_task_facts (const AssayTask *task)
{
  GPtrArray *facts = g_ptr_array_new_with_free_func (fact_free);

  add (facts, "category", g_strdup (ASSAY_TASK_CATEGORIES[task->category]), NULL);
  add (facts, "inputs", describe_arrays (task->inputs), "none");
  add (facts, "outputs", describe_arrays (task->outputs), "none");
  add (facts, "axes", describe_axes (task->axes), NULL);
  add (facts, "constraints", join (task->constraints), NULL);
  add (facts, "numerics", describe_numerics (&task->numerics), "the specification is silent");
  add (facts, "tolerance", describe_tolerance (task), "none given");
  add (facts, "reference", describe_reference (task), "none");
  add (facts, "targets", join (task->targets), "none listed");
  add (facts, "benchmark", describe_benchmark (task->benchmark), NULL);
  add (facts, "licence", describe_license (&task->license), "not stated");
  add (facts, "provenance", describe_provenance (&task->provenance), "not stated");
  return facts;
}

char *
assay_candidate_line (const AssayCandidate *candidate)
{
  g_autofree char *options =
      candidate->options != NULL ? g_strjoinv (" ", candidate->options) : NULL;
  g_autoptr (GString) text = g_string_new (ASSAY_TASK_FRAMEWORKS[candidate->framework]);

  g_string_append_printf (text, " · %s", ASSAY_ENTRY_KINDS[candidate->entry.kind]);
  if (candidate->entry.symbol != NULL)
    g_string_append_printf (text, " %s", candidate->entry.symbol);
  if (options != NULL && *options != '\0')
    g_string_append_printf (text, " · %s", options);
  if (candidate->author != NULL && *candidate->author != '\0')
    g_string_append_printf (text, " · by %s", candidate->author);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static char *
workload_axes (const AssayWorkload *workload)
{
  g_autoptr (GString) text = g_string_new (NULL);
  JsonObjectIter iter;
  const char *name;
  JsonNode *value;

  if (workload->axes == NULL || !JSON_NODE_HOLDS_OBJECT (workload->axes))
    return g_strdup ("");
  json_object_iter_init_ordered (&iter, json_node_get_object (workload->axes));
  while (json_object_iter_next_ordered (&iter, &name, &value))
    g_string_append_printf (text, "%s%s %" G_GINT64_FORMAT, text->len > 0 ? ", " : "", name,
                            json_node_get_int (value));
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static char *
workload_inputs (const AssayWorkload *workload)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < workload->inputs->len; i++)
    {
      const AssayGenerator *generator = g_ptr_array_index (workload->inputs, i);

      g_string_append_printf (text, "%s%s %s", i > 0 ? ", " : "", generator->name,
                              generator->type == ASSAY_GENERATOR_RANDOM
                                  ? ASSAY_DISTRIBUTIONS[generator->distribution]
                                  : ASSAY_GENERATOR_TYPES[generator->type]);
      if (generator->type == ASSAY_GENERATOR_RANDOM
          && generator->distribution == ASSAY_DISTRIBUTION_UNIFORM)
        g_string_append_printf (text, " [%g, %g)", generator->low, generator->high);
      if (generator->layout != ASSAY_LAYOUT_CONTIGUOUS)
        g_string_append_printf (text, ", %s", ASSAY_LAYOUTS[generator->layout]);
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

GStrv
assay_workload_cells (const AssayTask *task, const AssayWorkload *workload)
{
  g_autoptr (AssayTolerance) tolerance = NULL;
  g_autofree char *axes = workload_axes (workload);
  g_autofree char *inputs = workload_inputs (workload);
  g_autofree char *described = NULL, *use = join (workload->use);
  const AssayTaskArray *first =
      task->outputs->len > 0 ? g_ptr_array_index (task->outputs, 0) : NULL;

  tolerance = assay_task_tolerance (task, workload, first != NULL ? first->name : NULL, NULL);
  described = tolerance != NULL ? assay_tolerance_describe (tolerance) : g_strdup ("");
  return g_strdupv (
      (char *[]) {workload->name, axes, inputs, described, use != NULL ? use : (char *) "", NULL});
}
