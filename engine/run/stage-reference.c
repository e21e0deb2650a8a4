/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/downgrade.h"

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/device/installation.h"
#include "engine/numerics/gold.h"
#include "engine/run/cache.h"

#include <string.h>

#define LIBRARY_FD 10
#define FIRST_ARRAY_FD 12
#define WRAPPER "/assay/wrapper/wrapper.c"

void
assay_gold_values_free (AssayGoldValues *gold)
{
  g_free (gold->high);
  g_free (gold->low);
  g_free (gold->method);
  g_free (gold);
}

static char *
find_compiler (void)
{
  const char *named = g_getenv ("ASSAY_CC");
  char *path = g_find_program_in_path (named ? named : "cc");
  return path || named ? path : g_find_program_in_path ("gcc");
}

/* What is built: the reference or its cross-check, and where its libraries go. */
typedef struct
{
  AssayPipeline *p;
  const AssayReference *reference;
  AssayMemory **libraries; /* by AssayReal */
  const char *name;        /* of files and messages */
} Built;

static AssayCacheKey *
library_key (const Built *built, const char *compiler, const char *header, const char *wrapper,
             int real)
{
  AssayPipeline *p = built->p;
  AssayCacheKey *key = assay_cache_key_new ("reference");
  g_autofree char *number = g_strdup_printf ("%d", real);
  const AssayReference *reference = built->reference;
  assay_cache_key_add_program (key, compiler);
  assay_cache_key_add_file (key, header);
  assay_cache_key_add (key, wrapper);
  assay_cache_key_add (key, number);
  for (guint i = 0; reference->options && reference->options[i]; i++)
    assay_cache_key_add (key, reference->options[i]);
  for (guint i = 0; reference->sources && reference->sources[i]; i++)
    {
      g_autofree char *path = assay_task_path (p->task, reference->sources[i], NULL);
      assay_cache_key_add (key, reference->sources[i]);
      assay_cache_key_add_file (key, path ? path : "");
    }
  return key;
}

static AssayWorkerReply *
ask_builder (const Built *built, const char *compiler, const char *header_folder,
             const char *wrapper_path, AssayMemory *const *libraries, GError **error)
{
  AssayPipeline *p = built->p;
  g_autoptr (AssayWorkerRequest) request = assay_worker_request_new ();
  g_autoptr (AssaySandboxSpec) spec = assay_pipeline_worker (p, built->reference->sources, error);
  if (!spec)
    return NULL;
  const char *source_root = p->tier == ASSAY_TIER_NONE ? p->task->folder : "/src";
  assay_sandbox_spec_show (spec, header_folder, "/assay/reference");
  assay_sandbox_spec_show (spec, wrapper_path, WRAPPER);
  const char *header_inside = assay_sandbox_spec_path (spec, p->tier, "/assay/reference");
  const char *const includes[] = {header_inside, source_root, NULL};
  request->request = ASSAY_REQUEST_BUILD;
  request->compiler = g_strdup (compiler);
  request->wrapper_path = g_strdup (assay_sandbox_spec_path (spec, p->tier, WRAPPER));
  request->includes = g_strdupv ((char **) includes);
  request->options = g_strdupv (built->reference->options);
  for (int real = ASSAY_REAL_FLOAT; real <= ASSAY_REAL_QUAD; real++)
    {
      AssayWorkerRung *rung = assay_worker_rung_new ();
      rung->real = real;
      rung->fd = LIBRARY_FD + real;
      g_ptr_array_add (request->rungs, rung);
      assay_sandbox_spec_pass (spec, libraries[real], (int) rung->fd);
    }
  return assay_worker_call (spec, p->tier, request, p->cancellable, error);
}

static gboolean
load_cached (const Built *built, AssayCacheKey *const *keys)
{
  AssayMemory **libraries = built->libraries;
  for (int real = ASSAY_REAL_FLOAT; real <= ASSAY_REAL_QUAD; real++)
    {
      libraries[real] = assay_cache_load (keys[real], NULL);
      if (!libraries[real])
        {
          for (int i = ASSAY_REAL_FLOAT; i < real; i++)
            g_clear_pointer (&libraries[i], assay_memory_unref);
          return FALSE;
        }
    }
  return TRUE;
}

