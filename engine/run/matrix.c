/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/matrix.h"

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/findings/failure.h"
#include "engine/run/frameworks.h"
#include "engine/run/occupancy.h"
#include "engine/run/resources.h"
#include "engine/run/toolkit-show.h"
#include "engine/sandbox/preflight.h"
#include "engine/task/plan.h"
#include "engine/worker/ptx-signature.h"
#include "engine/worker/session.h"

#include <math.h>
#include <string.h>

/* Twelve targets of a file with heavy headers take a while. */
#define WALL_SECONDS 600

/* One thing to compile: a candidate of a task, or a file. */
typedef struct
{
  char *name, *folder;
  char **sources, **options;
  const AssayTask *task; /* NULL for a file */
  const AssayCandidate *candidate;
  const AssayToolkit *toolkit;
  AssaySandboxTier tier;
  GCancellable *cancellable;
} Subject;

/* A part of one subject's targets. */
typedef struct
{
  const Subject *subject;
  char **targets; /* NULL: the compiler's */
  guint slice, slices;
  JsonArray *cells;
  AssayWorkerReply *reply;
  GError *error;
} Slice;

static void
subject_free (Subject *subject)
{
  g_free (subject->name);
  g_free (subject->folder);
  g_strfreev (subject->sources);
  g_strfreev (subject->options);
  g_free (subject);
}

static void
slice_free (Slice *slice)
{
  g_clear_pointer (&slice->cells, json_array_unref);
  g_clear_pointer (&slice->reply, assay_worker_reply_free);
  g_clear_error (&slice->error);
  g_free (slice);
}

static const char *
symbol_of (const Subject *subject)
{
  return subject->candidate ? subject->candidate->entry.symbol : NULL;
}

static gboolean
add_sources (const Subject *subject, AssaySandboxSpec *spec, AssayWorkerRequest *request,
             GError **error)
{
  for (guint i = 0; subject->sources && subject->sources[i]; i++)
    {
      g_autofree char *outside =
          subject->task ? assay_task_path (subject->task, subject->sources[i], error)
                        : g_build_filename (subject->folder, subject->sources[i], NULL);
      g_autofree char *inside = g_build_filename ("/src", subject->sources[i], NULL);
      if (!outside)
        return FALSE;
      assay_sandbox_spec_show (spec, outside, inside);
      AssayWorkerSource *source = assay_worker_source_new ();
      source->path = g_strdup (assay_sandbox_spec_path (spec, subject->tier, inside));
      source->name = g_strdup (subject->sources[i]);
      g_ptr_array_add (request->sources, source);
    }
  return TRUE;
}

static AssayWorkerReply *
ask (const Subject *subject, char **targets, guint slice, guint slices, GError **error)
{
  g_autoptr (AssayWorkerRequest) request = assay_worker_request_new ();
  g_autoptr (AssaySandboxSpec) spec = assay_worker_spec_new (error);
  if (!spec || !add_sources (subject, spec, request, error))
    return NULL;
  assay_toolkit_show (subject->toolkit, spec);
  assay_sandbox_spec_limits (spec)->wall_seconds = WALL_SECONDS;
  assay_sandbox_spec_limits (spec)->cpu_seconds = WALL_SECONDS;
  request->request = ASSAY_REQUEST_MATRIX;
  request->nvrtc = g_strdup (subject->toolkit->nvrtc);
  request->nvcc = g_strdup (subject->toolkit->nvcc);
  request->includes = g_strdupv (subject->toolkit->includes);
  request->targets = g_strdupv (targets);
  request->slice = slice;
  request->slices = slices;
  request->options = g_strdupv (subject->options);
  request->symbol = g_strdup (symbol_of (subject));
  request->host = subject->candidate && subject->candidate->entry.kind == ASSAY_ENTRY_HOST;
  return assay_worker_call (spec, subject->tier, request, subject->cancellable, error);
}

static gpointer
run_slice (gpointer data)
{
  Slice *slice = data;
  slice->reply = ask (slice->subject, slice->targets, slice->slice, slice->slices, &slice->error);
  JsonObject *done = slice->reply ? slice->reply->done : NULL;
  if (done && json_object_has_member (done, "cells"))
    slice->cells = json_array_ref (json_object_get_array_member (done, "cells"));
  return NULL;
}

