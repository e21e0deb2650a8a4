/* SPDX-License-Identifier: Apache-2.0 */
/* One launch of a candidate in a worker of its own. */
#include "engine/run/pipeline.h"

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/device/installation.h"
#include "engine/findings/failure.h"
#include "engine/run/devices.h"

#include <string.h>

#define PTX_FD 10
#define LIBRARY_FD 11
#define FIRST_ARRAY_FD 12
#define DRIVER "/assay/driver"
#define GUARD_BYTES 4096 /* before and after an output, on devices without a bounds check */

/* Unlikely as a value in any format: NaN in float32 and float64, in pairs of half-precision NaN. */
static const guint8 POISON[4] = {0xa5, 0xff, 0xa5, 0xff};

typedef struct
{
  AssayPipeline *p;
  AssayCase *c;
  const AssayLaunchOptions *options;
  AssaySandboxSpec *spec;
  AssayWorkerRequest *request;
  GPtrArray *outputs; /* AssayMemory *, by output */
  gint64 guard;
} Attempt;

static gboolean
is_virtual (const AssayPipeline *p)
{
  return g_str_equal (p->device->kind, "virtual");
}

static void
add_setting (AssayWorkerRequest *request, const char *key, const char *value)
{
  AssayWorkerSetting *setting = assay_worker_setting_new ();
  setting->key = g_strdup (key);
  setting->value = g_strdup (value);
  g_ptr_array_add (request->settings, setting);
}

static void
add_array (Attempt *attempt, const char *name, AssayMemory *memory, const char *role, gint64 offset,
           gsize bytes)
{
  AssayWorkerArray *array = assay_worker_array_new ();
  array->name = g_strdup (name);
  array->fd = FIRST_ARRAY_FD + attempt->request->arrays->len;
  array->offset = offset;
  array->bytes = (gint64) bytes;
  array->role = g_strdup (role);
  assay_sandbox_spec_pass (attempt->spec, memory, (int) array->fd);
  g_ptr_array_add (attempt->request->arrays, array);
}

/* A writable array: poison all over, then what shall stand in it at the start. */
static AssayMemory *
writable_memory (const Attempt *attempt, gsize bytes, AssayMemory *initial, GError **error)
{
  gsize total = bytes + 2 * (gsize) attempt->guard, size = 0;
  AssayMemory *memory = assay_memory_new ("output", total, error);
  if (!memory || !assay_memory_fill (memory, 0, total, POISON, sizeof POISON, error))
    return NULL;
  const void *data = initial ? assay_memory_data (initial, &size, error) : NULL;
  if (data && !assay_memory_write (memory, (gsize) attempt->guard, data, MIN (size, bytes), error))
    return NULL;
  return memory;
}

/* The output that lives in an input's memory, or NULL. */
static const AssayPlannedArray *
output_over (const AssayPlan *plan, const char *input)
{
  for (guint i = 0; i < plan->outputs->len; i++)
    {
      const AssayPlannedArray *output = g_ptr_array_index (plan->outputs, i);
      if (g_strcmp0 (output->array->alias, input) == 0)
        return output;
    }
  return NULL;
}

static gboolean
add_inputs (Attempt *attempt, GError **error)
{
  const AssayPlan *plan = attempt->c->plan;
  for (guint i = 0; i < plan->inputs->len; i++)
    {
      const AssayPlannedArray *planned = g_ptr_array_index (plan->inputs, i);
      const char *name = planned->array->name;
      AssayMemory *memory = g_ptr_array_index (attempt->c->memories, i);
      if (planned->scalar || output_over (plan, name))
        continue;
      if (memory && planned->array->role == ASSAY_ROLE_IN)
        {
          add_array (attempt, name, memory, "in", 0, assay_memory_size (memory));
          continue;
        }
      gsize bytes = memory ? assay_memory_size (memory) : planned->bytes;
      g_autoptr (AssayMemory) own = writable_memory (attempt, bytes, memory, error);
      if (!own)
        return FALSE;
      add_array (attempt, name, own, memory ? "inout" : "out", attempt->guard, bytes);
    }
  return TRUE;
}

