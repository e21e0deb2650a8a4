/* SPDX-License-Identifier: Apache-2.0 */
/* A candidate's own host function, which allocates, copies and launches as it likes. It shares this
 * process with the driver and, on the virtual GPU, with its checkers: the engine says so in the record
 * and believes only the sealed arrays. */
#include "engine/worker/role-run.h"
#include "engine/worker/runtime.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Integers and pointers travel in one sequence of registers and stack slots, floating-point values in
 * another (System V x86-64, AAPCS64), so that one call with enough of both serves every signature
 * whose reals fit their registers. */
typedef void (*HostFunction) (gint64, gint64, gint64, gint64, gint64, gint64, gint64, gint64,
                              gint64, gint64, gint64, gint64, gint64, gint64, gint64, gint64,
                              gint64, gint64, gint64, gint64, gint64, gint64, gint64, gint64,
                              double, double, double, double, double, double, double, double);

static void
call (HostFunction function, const AssayLaunchPlan *a)
{
  const gint64 *w = a->words;
  const double *r = a->reals;
  function (w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12], w[13],
            w[14], w[15], w[16], w[17], w[18], w[19], w[20], w[21], w[22], w[23], r[0], r[1], r[2],
            r[3], r[4], r[5], r[6], r[7]);
}

/* A float lies in the low half of its register. */
static double
as_single (double value)
{
  double word = 0;
  float single = (float) value;
  memcpy (&word, &single, sizeof single);
  return word;
}

static gboolean
collect (AssayDeviceRun *run, AssayLaunchPlan *arguments)
{
  for (guint i = 0; i < run->request->arguments->len; i++)
    {
      const AssayWorkerArgument *argument = g_ptr_array_index (run->request->arguments, i);
      gboolean real = !argument->array && argument->is_real;
      if (arguments->word_count == ASSAY_PLAN_WORDS || arguments->real_count == ASSAY_PLAN_REALS)
        return assay_run_fail (run, "arguments", "%s takes more arguments than can be passed",
                               run->request->symbol);
      if (argument->array)
        arguments->words[arguments->word_count++] =
            (gint64) assay_run_address (run, argument->array);
      else if (real)
        arguments->reals[arguments->real_count++] =
            argument->single ? as_single (argument->real) : argument->real;
      else
        arguments->words[arguments->word_count++] = argument->integer;
    }
  return TRUE;
}

static void
on_launched (const char *kernel, CUfunction function, const unsigned int *shape, size_t shared,
             gpointer data)
{
  assay_run_tell_launch (data, kernel, function, shape, shared);
}

/* A launch that failed, and nobody asked. */
static void
tell_unread_error (AssayDeviceRun *run)
{
  const char *kernel = NULL;
  int code = assay_runtime_unread_error (&kernel);
  if (code == CUDA_SUCCESS)
    return;
  g_autofree char *line = g_strdup_printf (
      "{\"type\":\"report\",\"rule\":\"launch.unchecked-error\",\"kernel\":\"%s\","
      "\"message\":\"the launch failed with error %d, and %s never asked for it\"}",
      kernel, code, run->request->symbol);
  assay_channel_forward (run->channel, line);
}

static void
tell_leak (AssayDeviceRun *run)
{
  AssayRuntimeLeak leak = assay_runtime_leak ();
  if (leak.count == 0)
    return;
  g_autofree char *line = g_strdup_printf (
      "{\"type\":\"report\",\"rule\":\"mem.leak\",\"kernel\":\"%s\","
      "\"message\":\"%s returns without having freed %u allocations, %" G_GUINT64_FORMAT
      " bytes of device memory\"}",
      run->request->symbol, run->request->symbol, leak.count, leak.bytes);
  assay_channel_forward (run->channel, line);
}

static void *
open_library (AssayDeviceRun *run)
{
  g_autofree char *path = g_strdup_printf ("/proc/self/fd/%d", (int) run->request->library_fd);
  void *library = dlopen (path, RTLD_LAZY | RTLD_LOCAL);
  void *function = library ? dlsym (library, run->request->symbol) : NULL;
  if (!function)
    assay_run_fail (run, "symbol", "the host function cannot be had: %s", dlerror ());
  return function;
}

AssayLaunchPlan *
assay_run_plan_host (AssayDeviceRun *run)
{
  AssayLaunchPlan *plan = g_new0 (AssayLaunchPlan, 1);
  plan->function = open_library (run);
  if (plan->function && collect (run, plan))
    return plan;
  assay_launch_plan_free (plan);
  return NULL;
}

static void
on_unheard (const char *kernel, CUfunction function, const unsigned int *shape, size_t shared,
            gpointer data)
{
}

/* Its launches are not told: that would cost time. */
int
assay_run_enqueue_host (AssayDeviceRun *run, const AssayLaunchPlan *plan)
{
  const char *kernel = NULL;
  HostFunction function;
  *(void **) &function = plan->function;
  assay_runtime_begin (&run->driver, run->module, on_unheard, NULL);
  call (function, plan);
  return assay_runtime_unread_error (&kernel);
}

gboolean
assay_run_host (AssayDeviceRun *run)
{
  AssayLaunchPlan *plan = assay_run_plan_host (run);
  if (!plan)
    return FALSE;
  assay_runtime_begin (&run->driver, run->module, on_launched, run);
  HostFunction function;
  *(void **) &function = plan->function;
  call (function, plan);
  assay_launch_plan_free (plan);
  tell_unread_error (run);
  tell_leak (run);
  assay_channel_phase (run->channel, "synchronise");
  return !assay_run_driver_failed (run, "the kernel did not finish",
                                   run->driver.call.ctx_synchronize ());
}