/* ---- from what the worker said to cells ---- */

static char *
first_error (const char *log)
{
  g_auto (GStrv) lines = g_strsplit (log ? log : "", "\n", -1);
  for (guint i = 0; lines[i]; i++)
    if (strstr (lines[i], "error") || strstr (lines[i], "fatal"))
      return g_strdup (g_strstrip (lines[i]));
  return g_strdup (lines[0] ? lines[0] : "");
}

/* NVRTC's assembler does not always say why: what its figures break then. (transfer full), NULL: nothing. */
static char *
broken_limit (const char *log)
{
  const gint64 most = 48 * 1024; /* of static shared memory, on every architecture */
  for (const char *at = log; at && (at = strstr (at, " bytes smem")); at++)
    {
      const char *from = at;
      while (from > log && g_ascii_isdigit (from[-1]))
        from--;
      gint64 bytes = g_ascii_strtoll (from, NULL, 10);
      if (bytes > most)
        return g_strdup_printf (
            "ptxas error   : an entry uses too much shared data (0x%" G_GINT64_MODIFIER
            "x bytes, 0x%" G_GINT64_MODIFIER "x max)",
            bytes, most);
    }
  return NULL;
}

static gint64
count_warnings (const char *log)
{
  gint64 count = 0;
  for (const char *at = log; at && (at = strstr (at, "warning")); at++)
    count += at[strlen ("warning")] == ':' || g_str_has_prefix (at, "warning #")
             || g_str_has_prefix (at, "warning  ");
  return count;
}

static void
set_failure (AssayMatrixCell *cell, const char *name, const char *log)
{
  gboolean silent = log && !strstr (log, "error") && !strstr (log, "fatal");
  g_autofree char *broken = silent ? broken_limit (log) : NULL;
  AssayFailure failure = {.name = (char *) name, .message = broken ? broken : (char *) log};
  const AssayFailureClass *is = assay_failure_classify (&failure);
  cell->base.status = ASSAY_STATUS_FAILED;
  cell->base.failure = g_strdup (is->failure_class);
  cell->blame = g_strdup (is->undecided ? "undecided" : ASSAY_BLAMES[is->blame]);
  cell->advice = g_strdup (is->advice);
  cell->message = first_error (broken ? broken : log);
}

static void
fit_workload (AssayMatrixCell *cell, const Subject *subject, const AssayWorkload *workload)
{
  AssayLaunchShape shape;
  AssayLaunchFit fit;
  g_autoptr (AssayPlan) plan = assay_plan_new (subject->task, workload, NULL);
  if (!plan || !assay_plan_launch (plan, &subject->candidate->entry, &shape, NULL))
    return;
  assay_launch_fit (cell->base.target, shape.grid, shape.block, shape.shared,
                    MAX (cell->base.shared_bytes, 0), cell->base.registers, &fit);
  if (!fit.known || (!isnan (cell->occupancy) && fit.share >= cell->occupancy))
    return;
  g_free (cell->workload);
  cell->workload = g_strdup (workload->name);
  cell->threads = shape.block[0] * shape.block[1] * shape.block[2];
  cell->blocks_per_sm = fit.blocks;
  cell->warps_per_sm = fit.warps;
  cell->occupancy = fit.share;
  g_free (cell->limited_by);
  cell->limited_by = g_strdup (fit.limited_by);
  if (fit.problem[0] && cell->base.status == ASSAY_STATUS_PASSED)
    {
      cell->base.status = ASSAY_STATUS_FAILED;
      cell->base.failure = g_strdup ("LAUNCH_CONFIG");
      cell->blame = g_strdup ("candidate");
      cell->message =
          g_strdup_printf ("workload %s does not start: %s", workload->name, fit.problem);
    }
}