static gboolean
add_outputs (Attempt *attempt, GError **error)
{
  const AssayPlan *plan = attempt->c->plan;
  for (guint i = 0; i < plan->outputs->len; i++)
    {
      const AssayPlannedArray *planned = g_ptr_array_index (plan->outputs, i);
      AssayMemory *initial = NULL;
      for (guint k = 0; planned->array->alias && k < plan->inputs->len; k++)
        {
          const AssayPlannedArray *input = g_ptr_array_index (plan->inputs, k);
          if (g_str_equal (input->array->name, planned->array->alias))
            initial = g_ptr_array_index (attempt->c->memories, k);
        }
      AssayMemory *memory = writable_memory (attempt, planned->bytes, initial, error);
      if (!memory)
        return FALSE;
      g_ptr_array_add (attempt->outputs, memory);
      add_array (attempt, planned->array->name, memory, initial ? "inout" : "out", attempt->guard,
                 planned->bytes);
    }
  return TRUE;
}

static const char *
array_argument (const AssayPlan *plan, const AssayArgument *argument)
{
  const AssayPlannedArray *planned = g_ptr_array_index (
      argument->kind == ASSAY_ARGUMENT_OUTPUT ? plan->outputs : plan->inputs, argument->index);
  const AssayPlannedArray *over = output_over (plan, planned->array->name);
  return over && argument->kind == ASSAY_ARGUMENT_INPUT ? over->array->name : planned->array->name;
}

static gint64
stride_argument (const AssayCase *c, const AssayArgument *argument)
{
  const AssayInput *input =
      argument->of_output ? NULL : g_ptr_array_index (c->inputs, argument->index);
  return input ? input->strides[argument->dimension] : argument->value;
}

static gboolean
add_arguments (Attempt *attempt, GError **error)
{
  const AssayEntry *entry = &attempt->p->candidate->entry;
  for (guint i = 0; entry->arguments && entry->arguments[i]; i++)
    {
      AssayArgument argument;
      if (!assay_plan_argument (attempt->c->plan, entry->arguments[i], &argument, error))
        return FALSE;
      AssayWorkerArgument *wanted = assay_worker_argument_new ();
      g_ptr_array_add (attempt->request->arguments, wanted);
      if (argument.kind == ASSAY_ARGUMENT_AXIS)
        wanted->integer = argument.value;
      else if (argument.kind == ASSAY_ARGUMENT_STRIDE)
        wanted->integer = stride_argument (attempt->c, &argument);
      else if (argument.kind == ASSAY_ARGUMENT_SCALAR)
        {
          const AssayInput *input = g_ptr_array_index (attempt->c->inputs, argument.index);
          wanted->real = assay_array_get (input->values, 0);
          wanted->integer = (gint64) wanted->real;
          wanted->is_real = assay_dtype_is_float (input->values->dtype);
          wanted->single = input->values->dtype != ASSAY_DTYPE_FLOAT64;
        }
      else
        wanted->array = g_strdup (array_argument (attempt->c->plan, &argument));
    }
  return TRUE;
}

static gboolean
add_launch (Attempt *attempt, GError **error)
{
  AssayLaunchShape shape;
  if (assay_candidate_is_host (attempt->p->candidate))
    {
      attempt->request->host = TRUE;
      attempt->request->library_fd = LIBRARY_FD;
      assay_sandbox_spec_pass (attempt->spec, attempt->p->host, LIBRARY_FD);
      return TRUE;
    }
  if (!assay_plan_launch (attempt->c->plan, &attempt->p->candidate->entry, &shape, error))
    return FALSE;
  g_array_append_vals (attempt->request->grid, shape.grid, 3);
  g_array_append_vals (attempt->request->block, shape.block, 3);
  attempt->request->shared = shape.shared;
  return TRUE;
}

