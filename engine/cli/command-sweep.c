/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cli/command.h"

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/device/installation.h"
#include "engine/numerics/ulp-maxima.h"
#include "engine/run/device-function.h"
#include "engine/sandbox/preflight.h"

#include <gnu/libc-version.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define MOST_THREADS 1024
#define CHECKPOINT_SECONDS 10

typedef struct
{
  char *precision, *range, *of, *target, *resume, *json;
  gint64 threads;
  gboolean fast_math, consent;
} Options;

typedef struct
{
  const AssaySweepFunction *function;
  AssayDtype dtype;
  gboolean device; /* of the virtual GPU, not the C library */
  const Options *options;
  AssayDeviceFunction *kernel;
  GCancellable *cancellable;
  gint64 saved; /* monotonic time of the last checkpoint */
  gint64 started;
  gboolean progress;
} Sweep;

/* ---- what to sweep ---- */

static gboolean
invalid (GError **error, const char *format, const char *word, const char *known)
{
  g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID, format, word, known);
  return FALSE;
}

static char *
known_functions (void)
{
  gsize n;
  const AssaySweepFunction *table = assay_sweep_functions (&n);
  g_autoptr (GString) out = g_string_new (NULL);
  for (gsize i = 0; i < n; i++)
    g_string_append_printf (out, "%s%s", i ? ", " : "", table[i].name);
  return g_string_free (g_steal_pointer (&out), FALSE);
}

static gboolean
choose (Sweep *sweep, const char *name, GError **error)
{
  const Options *options = sweep->options;
  const char *precision = options->precision ? options->precision : "float32";
  const char *of = options->of ? options->of : "libm";
  g_autofree char *known = known_functions ();
  sweep->function = assay_sweep_function (name);
  sweep->dtype = assay_dtype_from_name (precision);
  sweep->device = g_str_equal (of, "virtual");
  if (!sweep->function)
    return invalid (error, "no function \"%s\"; there are: %s", name, known);
  if (sweep->dtype != ASSAY_DTYPE_FLOAT32 && sweep->dtype != ASSAY_DTYPE_FLOAT16
      && sweep->dtype != ASSAY_DTYPE_BFLOAT16)
    return invalid (error, "no precision \"%s\"; there are: %s", precision,
                    "float32, float16, bfloat16");
  if (!sweep->device && !g_str_equal (of, "libm"))
    return invalid (error, "cannot sweep \"%s\"; there are: %s", of, "libm, virtual");
  if (options->fast_math && !sweep->device)
    return invalid (error, "%s needs %s", "--fast-math", "--of virtual");
  return TRUE;
}

static gboolean
parse_range (const char *text, double *low, double *high, GError **error)
{
  char *end = NULL;
  *low = -INFINITY;
  *high = INFINITY;
  if (!text)
    return TRUE;
  *low = g_ascii_strtod (text, &end);
  gboolean fine = end != text && *end == ':';
  const char *second = fine ? end + 1 : "";
  *high = g_ascii_strtod (second, &end);
  if (fine && end != second && *end == '\0' && *low <= *high)
    return TRUE;
  return invalid (error, "range \"%s\": expected %s", text,
                  "LO:HI, two numbers of which the first is not the larger, as in -1:1");
}

static char *
describe (const Sweep *sweep)
{
  if (!sweep->device)
    return g_strdup_printf ("glibc %s: %s%s", gnu_get_libc_version (), sweep->function->single_text,
                            sweep->dtype == ASSAY_DTYPE_FLOAT32 ? "" : ", rounded");
  return g_strdup_printf ("virtual GPU %s%s: %s", sweep->options->target,
                          sweep->options->fast_math ? ", fast math" : "",
                          assay_device_function_text (sweep->kernel));
}

static AssaySweep *
start_record (const Sweep *sweep, GError **error)
{
  g_autoptr (AssaySweep) record = assay_sweep_new ();
  if (!parse_range (sweep->options->range, &record->low, &record->high, error))
    return NULL;
  record->function = g_strdup (sweep->function->name);
  record->precision = g_strdup (assay_dtype_name (sweep->dtype));
  record->of = describe (sweep);
  record->first = assay_sweep_position (sweep->dtype, record->low);
  record->last = assay_sweep_position (sweep->dtype, record->high);
  record->next = record->first;
  return g_steal_pointer (&record);
}