static AssayMatrixCell *
cell_new (const Subject *subject, JsonObject *said)
{
  AssayMatrixCell *cell = assay_matrix_cell_new ();
  cell->candidate = g_strdup (subject->name);
  cell->toolkit = g_strdup (subject->toolkit->root);
  cell->base.target = g_strdup (assay_json_string (said, "target"));
  cell->base.seconds = json_object_get_double_member_with_default (said, "seconds", 0);
  cell->base.status = ASSAY_STATUS_PASSED;
  cell->text = g_strdup (assay_json_string (said, "log"));
  cell->compiler = g_strdup (assay_json_string (said, "compiler"));
  cell->ptx_version = g_strdup (assay_json_string (said, "ptx_version"));
  cell->warnings = count_warnings (cell->text);
  return cell;
}

/* (transfer full): the kernels that the log tells of, in its order. */
static char **
kernels_in (const char *log)
{
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();
  const char *mark = "Compiling entry function '";
  for (const char *at = log; at && (at = strstr (at, mark));)
    {
      at += strlen (mark);
      g_autofree char *name = g_strndup (at, strcspn (at, "'"));
      g_strv_builder_add (names, name);
    }
  return g_strv_builder_end (names);
}

static void
add_kernel (AssayMatrix *matrix, const Subject *subject, JsonObject *said, const char *mangled)
{
  AssayMatrixCell *cell = cell_new (subject, said);
  cell->kernel = symbol_of (subject) ? g_strdup (symbol_of (subject)) : assay_plain_name (mangled);
  assay_resources_parse (cell->text, mangled, &cell->base);
  const AssayTask *task = subject->task;
  gboolean kernel = subject->candidate && subject->candidate->entry.kind == ASSAY_ENTRY_KERNEL;
  for (guint i = 0; task && kernel && i < task->workloads->len; i++)
    fit_workload (cell, subject, g_ptr_array_index (task->workloads, i));
  g_ptr_array_add (matrix->cells, cell);
}

static void
add_cells (AssayMatrix *matrix, const Subject *subject, JsonObject *said)
{
  const char *log = assay_json_string (said, "log");
  if (!json_object_get_boolean_member_with_default (said, "compiled", FALSE))
    {
      AssayMatrixCell *cell = cell_new (subject, said);
      cell->kernel = g_strdup (symbol_of (subject));
      set_failure (cell, "compile", log);
      g_ptr_array_add (matrix->cells, cell);
      return;
    }
  g_auto (GStrv) kernels = kernels_in (log);
  const char *entry = assay_json_string (said, "entry");
  if (subject->candidate)
    add_kernel (matrix, subject, said, entry);
  for (guint i = 0; !subject->candidate && kernels[i]; i++)
    add_kernel (matrix, subject, said, kernels[i]);
}

/* (transfer full): the names in a worker's list of targets. */
static char **
names_in (JsonObject *done)
{
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();
  JsonArray *list = done && json_object_has_member (done, "targets")
                        ? json_object_get_array_member (done, "targets")
                        : NULL;
  for (guint i = 0; list && i < json_array_get_length (list); i++)
    g_strv_builder_add (names, json_array_get_string_element (list, i));
  return g_strv_builder_end (names);
}

static void
compile_alone (AssayMatrix *matrix, const Subject *subject, char *target)
{
  char *one[] = {target, NULL};
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayWorkerReply) reply = ask (subject, one, 0, 1, &error);
  if (reply && reply->done && json_object_has_member (reply->done, "cells"))
    {
      JsonArray *cells = json_object_get_array_member (reply->done, "cells");
      add_cells (matrix, subject, json_array_get_object_element (cells, 0));
      return;
    }
  AssayMatrixCell *cell = assay_matrix_cell_new ();
  cell->candidate = g_strdup (subject->name);
  cell->toolkit = g_strdup (subject->toolkit->root);
  cell->kernel = g_strdup (symbol_of (subject));
  cell->base.target = g_strdup (target);
  set_failure (cell, NULL, reply ? reply->message : error->message);
  g_ptr_array_add (matrix->cells, cell);
}

/* A compiler that died took the whole slice with it: each target of it then has a process of its own. */
static gboolean
retry_alone (AssayMatrix *matrix, const Slice *slice, GError **error)
{
  g_autoptr (AssayWorkerReply) list = ask (slice->subject, slice->targets, 1, 1, error);
  g_auto (GStrv) targets = names_in (list ? list->done : NULL);
  if (list && !list->done)
    g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_FAILED, "%s: %s", slice->subject->name,
                 list->message);
  for (guint i = 0; targets[i]; i++)
    if (i % slice->slices == slice->slice)
      compile_alone (matrix, slice->subject, targets[i]);
  return list && list->done;
}