static gboolean
add_driver (Attempt *attempt, GError **error)
{
  AssayPipeline *p = attempt->p;
  if (!is_virtual (p))
    {
      assay_sandbox_spec_allow_gpu (attempt->spec);
      attempt->request->driver = assay_driver_show (attempt->spec, p->tier);
      attempt->request->device = g_ascii_strtoll (p->device->id + strlen ("cuda:"), NULL, 10);
      return TRUE;
    }
  g_autofree char *driver = assay_libexec_path ("driver/libcuda.so.1", error);
  if (!driver)
    return FALSE;
  g_autofree char *seed = g_strdup_printf ("%" G_GUINT64_FORMAT, attempt->options->seed);
  assay_sandbox_spec_show (attempt->spec, driver, DRIVER "/libcuda.so.1");
  attempt->request->driver =
      g_strdup (assay_sandbox_spec_path (attempt->spec, p->tier, DRIVER "/libcuda.so.1"));
  add_setting (attempt->request, "target", p->target);
  add_setting (attempt->request, "checks", attempt->options->checks);
  add_setting (attempt->request, "seed", seed);
  return TRUE;
}

static gboolean
prepare (Attempt *attempt, GError **error)
{
  AssayPipeline *p = attempt->p;
  attempt->spec = assay_worker_spec_new (error);
  if (!attempt->spec)
    return FALSE;
  attempt->guard = is_virtual (p) ? 0 : GUARD_BYTES;
  attempt->request->request = ASSAY_REQUEST_RUN;
  attempt->request->image_fd = PTX_FD;
  attempt->request->symbol = g_strdup (p->entry);
  attempt->request->seconds = MAX (p->seconds - 1, p->seconds / 2);
  assay_sandbox_spec_limits (attempt->spec)->wall_seconds = p->seconds;
  assay_sandbox_spec_pass (attempt->spec, p->ptx, PTX_FD);
  return add_driver (attempt, error) && add_inputs (attempt, error) && add_outputs (attempt, error)
         && add_arguments (attempt, error) && add_launch (attempt, error);
}

/* ---- what comes back ---- */

static void
add_report (AssayPipeline *p, AssayCase *c, const char *rule, const char *array,
            const char *message)
{
  JsonObject *report = json_object_new ();
  JsonObject *allocation = json_object_new ();
  g_autoptr (JsonNode) node = json_node_new (JSON_NODE_OBJECT);
  json_object_set_string_member (report, "type", "report");
  json_object_set_string_member (report, "rule", rule);
  json_object_set_string_member (report, "message", message);
  json_object_set_string_member (report, "kernel", p->candidate->entry.symbol);
  json_object_set_string_member (allocation, "name", array);
  json_object_set_object_member (report, "allocation", allocation);
  json_node_take_object (node, report);
  g_ptr_array_add (p->facts.reports, assay_report_new (c->workload->name, g_steal_pointer (&node)));
}

/* Compilers name files by where they lay in the sandbox; a report shall name them as the task does. */
static void
rename_file (const AssayPipeline *p, JsonObject *report, const char *key)
{
  const char *path = assay_json_string (report, key);
  for (guint i = 0; path && p->candidate->sources && p->candidate->sources[i]; i++)
    {
      g_autofree char *ending = g_strconcat ("/", p->candidate->sources[i], NULL);
      if (g_str_has_suffix (path, ending))
        {
          json_object_set_string_member (report, key, p->candidate->sources[i]);
          return;
        }
    }
}

static void
rename_files (const AssayPipeline *p, JsonObject *report)
{
  JsonObject *other = assay_json_object (report, "other");
  JsonArray *lines = assay_json_array (report, "lines");
  rename_file (p, report, "file");
  rename_file (p, report, "inner_file");
  if (other)
    rename_file (p, other, "file");
  for (guint i = 0; lines && i < json_array_get_length (lines); i++)
    if (JSON_NODE_HOLDS_OBJECT (json_array_get_element (lines, i)))
      rename_file (p, json_array_get_object_element (lines, i), "file");
}

