/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/checker.h"

#include "check-answers-text.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/sandbox/process.h"

#include <math.h>
#include <string.h>

#define ANSWERS_FD 4
#define VERDICTS_FD 5
#define TASK_INSIDE "/task"
#define MOST_BYTES ((gsize) 256 * 1024 * 1024)

typedef struct
{
  AssayProbeKind kind;
  char *name, *family;
  guint output;
  gboolean missing;
  AssayArray *array; /* NULL when missing */
} Answer;

struct _AssayCorruptions
{
  AssayPipeline *p;
  const AssayCase *smallest;
  guint output; /* what answers are added for */
  GPtrArray *answers;
  gsize bytes;
};

static void
answer_free (gpointer data)
{
  Answer *answer = data;
  g_free (answer->name);
  g_free (answer->family);
  g_clear_pointer (&answer->array, assay_array_unref);
  g_free (answer);
}

static gsize
bytes_of (const AssayCase *c)
{
  gsize bytes = 0;
  for (guint i = 0; i < c->references->len; i++)
    bytes += ((AssayArray *) g_ptr_array_index (c->references, i))->bytes;
  return bytes;
}

AssayCorruptions *
assay_corruptions_new (AssayPipeline *p)
{
  if (!p->task->checker || !JSON_NODE_HOLDS_OBJECT (p->task->checker))
    return NULL;
  AssayCorruptions *self = g_new0 (AssayCorruptions, 1);
  self->p = p;
  self->answers = g_ptr_array_new_with_free_func (answer_free);
  for (guint i = 0; i < p->cases->len; i++)
    {
      const AssayCase *c = g_ptr_array_index (p->cases, i);
      if (c->references->len && (!self->smallest || bytes_of (c) < bytes_of (self->smallest)))
        self->smallest = c;
    }
  return self;
}

void
assay_corruptions_free (AssayCorruptions *self)
{
  g_ptr_array_unref (self->answers);
  g_free (self);
}

/* NumPy has no names for narrower types: they go as float32, exactly. */
static AssayArray *
for_python (const AssayArray *array)
{
  const AssayFormat *format = assay_dtype_format (array->dtype);
  gboolean narrow = assay_dtype_is_float (array->dtype) && array->dtype != ASSAY_DTYPE_FLOAT16
                    && format->bits < 64 && array->dtype != ASSAY_DTYPE_FLOAT32;
  return narrow ? assay_array_convert (array, ASSAY_DTYPE_FLOAT32, NULL)
                : assay_array_copy (array, NULL);
}

static Answer *
add (AssayCorruptions *self, AssayProbeKind kind, const char *name, const char *family)
{
  Answer *answer = g_new0 (Answer, 1);
  answer->kind = kind;
  answer->name = g_strdup (name);
  answer->family = g_strdup (family);
  answer->output = self->output;
  g_ptr_array_add (self->answers, answer);
  return answer;
}

static void
add_array (AssayCorruptions *self, AssayProbeKind kind, const char *name, const char *family,
           const AssayArray *array)
{
  if (!array || self->bytes + array->bytes > MOST_BYTES)
    return;
  Answer *answer = add (self, kind, name, family);
  answer->array = for_python (array);
  self->bytes += answer->array ? answer->array->bytes : 0;
}

/* One element that is no number, and all of them; another shape that broadcasts to the right one; another
 * type; no output at all. */
static void
add_forms (AssayCorruptions *self, const AssayArray *reference)
{
  g_autoptr (AssayArray) one = assay_array_copy (reference, NULL);
  g_autoptr (AssayArray) all = assay_array_copy (reference, NULL);
  gint64 shape[ASSAY_ARRAY_MAX_DIMS];
  for (guint d = 0; d < reference->ndim; d++)
    shape[d] = 1;
  g_autoptr (AssayArray) single = assay_array_new (reference->dtype, shape, reference->ndim, NULL);
  add (self, ASSAY_PROBE_TRIVIAL, "no output at all", "form")->missing = TRUE;
  if (!one || !all || !single || !reference->count)
    return;
  if (assay_dtype_format (reference->dtype)->has_nan)
    {
      assay_array_set (one, assay_array_components (one) - 1, NAN);
      for (gsize i = 0; i < assay_array_components (all); i++)
        assay_array_set (all, i, NAN);
      add_array (self, ASSAY_PROBE_MUTANT, "one element is NaN", "nan", one);
      add_array (self, ASSAY_PROBE_TRIVIAL, "every element is NaN", "nan", all);
    }
  if (reference->count > 1)
    {
      assay_array_set (single, 0, assay_array_get (reference, 0));
      add_array (self, ASSAY_PROBE_TRIVIAL, "one element, broadcast", "form", single);
    }
  AssayDtype other =
      assay_dtype_is_float (reference->dtype) ? ASSAY_DTYPE_FLOAT64 : ASSAY_DTYPE_FLOAT32;
  g_autoptr (AssayArray) wide = reference->dtype == other || reference->dtype == ASSAY_DTYPE_BOOL
                                    ? NULL
                                    : assay_array_convert (reference, other, NULL);
  add_array (self, ASSAY_PROBE_MUTANT, "the right values in another type", "form", wide);
}