/* ---- targets ---- */

static int
target_number (const char *target)
{
  return (int) g_ascii_strtoll (target + strcspn (target, "0123456789"), NULL, 10);
}

static gint
compare_cells (gconstpointer a, gconstpointer b)
{
  const AssayMatrixCell *left = *(const AssayMatrixCell *const *) a;
  const AssayMatrixCell *right = *(const AssayMatrixCell *const *) b;
  int kernel = g_strcmp0 (left->kernel, right->kernel);
  int number = target_number (left->base.target) - target_number (right->base.target);
  return kernel ? kernel : number ? number : g_strcmp0 (left->base.target, right->base.target);
}

/* What the task lists and the compiler's own list has not: sm_90a. */
static char **
further_targets (const AssayTask *task)
{
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();
  for (guint i = 0; task->targets && task->targets[i]; i++)
    {
      const char *target = task->targets[i];
      const char *name = g_str_has_prefix (target, "cuda:") ? target + strlen ("cuda:") : target;
      if (g_str_has_prefix (name, "sm_") && !g_ascii_isdigit (name[strlen (name) - 1]))
        g_strv_builder_add (names, name);
    }
  return g_strv_builder_end (names);
}

static Slice *
slice_new (const Subject *subject, char **targets, guint slice, guint slices)
{
  Slice *self = g_new0 (Slice, 1);
  self->subject = subject;
  self->targets = targets;
  self->slice = slice;
  self->slices = slices;
  return self;
}

static gboolean
take_slice (AssayMatrix *matrix, const Slice *slice, GError **error)
{
  if (slice->error)
    {
      g_propagate_error (error, g_error_copy (slice->error));
      return FALSE;
    }
  for (guint i = 0; slice->cells && i < json_array_get_length (slice->cells); i++)
    add_cells (matrix, slice->subject, json_array_get_object_element (slice->cells, i));
  if (slice->cells)
    return TRUE;
  if (slice->reply->outcome != ASSAY_OUTCOME_ERROR)
    return retry_alone (matrix, slice, error);
  g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_FAILED, "%s: %s", slice->subject->name,
               slice->reply->message);
  return FALSE;
}

static gboolean
compile_subject (AssayMatrix *matrix, const Subject *subject, char **wanted, guint workers,
                 GError **error)
{
  g_autoptr (GPtrArray) slices = g_ptr_array_new_with_free_func ((GDestroyNotify) slice_free);
  g_autoptr (GPtrArray) threads = g_ptr_array_new ();
  g_auto (GStrv) further = !wanted && subject->task ? further_targets (subject->task) : NULL;
  gboolean fine = TRUE;
  guint first = matrix->cells->len;
  for (guint i = 0; i < workers; i++)
    g_ptr_array_add (slices, slice_new (subject, wanted, i, workers));
  if (further && further[0])
    g_ptr_array_add (slices, slice_new (subject, further, 0, 1));
  for (guint i = 0; i < slices->len; i++)
    g_ptr_array_add (threads, g_thread_new ("matrix", run_slice, g_ptr_array_index (slices, i)));
  for (guint i = 0; i < threads->len; i++)
    g_thread_join (g_ptr_array_index (threads, i));
  for (guint i = 0; fine && i < slices->len; i++)
    fine = take_slice (matrix, g_ptr_array_index (slices, i), error);
  if (matrix->cells->len > first)
    qsort (matrix->cells->pdata + first, matrix->cells->len - first, sizeof (gpointer),
           compare_cells);
  return fine;
}

/* ---- subjects ---- */

static Subject *
subject_of_candidate (const AssayTask *task, const AssayCandidate *candidate)
{
  Subject *subject = g_new0 (Subject, 1);
  subject->name = g_strdup (candidate->name);
  subject->sources = g_strdupv (candidate->sources);
  subject->options = g_strdupv (candidate->options);
  subject->task = task;
  subject->candidate = candidate;
  return subject;
}