static gboolean
build_all (const Built *what, AssayCacheKey *const *keys, const char *compiler,
           const char *header_folder, const char *wrapper, GError **error)
{
  AssayPipeline *p = what->p;
  g_autofree char *file = g_strconcat (what->name, "-wrapper.c", NULL);
  g_autofree char *log = g_strconcat (what->name, "-build.log", NULL);
  g_autofree char *relative = assay_pipeline_write (p, "logs", file, wrapper, -1);
  g_autofree char *path = relative ? g_build_filename (p->folder, relative, NULL) : NULL;
  AssayMemory *libraries[ASSAY_REAL_QUAD + 1] = {NULL};
  g_autoptr (AssayWorkerReply) reply = NULL;
  gboolean built = path != NULL;
  for (int real = ASSAY_REAL_FLOAT; real <= ASSAY_REAL_QUAD && built; real++)
    built = (libraries[real] = assay_memory_new_growing ("library", error)) != NULL;
  if (built)
    reply = ask_builder (what, compiler, header_folder, path, libraries, error);
  built = reply && reply->outcome == ASSAY_OUTCOME_DONE;
  for (int real = ASSAY_REAL_FLOAT; real <= ASSAY_REAL_QUAD; real++)
    {
      g_autoptr (JsonNode) note = json_node_new (JSON_NODE_OBJECT);
      json_node_take_object (note, json_object_new ());
      if (built && assay_memory_finish (libraries[real], NULL))
        {
          assay_cache_store (keys[real], libraries[real], note);
          what->libraries[real] = libraries[real];
        }
      else if (libraries[real])
        assay_memory_unref (libraries[real]);
    }
  if (built || !reply)
    return built;
  if (reply->error && reply->error->log)
    g_free (assay_pipeline_write (p, "logs", log, reply->error->log, -1));
  if (what->reference == p->task->reference)
    assay_pipeline_fail (p, NULL, "reference", reply, reply->message);
  g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID, "the %s does not compile: %s", what->name,
               reply->message);
  return FALSE;
}

/* A reference that is broken is the task's fault; one that this computer or this version cannot build
 * is nobody's. */
static void
note_absence (AssayPipeline *p, const GError *error)
{
  p->reference_reason = g_strdup (error ? error->message : "the reference was not built");
  p->reference_absent = error
                        && (g_error_matches (error, ASSAY_ERROR, ASSAY_ERROR_UNSUPPORTED)
                            || g_error_matches (error, ASSAY_ERROR, ASSAY_ERROR_NOT_FOUND));
  if (p->reference_absent)
    assay_pipeline_fail (p, NULL, "reference", NULL, p->reference_reason)->name =
        g_strdup ("environment");
}

static gboolean
build (const Built *what, GError **error)
{
  AssayPipeline *p = what->p;
  g_autofree char *compiler = find_compiler ();
  g_autofree char *header_folder = assay_data_path ("reference", error);
  g_autofree char *wrapper = NULL;
  gboolean built = FALSE;
  AssayCacheKey *keys[ASSAY_REAL_QUAD + 1] = {NULL};
  if (!header_folder)
    return FALSE;
  if (!what->reference || g_strcmp0 (what->reference->language, "c") != 0)
    g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_UNSUPPORTED,
                 "the %s is not in C; other languages cannot be run by this version", what->name);
  else if (!compiler)
    g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_NOT_FOUND,
                 "no C compiler (cc) for the %s; install gcc or clang", what->name);
  else
    wrapper = assay_reference_wrapper (p->task, what->reference, error);
  if (wrapper)
    {
      g_autofree char *header = g_build_filename (header_folder, "assay_reference.h", NULL);
      for (int real = ASSAY_REAL_FLOAT; real <= ASSAY_REAL_QUAD; real++)
        keys[real] = library_key (what, compiler, header, wrapper, real);
      built = load_cached (what, keys)
              || build_all (what, keys, compiler, header_folder, wrapper, error);
    }
  for (int real = ASSAY_REAL_FLOAT; real <= ASSAY_REAL_QUAD; real++)
    g_clear_pointer (&keys[real], assay_cache_key_free);
  return built;
}

gboolean
assay_reference_build (AssayPipeline *p)
{
  g_autoptr (GError) error = NULL;
  const Built what = {p, p->task->reference, p->libraries, "reference"};
  gboolean built = build (&what, &error);
  if (!built)
    note_absence (p, error);
  return built;
}

