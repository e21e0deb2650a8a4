/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/numerics/gold.h"
#include "engine/numerics/probes.h"
#include "engine/task/generate.h"
#include "engine/task/reference.h"

#include <dlfcn.h>
#include <glib/gstdio.h>
#include <math.h>

/* Example tasks: what they say of themselves about the tolerance is what the audit finds,
 * with references built by the system's C compiler. */

static char *scratch;

static char *
source_path (const char *first, const char *second)
{
  return g_build_filename (g_getenv ("ASSAY_SOURCE_DIR"), first, second, NULL);
}

static void *
build (const AssayTask *task, int real)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *wrapper = assay_reference_wrapper (task, task->reference, &error);
  g_assert_no_error (error);
  g_autofree char *c_file = g_build_filename (scratch, "wrapper.c", NULL);
  g_autofree char *name = g_strdup_printf ("%s-%d.so", task->id, real);
  g_autofree char *library = g_build_filename (scratch, name, NULL);
  g_autofree char *headers = source_path ("data", "reference");
  g_assert_true (g_file_set_contents (c_file, wrapper, -1, NULL));
  g_autofree char *command = g_strdup_printf (
      "cc -std=gnu11 -O2 -ffp-contract=off -shared -fPIC -DASSAY_REAL=%d -I%s -I%s %s -o %s "
      "-lquadmath -lm",
      real, headers, task->folder, c_file, library);
  int status = 1;
  g_assert_true (g_spawn_command_line_sync (command, NULL, NULL, &status, &error));
  g_assert_cmpint (status, ==, 0);
  void *handle = dlopen (library, RTLD_NOW | RTLD_LOCAL);
  g_assert_nonnull (handle);
  void *call = dlsym (handle, "assay_reference_call");
  g_assert_nonnull (call);
  return call;
}

static const gsize REAL_BYTES[] = {8, 4, 8, 16};

/* Values of an input in a rung's type. */
static void *
widened (const AssayArray *array, int real)
{
  gsize n = assay_array_components (array);
  guint8 *out = g_malloc0 (MAX (n, 1) * REAL_BYTES[real]);
  for (gsize i = 0; i < n; i++)
    {
      double value = assay_array_get (array, i);
      if (real == 1)
        ((float *) out)[i] = (float) value;
      else if (real == 2)
        ((double *) out)[i] = value;
      else
        ((__float128 *) (void *) out)[i] = value;
    }
  return out;
}

/* Runs one rung; the examples have one output of a floating type. */
static void *
run_rung (const AssayPlan *plan, void *entry, int real, GPtrArray *inputs)
{
  g_autoptr (GPtrArray) arguments =
      assay_reference_arguments (plan->task, plan->task->reference, NULL);
  g_autoptr (GPtrArray) owned = g_ptr_array_new_with_free_func (g_free);
  const AssayPlannedArray *output = g_ptr_array_index (plan->outputs, 0);
  void *result = g_malloc0 (output->count * REAL_BYTES[real]);
  g_autofree void **pointers = g_new0 (void *, arguments->len);
  for (guint i = 0; i < arguments->len; i++)
    {
      const AssayReferenceArgument *argument = g_ptr_array_index (arguments, i);
      gint64 *axis = g_hash_table_lookup (plan->axes, argument->name);
      if (argument->kind == ASSAY_ARGUMENT_OUTPUT)
        pointers[i] = result;
      else if (argument->kind == ASSAY_ARGUMENT_AXIS)
        pointers[i] = axis;
      else
        {
          const AssayInput *input = g_ptr_array_index (inputs, argument->index);
          pointers[i] = widened (input->values, real);
          g_ptr_array_add (owned, pointers[i]);
        }
    }
  ((void (*) (void **)) entry) (pointers);
  return result;
}