gboolean
assay_corruptions_begin (AssayCorruptions *self, const AssayCase *c, guint index)
{
  if (c != self->smallest)
    return FALSE;
  const AssayArray *reference = g_ptr_array_index (c->references, index);
  self->output = index;
  add_array (self, ASSAY_PROBE_HONEST, "the reference itself", "reference", reference);
  add_forms (self, reference);
  return TRUE;
}

void
assay_corruptions_add (AssayProbeKind kind, const char *name, const char *family,
                       const AssayArray *answer, gpointer self)
{
  add_array (self, kind, name, family, answer);
}

/* ---- what the process gets ---- */

static JsonObject *
about (const AssayArray *array)
{
  JsonObject *object = json_object_new ();
  JsonArray *shape = json_array_new ();
  for (guint d = 0; array && d < array->ndim; d++)
    json_array_add_int_element (shape, array->shape[d]);
  json_object_set_string_member (object, "dtype", array ? assay_dtype_name (array->dtype) : "");
  json_object_set_array_member (object, "shape", shape);
  json_object_set_int_member (object, "bytes", array ? (gint64) array->bytes : 0);
  return object;
}

static void
append (GByteArray *bytes, const AssayArray *array)
{
  if (array)
    g_byte_array_append (bytes, array->data, (guint) array->bytes);
}

static AssayMemory *
write_request (const AssayCorruptions *self, const char *folder, JsonObject *checker,
               GError **error)
{
  JsonObject *head = json_object_new ();
  g_autoptr (JsonNode) node = json_node_new (JSON_NODE_OBJECT);
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  JsonArray *outputs = json_array_new (), *answers = json_array_new ();
  for (guint i = 0; i < self->smallest->references->len; i++)
    {
      const AssayPlannedArray *planned = g_ptr_array_index (self->smallest->plan->outputs, i);
      g_autoptr (AssayArray) array = for_python (g_ptr_array_index (self->smallest->references, i));
      JsonObject *object = about (array);
      json_object_set_string_member (object, "name", planned->array->name);
      json_array_add_object_element (outputs, object);
      append (bytes, array);
    }
  for (guint i = 0; i < self->answers->len; i++)
    {
      const Answer *answer = g_ptr_array_index (self->answers, i);
      JsonObject *object = about (answer->array);
      json_object_set_int_member (object, "output", answer->output);
      json_object_set_boolean_member (object, "missing", answer->missing);
      json_array_add_object_element (answers, object);
      append (bytes, answer->array);
    }
  json_object_set_string_member (head, "folder", folder);
  json_object_set_array_member (head, "sources",
                                json_array_ref (json_object_get_array_member (checker, "sources")));
  json_object_set_string_member (head, "entry", json_object_get_string_member (checker, "entry"));
  json_object_set_array_member (head, "outputs", outputs);
  json_object_set_array_member (head, "answers", answers);
  json_node_take_object (node, head);
  /* One line: the writer of canonical JSON breaks lines. */
  g_autofree char *text = json_to_string (node, FALSE);
  g_autoptr (GString) all = g_string_new (text);
  g_string_append_c (all, '\n');
  g_string_append_len (all, (const char *) bytes->data, (gssize) bytes->len);
  return assay_memory_new_from_data ("answers", all->str, all->len, error);
}

static gboolean
ignore_line (G_GNUC_UNUSED const char *line, G_GNUC_UNUSED gsize bytes,
             G_GNUC_UNUSED gpointer user_data)
{
  return TRUE;
}

static AssaySandboxSpec *
make_spec (const AssayCorruptions *self, GError **error)
{
  g_autofree char *python = g_file_test ("/usr/bin/python3", G_FILE_TEST_IS_EXECUTABLE)
                                ? g_strdup ("/usr/bin/python3")
                                : NULL;
  static const char *const ARGUMENTS[] = {"-I", "-B", "-c", python_check_answers};
  if (!python)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_NOT_FOUND,
                   "no /usr/bin/python3: install Python to run the task's own checker");
      return NULL;
    }
  AssaySandboxSpec *spec = assay_sandbox_spec_new (python);
  for (gsize i = 0; i < G_N_ELEMENTS (ARGUMENTS); i++)
    assay_sandbox_spec_add_argument (spec, ARGUMENTS[i]);
  assay_sandbox_spec_show (spec, self->p->task->folder, TASK_INSIDE);
  return spec;
}