gboolean
assay_cross_check_build (AssayPipeline *p)
{
  g_autoptr (GError) error = NULL;
  const Built what = {p, p->task->cross_check, p->cross_libraries, "cross-check"};
  gboolean built = p->task->cross_check && build (&what, &error);
  if (error)
    assay_pipeline_log (p, error->message);
  return built;
}

/* ---- running one rung ---- */

static const gsize REAL_BYTES[] = {0, sizeof (float), sizeof (double), 16};

typedef struct
{
  AssayPipeline *pipeline;
  AssayCase *c;
  AssayReal real;
  const AssayReference *reference;
  AssayMemory *library;
  GPtrArray *values;  /* AssayMemory *, by input: the case's own, or others */
  GPtrArray *outputs; /* AssayMemory * */
  AssayWorkerReply *reply;
  GError *error;
} Rung;

static gboolean
is_integer (const AssayPlannedArray *array)
{
  return !assay_dtype_is_float (array->array->dtype);
}

static gsize
component_count (const AssayPlannedArray *array)
{
  return array->count * (gsize) assay_dtype_format (array->array->dtype)->components;
}

static void
add_array (AssayWorkerRequest *request, AssaySandboxSpec *spec, const AssayPlannedArray *array,
           AssayMemory *memory, const char *role)
{
  AssayWorkerArray *wanted = assay_worker_array_new ();
  wanted->name = g_strdup (array->array->name);
  wanted->fd = FIRST_ARRAY_FD + request->arrays->len;
  wanted->bytes = (gint64) assay_memory_size (memory);
  wanted->role = g_strdup (role);
  wanted->dtype = g_strdup (assay_dtype_name (array->array->dtype));
  wanted->integer = is_integer (array);
  assay_sandbox_spec_pass (spec, memory, (int) wanted->fd);
  g_ptr_array_add (request->arrays, wanted);
}

static void
add_number (AssayWorkerRequest *request, const AssayReferenceArgument *argument, double real,
            gint64 integer)
{
  AssayWorkerArgument *wanted = assay_worker_argument_new ();
  wanted->is_real = !argument->integer;
  wanted->real = real;
  wanted->integer = integer;
  g_ptr_array_add (request->arguments, wanted);
}

static gboolean
add_arguments (Rung *rung, AssayWorkerRequest *request, GError **error)
{
  AssayCase *c = rung->c;
  g_autoptr (GPtrArray) arguments =
      assay_reference_arguments (rung->pipeline->task, rung->reference, error);
  for (guint i = 0; arguments && i < arguments->len; i++)
    {
      const AssayReferenceArgument *argument = g_ptr_array_index (arguments, i);
      if (argument->kind == ASSAY_ARGUMENT_AXIS)
        {
          const gint64 *value = g_hash_table_lookup (c->plan->axes, argument->name);
          add_number (request, argument, 0, value ? *value : 0);
        }
      else if (argument->kind == ASSAY_ARGUMENT_SCALAR)
        {
          const AssayInput *input = g_ptr_array_index (c->inputs, argument->index);
          double value = assay_array_get (input->values, 0);
          add_number (request, argument, value, (gint64) value);
        }
      else
        {
          AssayWorkerArgument *wanted = assay_worker_argument_new ();
          wanted->array = g_strdup (argument->name);
          g_ptr_array_add (request->arguments, wanted);
        }
    }
  return arguments != NULL;
}

static AssaySandboxSpec *
rung_spec (Rung *rung, AssayWorkerRequest *request, GError **error)
{
  AssayCase *c = rung->c;
  g_autoptr (AssaySandboxSpec) spec = assay_worker_spec_new (error);
  if (!spec || !add_arguments (rung, request, error))
    return NULL;
  request->request = ASSAY_REQUEST_REFERENCE;
  request->real = rung->real;
  request->image_fd = LIBRARY_FD;
  assay_sandbox_spec_pass (spec, rung->library, LIBRARY_FD);
  for (guint i = 0; i < c->plan->inputs->len; i++)
    {
      const AssayPlannedArray *array = g_ptr_array_index (c->plan->inputs, i);
      AssayMemory *memory = g_ptr_array_index (rung->values, i);
      if (memory && !array->scalar)
        add_array (request, spec, array, memory, "in");
    }
  for (guint i = 0; i < c->plan->outputs->len; i++)
    {
      const AssayPlannedArray *array = g_ptr_array_index (c->plan->outputs, i);
      gsize item = is_integer (array) ? sizeof (gint64) : REAL_BYTES[rung->real];
      AssayMemory *memory = assay_memory_new ("reference", component_count (array) * item, error);
      if (!memory)
        return NULL;
      g_ptr_array_add (rung->outputs, memory);
      add_array (request, spec, array, memory, "out");
    }
  assay_sandbox_spec_limits (spec)->wall_seconds = rung->pipeline->seconds;
  return g_steal_pointer (&spec);
}