static void
audit_workload (const AssayTask *task, const AssayWorkload *workload, void *const *entries,
                AssayAudit *audit)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayPlan) plan = assay_plan_new (task, workload, &error);
  g_assert_no_error (error);
  g_autoptr (GPtrArray) inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) assay_input_free);
  AssayProbeInput copies[8];
  for (guint i = 0; i < plan->inputs->len; i++)
    {
      AssayPlannedArray *planned = g_ptr_array_index (plan->inputs, i);
      AssayInput *input = assay_generate (plan, planned, NULL, &error);
      g_assert_no_error (error);
      g_ptr_array_add (inputs, input);
      copies[i] = (AssayProbeInput) {planned->array->name, input->values};
    }
  const AssayPlannedArray *output = g_ptr_array_index (plan->outputs, 0);
  int rung = assay_reference_task_rung (task);
  g_autofree void *task_values = run_rung (plan, entries[rung], rung, inputs);
  g_autofree void *double_values = run_rung (plan, entries[2], 2, inputs);
  g_autofree void *quad_values = run_rung (plan, entries[3], 3, inputs);
  g_autoptr (AssayArray) reference = assay_gold_round (rung, task_values, output->array->dtype,
                                                       output->shape, output->ndim, &error);
  g_autofree double *gold = g_new (double, output->count);
  g_autofree double *low = g_new (double, output->count);
  assay_gold_split (3, quad_values, output->count, gold, low);
  double apart = assay_gold_rung_difference (output->array->dtype, double_values, NULL, gold, low,
                                             output->count);
  g_assert_cmpfloat (apart, <, ASSAY_GOLD_STABLE_ULP);
  g_autoptr (AssayTolerance) tolerance =
      assay_task_tolerance (task, workload, output->array->name, &error);
  AssayProbesInput probes = {
      .workload = workload->name,
      .output = output->array->name,
      .reference = reference,
      .gold = gold,
      .gold_low = low,
      .tolerance = tolerance,
      .inputs = copies,
      .n_inputs = plan->inputs->len,
      .compute = task->numerics.compute,
  };
  g_assert_true (assay_probes_run (&probes, audit, NULL, &error));
  g_assert_no_error (error);
}

static gboolean
cannot_build (void)
{
  g_autofree char *compiler = g_find_program_in_path ("cc");
  if (!compiler)
    g_test_skip ("no C compiler to build references with");
  return !compiler;
}

static AssayAudit *
audit_example (const char *name)
{
  g_autofree char *folder = source_path ("data/tasks", name);
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayTask) task = assay_task_load (folder, warnings, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (warnings->len, ==, 0);
  void *entries[4] = {NULL};
  for (int real = 1; real <= 3; real++)
    entries[real] = build (task, real);
  AssayAudit *audit = assay_audit_new ();
  for (guint i = 0; i < task->workloads->len; i++)
    audit_workload (task, g_ptr_array_index (task->workloads, i), entries, audit);
  assay_audit_conclude (audit);
  g_test_message ("%s: %s", name, audit->summary);
  for (guint i = 0; i < audit->probes->len; i++)
    {
      const AssayProbe *p = g_ptr_array_index (audit->probes, i);
      g_test_message ("  %-9s %-34s %-10s %s margin %.3g rms %.3g", ASSAY_PROBE_KINDS[p->kind],
                      p->name, p->workload, p->accepted ? "ACCEPTED" : "refused ", p->margin,
                      p->rms);
    }
  return audit;
}

static const AssayProbe *
find_probe (const AssayAudit *audit, const char *name)
{
  for (guint i = 0; i < audit->probes->len; i++)
    if (g_str_equal (((AssayProbe *) g_ptr_array_index (audit->probes, i))->name, name))
      return g_ptr_array_index (audit->probes, i);
  return NULL;
}

static void
test_sound_examples (void)
{
  static const char *const SOUND[] = {"row_softmax", "tiled_sgemm", "layer_norm", "bf16_gemm",
                                      "row_energy"};
  if (cannot_build ())
    return;
  for (gsize i = 0; i < G_N_ELEMENTS (SOUND); i++)
    {
      g_autoptr (AssayAudit) audit = audit_example (SOUND[i]);
      g_assert_cmpstr (audit->grade, ==, "sound");
      for (guint k = 0; k < audit->probes->len; k++)
        {
          const AssayProbe *probe = g_ptr_array_index (audit->probes, k);
          if (probe->kind == ASSAY_PROBE_REFERENCE)
            g_assert_cmpfloat (probe->margin, <, 0.25);
        }
    }
}

static void
test_wide_softmax_accepts_anything_small (void)
{
  static const char *const PASS[] = {"zeros",
                                     "constant (mean of the reference)",
                                     "output rounded to bfloat16",
                                     "every value × 1.01",
                                     "rows rotated by one",
                                     "one element zeroed"};
  if (cannot_build ())
    return;
  g_autoptr (AssayAudit) audit = audit_example ("wide_softmax");
  g_assert_cmpstr (audit->grade, ==, "too_loose");
  for (gsize i = 0; i < G_N_ELEMENTS (PASS); i++)
    g_assert_true (find_probe (audit, PASS[i])->accepted);
  g_assert_false (find_probe (audit, "copy of input x")->accepted);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  scratch = g_dir_make_tmp ("assay-examples-XXXXXX", NULL);
  g_test_add_func ("/examples/sound", test_sound_examples);
  g_test_add_func ("/examples/wide-softmax", test_wide_softmax_accepts_anything_small);
  int result = g_test_run ();
  g_autofree char *remove = g_strdup_printf ("rm -rf '%s'", scratch);
  return system (remove) == 0 ? result : 1;
}