static AssayMemory *
run (const AssayCorruptions *self, JsonObject *checker, GError **error)
{
  g_autoptr (AssaySandboxSpec) spec = make_spec (self, error);
  if (!spec)
    return NULL;
  const char *folder = assay_sandbox_spec_path (spec, self->p->tier, TASK_INSIDE);
  g_autoptr (AssayMemory) request = write_request (self, folder, checker, error);
  g_autoptr (AssayMemory) verdicts = request ? assay_memory_new_growing ("verdicts", error) : NULL;
  if (!verdicts)
    return NULL;
  assay_sandbox_spec_pass (spec, request, ANSWERS_FD);
  assay_sandbox_spec_pass (spec, verdicts, VERDICTS_FD);
  g_autoptr (AssaySandboxProcess) process =
      assay_sandbox_process_start (spec, self->p->tier, error);
  g_autoptr (AssaySandboxEnd) end =
      process ? assay_sandbox_process_pump (process, ignore_line, NULL, self->p->cancellable, error)
              : NULL;
  if (!end)
    return NULL;
  if (end->kind != ASSAY_END_EXITED || end->code != 0)
    {
      g_autofree char *how = assay_sandbox_end_describe (end);
      const char *last = end->err ? strrchr (g_strchomp (end->err), '\n') : NULL;
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_FAILED, "the task's own checker: %s%s%s", how,
                   end->err && *end->err ? ": " : "",
                   last       ? last + 1
                   : end->err ? end->err
                              : "");
      return NULL;
    }
  return assay_memory_finish (verdicts, error) ? g_steal_pointer (&verdicts) : NULL;
}

/* ---- what came back ---- */

static gboolean
take_verdict (const AssayCorruptions *self, const Answer *answer, const char *line, gsize length,
              AssayAudit *audit)
{
  g_autoptr (JsonNode) node =
      assay_json_parse (line, (gssize) length, &ASSAY_JSON_LIMITS_TASK, "verdict", NULL);
  if (!node || !JSON_NODE_HOLDS_OBJECT (node))
    return FALSE;
  const AssayPlannedArray *planned =
      g_ptr_array_index (self->smallest->plan->outputs, answer->output);
  AssayProbe *probe = assay_probe_new ();
  probe->kind = answer->kind;
  probe->name = g_strdup (answer->name);
  probe->family = g_strdup (answer->family);
  probe->workload = g_strdup (self->smallest->workload->name);
  probe->output = g_strdup (planned->array->name);
  probe->accepted = assay_json_bool (json_node_get_object (node), "accepted", FALSE);
  g_ptr_array_add (audit->checker, probe);
  return TRUE;
}

/* The fields are there, of the kinds that they must have. */
static JsonObject *
find_checker (const AssayTask *task, GError **error)
{
  JsonObject *checker = json_node_get_object (task->checker);
  JsonNode *sources = json_object_get_member (checker, "sources");
  const char *language = assay_json_string (checker, "language");
  if (!language || !g_str_equal (language, "python"))
    g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_UNSUPPORTED,
                 "checker.language: expected \"python\", found %s",
                 language ? language : "nothing");
  else if (!assay_json_string (checker, "entry") || !sources || !JSON_NODE_HOLDS_ARRAY (sources))
    g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
                 "checker: expected sources, a list of files, and entry, a function");
  else
    return checker;
  return NULL;
}

void
assay_corruptions_judge (AssayCorruptions *self, AssayAudit *audit)
{
  g_autoptr (GError) error = NULL;
  JsonObject *checker = find_checker (self->p->task, &error);
  gsize size = 0, at = 0;
  if (!self->smallest)
    return;
  g_autoptr (AssayMemory) verdicts = checker ? run (self, checker, &error) : NULL;
  const char *text = verdicts ? assay_memory_data (verdicts, &size, &error) : NULL;
  for (guint i = 0; text && i < self->answers->len; i++)
    {
      const char *end = at < size ? memchr (text + at, '\n', size - at) : NULL;
      gsize length = end ? (gsize) (end - text) - at : 0;
      if (!end
          || !take_verdict (self, g_ptr_array_index (self->answers, i), text + at, length, audit))
        break;
      at += length + 1;
    }
  if (error)
    audit->checker_reason = g_strdup (error->message);
}