static void
add_extents (GArray *out, JsonObject *object, const char *key)
{
  JsonArray *array = assay_json_array (object, key);
  for (guint i = 0; array && i < MIN (json_array_get_length (array), 3); i++)
    {
      gint64 value = json_node_get_int (json_array_get_element (array, i));
      g_array_append_val (out, value);
    }
}

/* The virtual GPU's record of a launch, or what the worker said before it. */
static void
add_launch_record (Attempt *attempt, JsonObject *told, gint64 registers, gboolean counted)
{
  AssayLaunch *launch = assay_json_table_new (&ASSAY_LAUNCH_TABLE);
  const char *kernel = assay_json_string (told, "kernel");
  launch->kernel = g_strdup (kernel ? kernel : attempt->request->symbol);
  add_extents (launch->grid, told, "grid");
  add_extents (launch->block, told, "block");
  launch->shared = assay_json_int (told, "shared", attempt->request->shared);
  launch->registers = registers;
  if (counted)
    {
      launch->counters = json_node_new (JSON_NODE_OBJECT);
      json_node_set_object (launch->counters, told);
    }
  g_ptr_array_add (attempt->c->record->launches, launch);
}

static void
take_launches (Attempt *attempt, const AssayWorkerReply *reply)
{
  const AssayCompile *compile =
      attempt->p->run->compile->len > 0 ? g_ptr_array_index (attempt->p->run->compile, 0) : NULL;
  gint64 registers = compile ? compile->registers : -1;
  guint counted = 0;
  for (guint i = 0; i < reply->findings->len; i++)
    {
      JsonObject *record = g_ptr_array_index (reply->findings, i);
      if (g_strcmp0 (assay_json_string (record, "type"), "launch") != 0)
        continue;
      add_launch_record (attempt, record, registers, TRUE);
      counted++;
    }
  for (guint i = counted; i < reply->launches->len; i++)
    {
      JsonObject *told = g_ptr_array_index (reply->launches, i);
      gint64 own = assay_json_int (told, "registers", -1);
      add_launch_record (attempt, told, own > 0 ? own : registers, FALSE);
    }
}

static void
take_reports (Attempt *attempt, const AssayWorkerReply *reply)
{
  AssayPipeline *p = attempt->p;
  for (guint i = 0; i < reply->findings->len; i++)
    {
      JsonObject *record = g_ptr_array_index (reply->findings, i);
      const char *type = assay_json_string (record, "type");
      g_autoptr (JsonNode) node = json_node_new (JSON_NODE_OBJECT);
      rename_files (p, record);
      json_node_set_object (node, record);
      if (g_strcmp0 (type, "launch") != 0 || attempt->options->keep_launches)
        g_ptr_array_add (p->facts.reports,
                         assay_report_new (attempt->c->workload->name, g_steal_pointer (&node)));
    }
  if (attempt->options->keep_launches)
    take_launches (attempt, reply);
}

/* Bytes that the printer of the virtual GPU and the captures of stdout and stderr let go. */
static guint64
not_kept (const Attempt *attempt, const AssayWorkerReply *reply)
{
  guint64 kept = assay_sandbox_spec_limits (attempt->spec)->log_bytes, bytes = 0;
  for (guint i = 0; i < reply->findings->len; i++)
    {
      JsonObject *record = g_ptr_array_index (reply->findings, i);
      if (g_strcmp0 (assay_json_string (record, "type"), "dropped") == 0)
        bytes += (guint64) MAX (assay_json_int (record, "bytes", 0), 0);
    }
  bytes += reply->end->out_bytes > kept ? reply->end->out_bytes - kept : 0;
  return bytes + (reply->end->err_bytes > kept ? reply->end->err_bytes - kept : 0);
}