static gpointer
run_rung (gpointer data)
{
  Rung *rung = data;
  g_autoptr (AssayWorkerRequest) request = assay_worker_request_new ();
  g_autoptr (AssaySandboxSpec) spec = rung_spec (rung, request, &rung->error);
  if (spec)
    rung->reply = assay_worker_call (spec, rung->pipeline->tier, request,
                                     rung->pipeline->cancellable, &rung->error);
  gboolean done = rung->reply && rung->reply->outcome == ASSAY_OUTCOME_DONE;
  for (guint i = 0; i < rung->outputs->len && done; i++)
    done = assay_memory_finish (g_ptr_array_index (rung->outputs, i), &rung->error);
  return GINT_TO_POINTER (done);
}

/* ---- from rungs to reference and gold ---- */

/* What a rung's memory holds, in the words of engine/numerics/gold.h. */
static int
held_real (const Rung *rung, const AssayPlannedArray *planned)
{
  return is_integer (planned) ? 0 : (int) rung->real;
}

static AssayArray *
rounded_reference (const Rung *rung, guint output, gboolean wide, GError **error)
{
  const AssayPlannedArray *planned = g_ptr_array_index (rung->c->plan->outputs, output);
  const void *data = assay_memory_data (g_ptr_array_index (rung->outputs, output), NULL, error);
  AssayDtype dtype = planned->array->dtype;
  if (wide && !is_integer (planned))
    dtype =
        assay_dtype_format (dtype)->components == 2 ? ASSAY_DTYPE_COMPLEX128 : ASSAY_DTYPE_FLOAT64;
  return data ? assay_gold_round (held_real (rung, planned), data, dtype, planned->shape,
                                  planned->ndim, error)
              : NULL;
}

/* FALSE where the memory cannot be read. */
static gboolean
split (const Rung *rung, guint output, double **high, double **low)
{
  const AssayPlannedArray *planned = g_ptr_array_index (rung->c->plan->outputs, output);
  const void *data = assay_memory_data (g_ptr_array_index (rung->outputs, output), NULL, NULL);
  gsize count = component_count (planned);
  *high = g_new (double, MAX (count, 1));
  *low = g_new (double, MAX (count, 1));
  if (data)
    assay_gold_split (held_real (rung, planned), data, count, *high, *low);
  return data != NULL;
}

/* A float64 output is compared with the lower of the last two rungs itself: there, 1024 ulps tell
 * rounding noise from a formula that loses everything. */
static AssayGoldValues *
make_gold (const Rung *best, const Rung *second, guint output)
{
  const AssayPlannedArray *planned = g_ptr_array_index (best->c->plan->outputs, output);
  AssayDtype dtype = planned->array->dtype;
  gboolean wide = assay_dtype_component (dtype) == ASSAY_DTYPE_FLOAT64;
  AssayGoldValues *gold = g_new0 (AssayGoldValues, 1);
  g_autofree double *high = NULL, *low = NULL;
  gold->method =
      g_strdup (best->real == ASSAY_REAL_QUAD ? "reference in float128" : "reference in float64");
  if (!split (best, output, &gold->high, &gold->low) || !second
      || !split (second, output, &high, &low))
    return gold;
  gold->rung_difference_ulp = assay_gold_rung_difference (dtype, high, low, gold->high, gold->low,
                                                          component_count (planned));
  gold->stable = gold->rung_difference_ulp <= (wide ? 1024 : ASSAY_GOLD_STABLE_ULP);
  return gold;
}

static void
rung_clear (Rung *rung)
{
  g_ptr_array_unref (rung->outputs);
  g_clear_pointer (&rung->reply, assay_worker_reply_free);
  g_clear_error (&rung->error);
}