static Subject *
subject_of_file (const char *path, char **options)
{
  Subject *subject = g_new0 (Subject, 1);
  subject->name = g_path_get_basename (path);
  subject->folder = g_path_get_dirname (path);
  subject->sources = g_new0 (char *, 2);
  subject->sources[0] = g_strdup (subject->name);
  subject->options = g_strdupv (options);
  return subject;
}

static gboolean
list_subjects (const AssayMatrixRequest *request, AssayTask **task, GPtrArray *subjects,
               GError **error)
{
  if (g_file_test (request->subject, G_FILE_TEST_IS_REGULAR)
      && g_str_has_suffix (request->subject, ".cu"))
    {
      g_ptr_array_add (subjects, subject_of_file (request->subject, request->options));
      return TRUE;
    }
  *task = assay_task_load (request->subject, NULL, error);
  if (!*task)
    return FALSE;
  for (guint i = 0; i < (*task)->candidates->len; i++)
    {
      const AssayCandidate *candidate = g_ptr_array_index ((*task)->candidates, i);
      if (!request->candidate || g_str_equal (request->candidate, candidate->name))
        g_ptr_array_add (subjects, subject_of_candidate (*task, candidate));
    }
  if (subjects->len == 0)
    g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_NOT_FOUND, "task %s has no candidate \"%s\"",
                 (*task)->id, request->candidate ? request->candidate : "(any)");
  return subjects->len > 0;
}

static gboolean
compile_all (AssayMatrix *matrix, GPtrArray *subjects, const AssayToolkit *toolkit,
             const AssayMatrixRequest *request, GError **error)
{
  guint workers = request->workers ? request->workers : g_get_num_processors ();
  for (guint i = 0; i < subjects->len; i++)
    {
      Subject *subject = g_ptr_array_index (subjects, i);
      subject->toolkit = toolkit;
      if (!compile_subject (matrix, subject, request->targets, workers, error))
        return FALSE;
    }
  return TRUE;
}

static char **
roots_of (GPtrArray *toolkits)
{
  g_autoptr (GStrvBuilder) roots = g_strv_builder_new ();
  for (guint i = 0; i < toolkits->len; i++)
    g_strv_builder_add (roots, ((AssayToolkit *) g_ptr_array_index (toolkits, i))->root);
  return g_strv_builder_end (roots);
}

AssayMatrix *
assay_matrix_make (const AssayMatrixRequest *request, GCancellable *cancellable, GError **error)
{
  g_autoptr (GPtrArray) subjects = g_ptr_array_new_with_free_func ((GDestroyNotify) subject_free);
  g_autoptr (AssayTask) task = NULL;
  g_autoptr (GPtrArray) toolkits = NULL;
  g_autoptr (AssayMatrix) matrix = assay_matrix_new ();
  AssaySandboxTier tier = ASSAY_TIER_BUBBLEWRAP;
  gint64 started = g_get_monotonic_time ();
  if (!list_subjects (request, &task, subjects, error)
      || !assay_sandbox_choose (request->consent_unsandboxed, &tier, error))
    return NULL;
  toolkits = assay_toolkit_list ();
  if (toolkits->len == 0)
    {
      /* It says where it looked. */
      g_autoptr (AssayToolkit) none = assay_toolkit_find (error);
      return NULL;
    }
  matrix->subject = g_strdup (task ? task->id : request->subject);
  matrix->toolkits = roots_of (toolkits);
  matrix->toolkit = g_strdup (matrix->toolkits[0]);
  for (guint i = 0; i < subjects->len; i++)
    {
      Subject *subject = g_ptr_array_index (subjects, i);
      subject->tier = tier;
      subject->cancellable = cancellable;
    }
  for (guint i = 0; i < toolkits->len; i++)
    if (!compile_all (matrix, subjects, g_ptr_array_index (toolkits, i), request, error))
      return NULL;
  matrix->seconds = (double) (g_get_monotonic_time () - started) / G_TIME_SPAN_SECOND;
  assay_frameworks_fill (matrix, task);
  return g_steal_pointer (&matrix);
}