/* Device printf and what the worker itself wrote. */
static void
write_log (Attempt *attempt, const AssayWorkerReply *reply)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < reply->findings->len; i++)
    {
      JsonObject *record = g_ptr_array_index (reply->findings, i);
      const char *printed = assay_json_string (record, "text");
      if (g_strcmp0 (assay_json_string (record, "type"), "print") == 0 && printed)
        g_string_append (text, printed);
    }
  g_string_append (text, reply->end->out);
  g_string_append (text, reply->end->err);
  if (attempt->options->keep_launches)
    attempt->c->record->dropped = not_kept (attempt, reply);
  if (text->len == 0)
    return;
  g_autofree char *name = g_strdup_printf (
      "%s-%s.log", attempt->options->keep_launches ? "run" : "check", attempt->c->workload->name);
  g_free (assay_pipeline_write (attempt->p, "logs", name, text->str, (gssize) text->len));
  if (attempt->options->keep_launches)
    assay_pipeline_log (attempt->p, text->str);
}

static gboolean
is_poison (const guint8 *data, gsize bytes, gsize phase)
{
  for (gsize i = 0; i < bytes; i++)
    if (data[i] != POISON[(phase + i) % sizeof POISON])
      return FALSE;
  return TRUE;
}

/* Elements that nothing was stored to. Where the pattern is a value that a kernel may well store (a
 * narrow integer), all of them or none. */
static guint64
count_unwritten (const AssayPlannedArray *planned, const guint8 *data, gsize phase)
{
  gsize size = planned->count > 0 ? planned->bytes / planned->count : 0;
  gboolean telling = size >= 4 || (size == 2 && assay_dtype_is_float (planned->array->dtype));
  guint64 count = 0;
  if (planned->bytes == 0 || planned->array->alias)
    return 0;
  if (!telling)
    return is_poison (data, planned->bytes, phase) ? planned->count : 0;
  for (gsize i = 0; i < planned->count; i++)
    count += is_poison (data + i * size, size, phase + i * size);
  return count;
}

static void
report_unwritten (Attempt *attempt, const AssayPlannedArray *planned, guint64 count)
{
  const char *name = planned->array->name;
  g_autofree char *text =
      count == planned->count
          ? g_strdup_printf ("output %s was never written: all its %" G_GSIZE_FORMAT
                             " elements still hold the fill pattern",
                             name, planned->count)
          : g_strdup_printf ("%" G_GUINT64_FORMAT " of the %" G_GSIZE_FORMAT
                             " elements of output %s were never written: they still hold the "
                             "fill pattern",
                             count, planned->count, name);
  add_report (attempt->p, attempt->c, "mem.uninitialised", name, text);
}

static void
inspect_output (Attempt *attempt, const AssayPlannedArray *planned, const guint8 *all)
{
  gsize guard = (gsize) attempt->guard, bytes = planned->bytes;
  const char *name = planned->array->name;
  guint64 unwritten = count_unwritten (planned, all + guard, guard);
  if (!is_poison (all, guard, 0) || !is_poison (all + guard + bytes, guard, guard + bytes))
    {
      g_autofree char *text = g_strdup_printf (
          "memory next to output %s was overwritten: the kernel writes outside of it", name);
      add_report (attempt->p, attempt->c, "mem.guard-overwritten", name, text);
    }
  if (unwritten > 0)
    report_unwritten (attempt, planned, unwritten);
  if (attempt->options->keep_launches)
    g_array_append_val (attempt->c->never_written, unwritten);
}