/* What an earlier sweep of the same thing left, or `fresh` itself. */
static AssaySweep *
resume (const char *path, AssaySweep *fresh, GError **error)
{
  g_autoptr (GError) missing = NULL;
  g_autoptr (JsonNode) node = assay_json_load (path, &ASSAY_JSON_LIMITS_RECORD, &missing);
  g_autoptr (AssaySweep) owned = fresh;
  if (!node && g_error_matches (missing, ASSAY_ERROR, ASSAY_ERROR_NOT_FOUND))
    return g_steal_pointer (&owned);
  if (!node)
    {
      g_propagate_error (error, g_steal_pointer (&missing));
      return NULL;
    }
  g_autoptr (AssaySweep) found = assay_json_table_read (&ASSAY_SWEEP_TABLE, node, "", NULL, error);
  if (!found)
    return NULL;
  if (g_str_equal (found->function, fresh->function)
      && g_str_equal (found->precision, fresh->precision) && g_str_equal (found->of, fresh->of)
      && found->first == fresh->first && found->last == fresh->last && found->next >= found->first
      && found->next <= found->last + 1)
    return g_steal_pointer (&found);
  g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
               "%s holds another sweep: %s, %s, positions %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT
               "; name another file",
               path, found->of, found->precision, found->first, found->last);
  return NULL;
}

/* ---- while it runs ---- */

static gboolean
save (const AssaySweep *record, const char *path, GError **error)
{
  g_autoptr (JsonNode) node = assay_json_table_write (&ASSAY_SWEEP_TABLE, record);
  return assay_json_save (node, path, error);
}

static gboolean
on_checkpoint (const AssaySweep *record, gpointer data, GError **error)
{
  Sweep *sweep = data;
  gint64 now = g_get_monotonic_time ();
  if (!sweep->options->resume || now - sweep->saved < CHECKPOINT_SECONDS * G_TIME_SPAN_SECOND)
    return TRUE;
  sweep->saved = now;
  return save (record, sweep->options->resume, error);
}

static void
on_progress (double fraction, gpointer data)
{
  Sweep *sweep = data;
  double seconds = (double) (g_get_monotonic_time () - sweep->started) / G_TIME_SPAN_SECOND;
  if (!sweep->progress)
    return;
  fprintf (stderr, "\r\033[Ksweep %s %.1f %%, %.0f s", sweep->function->name, 100 * fraction,
           seconds);
  fflush (stderr);
}

/* Waits in a thread of its own for the signals that the others have blocked. */
static gpointer
wait_for_signal (gpointer data)
{
  sigset_t set;
  int number = 0;
  sigemptyset (&set);
  sigaddset (&set, SIGINT);
  sigaddset (&set, SIGTERM);
  sigwait (&set, &number);
  g_cancellable_cancel (data);
  return NULL;
}

static void
watch_signals (GCancellable *cancellable)
{
  sigset_t set;
  sigemptyset (&set);
  sigaddset (&set, SIGINT);
  sigaddset (&set, SIGTERM);
  pthread_sigmask (SIG_BLOCK, &set, NULL);
  g_thread_unref (g_thread_new ("signals", wait_for_signal, cancellable));
}

static gboolean
run (Sweep *sweep, AssaySweep *record, GError **error)
{
  AssaySweepJob job = {
      .function = sweep->function,
      .dtype = sweep->dtype,
      .candidate = sweep->device ? assay_device_function_run : NULL,
      .user_data = sweep->kernel,
      .whole = sweep->device,
      .threads = (guint) MAX (sweep->options->threads, 0),
      .progress = on_progress,
      .checkpoint = on_checkpoint,
      .progress_data = sweep,
  };
  g_autoptr (GError) stopped = NULL;
  sweep->progress = isatty (STDERR_FILENO);
  sweep->started = sweep->saved = g_get_monotonic_time ();
  gboolean done = assay_sweep_run (record, &job, sweep->cancellable, &stopped);
  if (sweep->progress)
    fputs ("\r\033[K", stderr);
  if (sweep->options->resume && !save (record, sweep->options->resume, error))
    return FALSE;
  if (!done)
    g_propagate_error (error, g_steal_pointer (&stopped));
  return done;
}

/* ---- what it found ---- */

