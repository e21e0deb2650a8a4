/* SPDX-License-Identifier: Apache-2.0 */
/* One launch of one kernel, by the worker itself: nothing of the candidate's author runs beside it. */
#include "engine/worker/role-run.h"

#include <string.h>

/* A number in the width that the kernel's own parameter has. FALSE where it does not fit. */
static gboolean
encode_number (const AssayWorkerArgument *argument, const AssayPtxParameter *parameter, void *to)
{
  double real = argument->is_real ? argument->real : (double) argument->integer;
  gint64 integer = argument->is_real ? (gint64) argument->real : argument->integer;
  gboolean as_float = parameter->type[0] == 'f' || (argument->is_real && parameter->type[0] == 'b');
  if (argument->is_real && !as_float && (double) integer != real)
    return FALSE;
  if (as_float && parameter->bytes == 8)
    memcpy (to, &real, 8);
  else if (as_float && parameter->bytes == 4)
    memcpy (to, &(float) {(float) real}, 4);
  else if (!as_float && parameter->bytes <= 8)
    {
      int bits = (int) parameter->bytes * 8;
      gboolean fits = bits == 64 || (integer >= -(1ll << (bits - 1)) && integer < (1ll << bits));
      memcpy (to, &integer, parameter->bytes);
      return fits;
    }
  else
    return FALSE;
  return TRUE;
}

static gboolean
fail_argument (AssayDeviceRun *run, guint index, const char *why)
{
  return assay_run_fail (run, "arguments", "argument %u of %s: %s", index + 1, run->entry->plain,
                         why);
}

static gboolean
bind_arguments (AssayDeviceRun *run, guint64 *storage, void **pointers)
{
  GArray *parameters = run->entry->parameters;
  GPtrArray *arguments = run->request->arguments;
  if (parameters->len != arguments->len)
    return assay_run_fail (run, "arguments",
                           "%s takes %u parameters, the entry in task.json passes %u",
                           run->entry->plain, parameters->len, arguments->len);
  for (guint i = 0; i < arguments->len; i++)
    {
      const AssayWorkerArgument *argument = g_ptr_array_index (arguments, i);
      const AssayPtxParameter *parameter = &g_array_index (parameters, AssayPtxParameter, i);
      pointers[i] = &storage[i];
      if (!argument->array && !encode_number (argument, parameter, &storage[i]))
        {
          g_autofree char *why =
              g_strdup_printf ("the value does not fit the parameter's type .%s", parameter->type);
          return fail_argument (run, i, why);
        }
      if (argument->array && parameter->bytes != 8)
        return fail_argument (
            run, i, "the entry in task.json passes an array, the kernel takes no pointer");
      if (argument->array)
        storage[i] = assay_run_address (run, argument->array);
    }
  return TRUE;
}

static gint64
extent (GArray *extents, guint axis)
{
  return extents && axis < extents->len ? g_array_index (extents, gint64, axis) : 1;
}

void
assay_launch_plan_free (AssayLaunchPlan *plan)
{
  if (!plan)
    return;
  g_free (plan->storage);
  g_free (plan->pointers);
  g_free (plan);
}

/* Beyond 48 KiB dynamic shared memory has to be asked for; a launcher would have done so. */
static gboolean
allow_shared (AssayDeviceRun *run)
{
  if (run->request->shared <= 48 * 1024)
    return TRUE;
  int code = run->driver.call.func_set_attribute (
      run->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int) run->request->shared);
  return !assay_run_driver_failed (run, "launch", code);
}

AssayLaunchPlan *
assay_run_plan_kernel (AssayDeviceRun *run)
{
  const AssayWorkerRequest *request = run->request;
  AssayLaunchPlan *plan = g_new0 (AssayLaunchPlan, 1);
  gboolean fits = TRUE;
  plan->storage = g_new0 (guint64, request->arguments->len + 1);
  plan->pointers = g_new0 (void *, request->arguments->len + 1);
  for (guint i = 0; i < 6 && fits; i++)
    {
      gint64 wanted = extent (i < 3 ? request->grid : request->block, i % 3);
      fits = wanted >= 0 && wanted <= G_MAXUINT32;
      plan->shape[i] = (guint) wanted;
      if (!fits)
        fail_argument (run, i, "grid or block is beyond 32 bits");
    }
  if (fits && bind_arguments (run, plan->storage, plan->pointers) && allow_shared (run))
    return plan;
  assay_launch_plan_free (plan);
  return NULL;
}

int
assay_run_enqueue (AssayDeviceRun *run, const AssayLaunchPlan *plan)
{
  const guint *shape = plan->shape;
  if (plan->function)
    return assay_run_enqueue_host (run, plan);
  return run->driver.call.launch_kernel (run->function, shape[0], shape[1], shape[2], shape[3],
                                         shape[4], shape[5], (unsigned) run->request->shared, NULL,
                                         plan->pointers, NULL);
}

gboolean
assay_run_kernel (AssayDeviceRun *run)
{
  AssayLaunchPlan *plan = assay_run_plan_kernel (run);
  if (!plan)
    return FALSE;
  assay_run_tell_launch (run, run->entry->plain, run->function, plan->shape,
                         (gsize) run->request->shared);
  int code = assay_run_enqueue (run, plan);
  assay_launch_plan_free (plan);
  if (assay_run_driver_failed (run, "launch", code))
    return FALSE;
  assay_channel_phase (run->channel, "synchronise");
  return !assay_run_driver_failed (run, "the kernel did not finish",
                                   run->driver.call.ctx_synchronize ());
}