static GPtrArray *
read_outputs (Attempt *attempt, GError **error)
{
  const AssayPlan *plan = attempt->c->plan;
  g_autoptr (GPtrArray) results =
      g_ptr_array_new_with_free_func ((GDestroyNotify) assay_array_unref);
  for (guint i = 0; i < plan->outputs->len; i++)
    {
      const AssayPlannedArray *planned = g_ptr_array_index (plan->outputs, i);
      AssayMemory *memory = g_ptr_array_index (attempt->outputs, i);
      const guint8 *all = NULL;
      if (assay_memory_finish (memory, error))
        all = assay_memory_data (memory, NULL, error);
      if (!all)
        return NULL;
      inspect_output (attempt, planned, all);
      g_autoptr (GBytes) bytes = g_bytes_new_with_free_func (all + attempt->guard, planned->bytes,
                                                             (GDestroyNotify) assay_memory_unref,
                                                             assay_memory_ref (memory));
      AssayArray *array = assay_array_new_from_bytes (planned->array->dtype, planned->shape,
                                                      planned->ndim, bytes, error);
      if (!array)
        return NULL;
      g_ptr_array_add (results, array);
    }
  return g_steal_pointer (&results);
}

static void
attempt_clear (Attempt *attempt)
{
  g_clear_pointer (&attempt->spec, assay_sandbox_spec_free);
  assay_worker_request_free (attempt->request);
  g_ptr_array_unref (attempt->outputs);
}

/* What is not the candidate's doing says nothing about it. */
static AssayWorkloadStatus
status_of (const AssayFailure *failure)
{
  const AssayFailureClass *is = assay_failure_classify (failure);
  if (is->blame != ASSAY_BLAME_CANDIDATE)
    return ASSAY_WORKLOAD_INCONCLUSIVE;
  return g_str_equal (is->failure_class, "TIMEOUT") ? ASSAY_WORKLOAD_TIMEOUT
                                                    : ASSAY_WORKLOAD_RUNTIME_ERROR;
}

gboolean
assay_candidate_fits (const AssayPipeline *p, const AssayCase *c, GError **error)
{
  const AssayDevice *device = p->device;
  guint64 room = device->gpu ? device->gpu->memory_free_bytes : device->memory_bytes, needed = 0;
  if (is_virtual (p) || room == 0)
    return TRUE;
  for (guint i = 0; i < c->plan->inputs->len; i++)
    needed += ((AssayPlannedArray *) g_ptr_array_index (c->plan->inputs, i))->bytes;
  for (guint i = 0; i < c->plan->outputs->len; i++)
    needed +=
        ((AssayPlannedArray *) g_ptr_array_index (c->plan->outputs, i))->bytes + 2 * GUARD_BYTES;
  if (needed <= room)
    return TRUE;
  g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_LIMIT,
               "the arrays of workload %s need %.1f GiB, %s has %.1f GiB%s", c->workload->name,
               (double) needed / (1 << 30), device->id, (double) room / (1 << 30),
               device->gpu ? " free" : "");
  return FALSE;
}

/* A real device that a run took with it is no device for the next one, and that it is gone is no
 * judgement about numbers. */
static void
check_device (const Attempt *attempt, AssayFailure *failure, char **reason)
{
  g_autofree char *gone = is_virtual (attempt->p) || assay_pipeline_cancelled (attempt->p)
                              ? NULL
                              : assay_device_check_after (attempt->p->device, failure->message);
  if (!gone)
    return;
  g_autofree char *said = g_steal_pointer (&failure->message);
  failure->message = g_strdup_printf ("%s. %s is %s", said, attempt->p->device->id, gone);
  g_free (*reason);
  *reason = g_strdup (failure->message);
}

/* What the virtual GPU said about the fault that ended the launch: its own words, and where. */
static void
add_fault (AssayFailure *failure, const AssayWorkerReply *reply, char **reason)
{
  for (guint i = 0; i < reply->findings->len; i++)
    {
      JsonObject *record = g_ptr_array_index (reply->findings, i);
      const char *message = assay_json_string (record, "message");
      const char *file = assay_json_string (record, "file");
      gint64 line = assay_json_int (record, "line", 0);
      if (g_strcmp0 (assay_json_string (record, "type"), "fault") != 0 || !message)
        continue;
      g_free (failure->message);
      failure->message = file && !strstr (message, file)
                             ? g_strdup_printf ("%s, at %s:%" G_GINT64_FORMAT, message, file, line)
                             : g_strdup (message);
      failure->file = g_strdup (file);
      failure->line = line;
      g_free (*reason);
      *reason = g_strdup (failure->message);
      return;
    }
}