static void
print_sweep (const AssaySweep *record, AssayDtype dtype)
{
  const AssaySweepWorst *worst = record->worst->len ? g_ptr_array_index (record->worst, 0) : NULL;
  int digits = assay_dtype_format (dtype)->bits / 4;
  double share = 100.0 * (double) record->misrounded / (double) MAX (record->count, 1);
  printf ("%s, %s, %s\n\n", record->function, record->precision, record->of);
  printf ("inputs                    %" G_GUINT64_FORMAT " from %g to %g\n", record->count,
          record->low, record->high);
  printf ("not correctly rounded     %" G_GUINT64_FORMAT " (%.3g %%)\n", record->misrounded, share);
  printf ("beyond 1 ulp              %" G_GUINT64_FORMAT "\n", record->above_one);
  printf ("largest integer distance  %" G_GUINT64_FORMAT "\n", record->max_ulp);
  if (worst)
    printf ("largest real error        %.6f ulp at 0x%0*" G_GINT64_MODIFIER
            "x (%a): 0x%0*" G_GINT64_MODIFIER "x, exact %.9g\n",
            worst->ulp_real, digits, worst->input, worst->x, digits, worst->result, worst->value);
  printf ("largest absolute error    %.6g\n", record->max_abs);
  printf ("decided by MPFR           %" G_GUINT64_FORMAT "\n", record->rechecked);
  printf ("NaN                       %" G_GUINT64_FORMAT " spurious, %" G_GUINT64_FORMAT
          " missing\n",
          record->nan_spurious, record->nan_missing);
  printf ("infinities                %" G_GUINT64_FORMAT " spurious, %" G_GUINT64_FORMAT
          " missing\n",
          record->infinity_spurious, record->infinity_missing);
  printf ("zeros of the wrong sign   %" G_GUINT64_FORMAT "\n", record->zero_sign);
}

static void
print_maxima (GArray *verdicts)
{
  g_autoptr (AssayTextTable) table =
      assay_text_table_new ("documented by", ">maximum", ">measured", "", NULL);
  for (guint i = 0; i < verdicts->len; i++)
    {
      const AssayMaximumVerdict *verdict = &g_array_index (verdicts, AssayMaximumVerdict, i);
      const char *unit = verdict->absolute ? "absolute" : "ulp";
      g_autofree char *documented = g_strdup_printf ("%.4g %s", verdict->documented, unit);
      g_autofree char *measured = g_strdup_printf ("%.4g", verdict->measured);
      assay_text_table_add (table, verdict->table->title, documented, measured,
                            verdict->above ? "above" : "within");
    }
  if (verdicts->len)
    printf ("\n");
  assay_text_table_print (table, "");
}

/* Findings are about the tables that speak of what was swept. */
static gboolean
print_findings (const AssaySweep *record, GArray *verdicts)
{
  gboolean any = FALSE;
  for (guint i = 0; i < verdicts->len; i++)
    {
      const AssayMaximumVerdict *verdict = &g_array_index (verdicts, AssayMaximumVerdict, i);
      if (!verdict->binding || !verdict->above)
        continue;
      printf ("\nfinding: above documented: %s of %s errs by %.6g%s, and %s documents %.4g (%s)\n",
              record->function, record->of, verdict->measured, verdict->absolute ? "" : " ulp",
              verdict->table->title, verdict->documented, verdict->table->source);
      any = TRUE;
    }
  return any;
}

static JsonNode *
result_node (const AssaySweep *record, GArray *verdicts)
{
  JsonNode *node = assay_json_table_write (&ASSAY_SWEEP_TABLE, record);
  JsonArray *list = json_array_new ();
  for (guint i = 0; i < verdicts->len; i++)
    {
      const AssayMaximumVerdict *verdict = &g_array_index (verdicts, AssayMaximumVerdict, i);
      JsonObject *item = json_object_new ();
      json_object_set_string_member (item, "table", verdict->table->name);
      json_object_set_string_member (item, "source", verdict->table->source);
      json_object_set_double_member (item, "documented", verdict->documented);
      json_object_set_double_member (item, "measured", verdict->measured);
      json_object_set_boolean_member (item, "absolute", verdict->absolute);
      json_object_set_boolean_member (item, "above", verdict->above);
      json_object_set_boolean_member (item, "binding", verdict->binding);
      json_array_add_object_element (list, item);
    }
  json_object_set_array_member (json_node_get_object (node), "documented", list);
  return node;
}