static gboolean
take_rungs (AssayPipeline *p, AssayCase *c, Rung *rungs, const gboolean *done, char **reason)
{
  AssayReal own = assay_reference_task_rung (p->task);
  Rung *best = done[ASSAY_REAL_QUAD] ? &rungs[ASSAY_REAL_QUAD] : &rungs[ASSAY_REAL_DOUBLE];
  Rung *second =
      done[ASSAY_REAL_QUAD] && done[ASSAY_REAL_DOUBLE] ? &rungs[ASSAY_REAL_DOUBLE] : NULL;
  if (!done[own])
    {
      const char *why = rungs[own].error ? rungs[own].error->message : rungs[own].reply->message;
      *reason = g_strdup_printf ("the reference fails: %s", why);
      assay_pipeline_fail (p, c->workload->name, "reference", rungs[own].reply, why);
      return FALSE;
    }
  for (guint i = 0; i < c->plan->outputs->len; i++)
    {
      g_autoptr (GError) error = NULL;
      AssayArray *reference = rounded_reference (&rungs[own], i, FALSE, &error);
      if (!reference)
        {
          *reason = g_strdup (error->message);
          return FALSE;
        }
      g_ptr_array_add (c->references, reference);
      if (best->real == ASSAY_REAL_QUAD || done[ASSAY_REAL_DOUBLE])
        g_ptr_array_add (c->golds, make_gold (best, second, i));
    }
  return TRUE;
}

gboolean
assay_reference_run (AssayPipeline *p, AssayCase *c, char **reason)
{
  Rung rungs[ASSAY_REAL_QUAD + 1] = {0};
  GThread *threads[ASSAY_REAL_QUAD + 1] = {NULL};
  gboolean done[ASSAY_REAL_QUAD + 1] = {FALSE};
  if (p->reference_reason)
    {
      *reason = g_strdup (p->reference_reason);
      return FALSE;
    }
  for (int real = ASSAY_REAL_FLOAT; real <= ASSAY_REAL_QUAD; real++)
    {
      rungs[real] = (Rung) {.pipeline = p,
                            .c = c,
                            .real = (AssayReal) real,
                            .reference = p->task->reference,
                            .library = p->libraries[real],
                            .values = c->values};
      rungs[real].outputs = g_ptr_array_new_with_free_func ((GDestroyNotify) assay_memory_unref);
      threads[real] = g_thread_new ("rung", run_rung, &rungs[real]);
    }
  for (int real = ASSAY_REAL_FLOAT; real <= ASSAY_REAL_QUAD; real++)
    done[real] = GPOINTER_TO_INT (g_thread_join (threads[real]));
  gboolean taken = take_rungs (p, c, rungs, done, reason);
  for (int real = ASSAY_REAL_FLOAT; real <= ASSAY_REAL_QUAD; real++)
    rung_clear (&rungs[real]);
  return taken;
}

/* One rung alone; its outputs, or NULL. */
static GPtrArray *
run_alone (Rung *rung, gboolean wide)
{
  g_autoptr (GPtrArray) arrays =
      g_ptr_array_new_with_free_func ((GDestroyNotify) assay_array_unref);
  rung->outputs = g_ptr_array_new_with_free_func ((GDestroyNotify) assay_memory_unref);
  gboolean done = rung->library && GPOINTER_TO_INT (run_rung (rung));
  for (guint i = 0; i < rung->c->plan->outputs->len && done; i++)
    {
      AssayArray *array = rounded_reference (rung, i, wide, NULL);
      done = array != NULL;
      if (array)
        g_ptr_array_add (arrays, array);
    }
  rung_clear (rung);
  return done ? g_steal_pointer (&arrays) : NULL;
}

GPtrArray *
assay_reference_run_with (AssayPipeline *p, AssayCase *c, AssayReal real, GPtrArray *values,
                          gboolean wide)
{
  Rung rung = {.pipeline = p,
               .c = c,
               .real = real,
               .reference = p->task->reference,
               .library = p->libraries[real],
               .values = values};
  return run_alone (&rung, wide);
}

GPtrArray *
assay_cross_check_run (AssayPipeline *p, AssayCase *c)
{
  Rung rung = {.pipeline = p,
               .c = c,
               .real = ASSAY_REAL_DOUBLE,
               .reference = p->task->cross_check,
               .library = p->cross_libraries[ASSAY_REAL_DOUBLE],
               .values = c->values};
  return rung.reference ? run_alone (&rung, FALSE) : NULL;
}