GPtrArray *
assay_candidate_run (AssayPipeline *p, AssayCase *c, const AssayLaunchOptions *options,
                     AssayWorkloadStatus *status, char **reason)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayWorkerReply) reply = NULL;
  GPtrArray *results = NULL;
  Attempt attempt = {.p = p, .c = c, .options = options};
  attempt.request = assay_worker_request_new ();
  attempt.outputs = g_ptr_array_new_with_free_func ((GDestroyNotify) assay_memory_unref);
  *status = ASSAY_WORKLOAD_INCONCLUSIVE;
  if (prepare (&attempt, &error))
    reply = assay_worker_call (attempt.spec, p->tier, attempt.request, p->cancellable, &error);
  if (reply)
    {
      take_reports (&attempt, reply);
      write_log (&attempt, reply);
      if (options->keep_launches)
        c->record->seconds = reply->end->seconds;
    }
  if (reply && reply->outcome == ASSAY_OUTCOME_DONE)
    results = read_outputs (&attempt, &error);
  if (results)
    *status = ASSAY_WORKLOAD_PASSED;
  else if (reply && !error)
    {
      AssayFailure *failure =
          assay_pipeline_fail (p, c->workload->name, "candidate", reply, reply->message);
      *reason = g_strdup (reply->message);
      add_fault (failure, reply, reason);
      check_device (&attempt, failure, reason);
      *status = status_of (failure);
    }
  else
    {
      *reason = g_strdup (error->message);
      if (!g_error_matches (error, ASSAY_ERROR, ASSAY_ERROR_CANCELLED))
        assay_pipeline_fail (p, c->workload->name, "candidate", NULL, error->message);
    }
  attempt_clear (&attempt);
  return results;
}

/* ---- for timing ---- */

static const AssayLaunchOptions PLAIN = {.checks = "none"};

gboolean
assay_candidate_prepare (AssayPipeline *p, AssayCase *c, AssayPreparedLaunch *launch,
                         GError **error)
{
  Attempt attempt = {.p = p, .c = c, .options = &PLAIN};
  attempt.request = assay_worker_request_new ();
  attempt.outputs = g_ptr_array_new_with_free_func ((GDestroyNotify) assay_memory_unref);
  gboolean made = prepare (&attempt, error);
  *launch = (AssayPreparedLaunch) {attempt.spec, attempt.request, attempt.outputs};
  return made;
}

gboolean
assay_candidate_same_results (AssayPipeline *p, AssayCase *c, const AssayPreparedLaunch *launch,
                              GError **error)
{
  Attempt attempt = {.p = p, .c = c, .options = &PLAIN, .outputs = launch->outputs};
  attempt.guard = is_virtual (p) ? 0 : GUARD_BYTES;
  g_autoptr (GPtrArray) results = read_outputs (&attempt, error);
  gboolean same = results && results->len == c->results->len;
  for (guint i = 0; same && i < results->len; i++)
    {
      const AssayArray *now = g_ptr_array_index (results, i);
      const AssayArray *checked = g_ptr_array_index (c->results, i);
      same = now->bytes == checked->bytes && memcmp (now->data, checked->data, now->bytes) == 0;
    }
  return same;
}

void
assay_prepared_launch_clear (AssayPreparedLaunch *launch)
{
  g_clear_pointer (&launch->spec, assay_sandbox_spec_free);
  g_clear_pointer (&launch->request, assay_worker_request_free);
  g_clear_pointer (&launch->outputs, g_ptr_array_unref);
}