static int
report (const Sweep *sweep, const AssaySweep *record, GError **error)
{
  const char *json = sweep->options->json;
  g_autofree char *path = assay_data_path ("ulp-maxima.json", error);
  g_autoptr (AssayMaxima) maxima = path ? assay_maxima_load (path, error) : NULL;
  if (!maxima)
    return ASSAY_EXIT_IMPOSSIBLE;
  g_autoptr (GArray) verdicts =
      assay_maxima_judge (maxima, record, sweep->device ? "virtual" : "libm",
                          gnu_get_libc_version (), sweep->options->fast_math);
  gboolean faults = FALSE;
  if (json)
    {
      g_autoptr (JsonNode) node = result_node (record, verdicts);
      if (!assay_command_write_json (node, json, error))
        return ASSAY_EXIT_IMPOSSIBLE;
    }
  if (g_strcmp0 (json, "-") != 0)
    {
      print_sweep (record, sweep->dtype);
      print_maxima (verdicts);
      print_findings (record, verdicts);
    }
  for (guint i = 0; i < verdicts->len; i++)
    {
      const AssayMaximumVerdict *verdict = &g_array_index (verdicts, AssayMaximumVerdict, i);
      faults = faults || (verdict->binding && verdict->above);
    }
  return faults ? ASSAY_EXIT_FAULTS : ASSAY_EXIT_FINE;
}

static gboolean
compile (Sweep *sweep, GError **error)
{
  AssaySandboxTier tier;
  const Options *options = sweep->options;
  if (!sweep->device)
    return TRUE;
  if (!assay_sandbox_choose (options->consent, &tier, error))
    return FALSE;
  sweep->kernel = assay_device_function_new (sweep->function, sweep->dtype, options->target,
                                             options->fast_math, tier, sweep->cancellable, error);
  return sweep->kernel != NULL;
}

static int
sweep_function (const char *name, const Options *options)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AssaySweep) record = NULL;
  Sweep sweep = {.options = options, .cancellable = g_cancellable_new ()};
  int status = ASSAY_EXIT_IMPOSSIBLE;
  if (options->threads < 0 || options->threads > MOST_THREADS)
    {
      g_printerr ("assay-engine sweep: threads: expected 1 to %d, or 0 for one for each processor; "
                  "found %" G_GINT64_FORMAT "\n",
                  MOST_THREADS, options->threads);
      g_object_unref (sweep.cancellable);
      return status;
    }
  watch_signals (sweep.cancellable);
  if (choose (&sweep, name, &error) && compile (&sweep, &error))
    record = start_record (&sweep, &error);
  if (record && options->resume)
    record = resume (options->resume, g_steal_pointer (&record), &error);
  if (record && run (&sweep, record, &error))
    status = report (&sweep, record, &error);
  g_clear_pointer (&sweep.kernel, assay_device_function_free);
  return error ? assay_command_fail ("sweep", error) : status;
}

int
assay_command_sweep (int argc, char **argv)
{
  Options options = {.target = g_strdup ("sm_80")};
  const GOptionEntry entries[] = {
      {"precision", 0, 0, G_OPTION_ARG_STRING, &options.precision,
       "float32 (default), float16, bfloat16", "TYPE"},
      {"range", 0, 0, G_OPTION_ARG_STRING, &options.range, "only inputs in it (default: all)",
       "LO:HI"},
      {"of", 0, 0, G_OPTION_ARG_STRING, &options.of,
       "whose function: libm (default), virtual (CUDA's, on the virtual GPU)", "WHAT"},
      {"target", 0, 0, G_OPTION_ARG_STRING, &options.target,
       "architecture of the virtual GPU (default sm_80)", "SM"},
      {"fast-math", 0, 0, G_OPTION_ARG_NONE, &options.fast_math, "compile with --use_fast_math",
       NULL},
      {"threads", 0, 0, G_OPTION_ARG_INT64, &options.threads, "default: one for each processor",
       "N"},
      {"resume", 0, 0, G_OPTION_ARG_FILENAME, &options.resume,
       "go on from this file, and keep it up to date", "FILE"},
      {"json", 0, 0, G_OPTION_ARG_FILENAME, &options.json, "write the result there; - is stdout",
       "FILE"},
      {"consent-unsandboxed", 0, 0, G_OPTION_ARG_NONE, &options.consent,
       "run the virtual GPU without a sandbox where none works", NULL},
      {NULL},
  };
  g_autofree char *known = known_functions ();
  g_autofree char *description = g_strdup_printf ("Functions: %s.", known);
  g_autoptr (GOptionContext) context =
      g_option_context_new ("FUNCTION – a function over every value of a format");
  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_set_description (context, description);
  int status = ASSAY_EXIT_IMPOSSIBLE;
  if (assay_command_parse (context, &argc, &argv))
    {
      if (argc == 2)
        status = sweep_function (argv[1], &options);
      else
        g_printerr ("assay-engine sweep: expected one function; there are: %s\n", known);
    }
  g_free (options.precision);
  g_free (options.range);
  g_free (options.of);
  g_free (options.target);
  g_free (options.resume);
  g_free (options.json);
  return status;
}
