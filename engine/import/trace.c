/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/import/trace.h"

#include "engine/base/error.h"
#include "engine/import/json-stream.h"

#include <math.h>
#include <string.h>

#define EARLY_ENOUGH 20 /* launches below which early and late are not told apart */

typedef struct
{
  double start, duration;
  gint64 stream, device;
  guint kernel;
} Launch;

typedef struct
{
  AssayTrace *trace;
  GArray *launches;   /* Launch */
  GHashTable *places; /* name → index + 1 */
  void (*progress) (double, gpointer);
  gpointer user_data;
  GInputStream *packed_input;
  guint64 packed;
} Import;

static void
kernel_free (gpointer data)
{
  AssayTraceKernel *self = data;
  g_free (self->name);
  g_free (self);
}

void
assay_trace_free (AssayTrace *self)
{
  g_free (self->path);
  g_ptr_array_unref (self->kernels);
  g_free (self);
}

/* ---- one event ---- */

typedef enum
{
  OTHER,
  KERNEL,
  COPY,
  FILL,
} Kind;

/* From "cat" alone, since most events of a trace are of no interest and parsing costs time. */
static Kind
kind_of (const char *text, gsize length)
{
  static const struct
  {
    const char *category;
    Kind kind;
  } KINDS[] = {{"kernel\"", KERNEL},
               {"gpu_memcpy\"", COPY},
               {"memcpy\"", COPY},
               {"gpu_memset\"", FILL},
               {"memset\"", FILL}};
  const char *end = text + length;
  const char *at = memmem (text, length, "\"cat\"", 5);
  if (!at)
    return OTHER;
  for (at += 5; at < end && (g_ascii_isspace (*at) || *at == ':'); at++)
    ;
  if (at >= end || *at++ != '"')
    return OTHER;
  for (gsize i = 0; i < G_N_ELEMENTS (KINDS); i++)
    {
      gsize n = strlen (KINDS[i].category);
      if ((gsize) (end - at) >= n && g_ascii_strncasecmp (at, KINDS[i].category, n) == 0)
        return KINDS[i].kind;
    }
  return OTHER;
}

/* What is wanted of an event. */
typedef struct
{
  AssayJsonSlice name, phase;
  double time, duration, bytes, stream, device, thread, process, registers, shared, node;
  gint64 grid[3], block[3];
} Event;

static void
read_extent (const AssayJsonSlice *value, gint64 *extent)
{
  const char *at = value->text + 1, *end = value->text + value->length;
  for (int i = 0; i < 3 && value->length > 1 && value->text[0] == '['; i++)
    {
      char *after = NULL;
      gint64 number = at < end ? g_ascii_strtoll (at, &after, 10) : 0;
      if (!after || after == at || after >= end)
        return;
      extent[i] = number;
      at = after;
      while (at < end && (*at == ',' || g_ascii_isspace (*at)))
        at++;
    }
}

static gboolean
read_arguments (Event *event, const AssayJsonSlice *object)
{
  AssayJsonMembers members = assay_json_members (object->text, object->length);
  AssayJsonSlice key, value;
  const struct
  {
    const char *key;
    double *to;
  } numbers[] = {{"stream", &event->stream},
                 {"device", &event->device},
                 {"registers per thread", &event->registers},
                 {"shared memory", &event->shared},
                 {"bytes", &event->bytes},
                 {"graph node id", &event->node}};
  while (assay_json_next_member (&members, &key, &value))
    {
      for (gsize i = 0; i < G_N_ELEMENTS (numbers); i++)
        if (assay_json_slice_is (&key, numbers[i].key))
          *numbers[i].to = assay_json_slice_number (&value);
      if (assay_json_slice_is (&key, "grid"))
        read_extent (&value, event->grid);
      if (assay_json_slice_is (&key, "block"))
        read_extent (&value, event->block);
    }
  return !members.broken;
}

static gboolean
read_event (Event *event, const char *text, gsize length)
{
  AssayJsonMembers members = assay_json_members (text, length);
  AssayJsonSlice key, value;
  const struct
  {
    const char *key;
    double *to;
  } numbers[] = {{"ts", &event->time},
                 {"dur", &event->duration},
                 {"tid", &event->thread},
                 {"pid", &event->process}};
  *event = (Event) {.time = NAN,
                    .duration = NAN,
                    .bytes = NAN,
                    .stream = NAN,
                    .device = NAN,
                    .thread = NAN,
                    .process = NAN,
                    .registers = NAN,
                    .shared = NAN,
                    .node = NAN};
  while (assay_json_next_member (&members, &key, &value))
    {
      for (gsize i = 0; i < G_N_ELEMENTS (numbers); i++)
        if (assay_json_slice_is (&key, numbers[i].key))
          *numbers[i].to = assay_json_slice_number (&value);
      if (assay_json_slice_is (&key, "name"))
        event->name = value;
      if (assay_json_slice_is (&key, "ph"))
        event->phase = value;
      if (assay_json_slice_is (&key, "args") && value.text[0] == '{'
          && !read_arguments (event, &value))
        return FALSE;
    }
  return !members.broken;
}

static gint64
whole (double value, gint64 otherwise)
{
  return isfinite (value) && fabs (value) < 9e15 ? (gint64) value : otherwise;
}

static guint
place_of (Import *self, const Event *event, const char *name, guint64 offset)
{
  guint place = GPOINTER_TO_UINT (g_hash_table_lookup (self->places, name));
  if (place == 0)
    {
      AssayTraceKernel *kernel = g_new0 (AssayTraceKernel, 1);
      kernel->name = g_strdup (name);
      kernel->registers = whole (event->registers, -1);
      kernel->shared_bytes = whole (event->shared, -1);
      kernel->offset = offset;
      memcpy (kernel->grid, event->grid, sizeof event->grid);
      memcpy (kernel->block, event->block, sizeof event->block);
      g_ptr_array_add (self->trace->kernels, kernel);
      place = self->trace->kernels->len;
      g_hash_table_insert (self->places, kernel->name, GUINT_TO_POINTER (place));
    }
  AssayTraceKernel *kernel = g_ptr_array_index (self->trace->kernels, place - 1);
  kernel->varies = kernel->varies || memcmp (kernel->grid, event->grid, sizeof event->grid) != 0
                   || memcmp (kernel->block, event->block, sizeof event->block) != 0;
  return place - 1;
}

static void
add_launch (Import *self, const Event *event, guint64 offset)
{
  g_autofree char *name = assay_json_slice_string (&event->name);
  Launch launch = {
      .start = event->time,
      .duration = event->duration,
      .stream = whole (event->stream, whole (event->thread, 0)),
      .device = whole (event->device, whole (event->process, 0)),
  };
  if (!name || !isfinite (launch.start) || !isfinite (launch.duration) || launch.duration < 0)
    {
      self->trace->refused++;
      return;
    }
  launch.kernel = place_of (self, event, name, offset);
  self->trace->in_graphs += whole (event->node, 0) > 0 ? 1 : 0;
  g_array_append_val (self->launches, launch);
}

static gboolean
add_event (const char *text, gsize length, guint64 offset, gpointer user_data, GError **error)
{
  Import *self = user_data;
  Kind kind = kind_of (text, length);
  Event event;
  if (kind == OTHER)
    return TRUE;
  if (!read_event (&event, text, length))
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
                   "the event at byte %" G_GUINT64_FORMAT " is no JSON object", offset);
      return FALSE;
    }
  if (event.phase.text && !assay_json_slice_is (&event.phase, "\"X\""))
    return TRUE; /* flows and marks */
  double bytes = isfinite (event.bytes) ? event.bytes : 0;
  if (kind == KERNEL)
    add_launch (self, &event, offset);
  else if (kind == COPY)
    {
      self->trace->copies++;
      self->trace->copied += bytes;
    }
  else
    {
      self->trace->fills++;
      self->trace->largest_fill = MAX (self->trace->largest_fill, bytes);
    }
  return TRUE;
}

/* ---- what the launches say together ---- */

static int
by_start (gconstpointer a, gconstpointer b)
{
  const Launch *x = a, *y = b;
  return x->start < y->start ? -1 : x->start > y->start;
}

static int
by_value (gconstpointer a, gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return x < y ? -1 : x > y;
}

static double
median (const double *values, gsize n)
{
  if (n == 0)
    return NAN;
  g_autofree double *sorted = g_memdup2 (values, n * sizeof *values);
  qsort (sorted, n, sizeof *sorted, by_value);
  return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

/* What is gathered of one kernel, or of all, in the order of time. */
typedef struct
{
  GArray *durations; /* double */
  GHashTable *streams, *devices;
} Tally;

static Tally *
tally_new (void)
{
  Tally *self = g_new0 (Tally, 1);
  self->durations = g_array_new (FALSE, FALSE, sizeof (double));
  self->streams = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  self->devices = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  return self;
}

static void
tally_free (gpointer data)
{
  Tally *self = data;
  g_array_unref (self->durations);
  g_hash_table_unref (self->streams);
  g_hash_table_unref (self->devices);
  g_free (self);
}

static void
add_once (GHashTable *set, gint64 value)
{
  if (!g_hash_table_contains (set, &value))
    g_hash_table_add (set, g_memdup2 (&value, sizeof value));
}

static void
tally_add (Tally *self, const Launch *launch)
{
  g_array_append_val (self->durations, launch->duration);
  add_once (self->streams, launch->stream);
  add_once (self->devices, launch->device);
}

static void
measure_kernel (AssayTraceKernel *kernel, const Tally *tally)
{
  const double *values = (const double *) tally->durations->data;
  gsize n = kernel->count = tally->durations->len;
  gboolean enough = n >= EARLY_ENOUGH;
  kernel->first = n > 0 ? values[0] : NAN;
  kernel->least = n > 0 ? values[0] : NAN;
  for (gsize i = 0; i < n; i++)
    {
      kernel->total += values[i];
      kernel->least = MIN (kernel->least, values[i]);
      kernel->most = MAX (kernel->most, values[i]);
    }
  kernel->median = median (values, n);
  kernel->early = enough ? median (values, n / 5) : NAN;
  kernel->late = enough ? median (values + n - n / 2, n / 2) : NAN;
  kernel->streams = g_hash_table_size (tally->streams);
  kernel->devices = g_hash_table_size (tally->devices);
}

/* From launches in the order of their start. */
static void
measure_span (AssayTrace *trace, const GArray *launches)
{
  double end = -INFINITY;
  for (guint i = 0; i < launches->len; i++)
    {
      const Launch *launch = &g_array_index (launches, Launch, i);
      double until = launch->start + launch->duration;
      trace->busy += MAX (0, until - MAX (launch->start, end));
      end = MAX (end, until);
    }
  if (launches->len > 0)
    trace->span = end - g_array_index (launches, Launch, 0).start;
}

static int
by_total (gconstpointer a, gconstpointer b)
{
  const AssayTraceKernel *x = *(AssayTraceKernel *const *) a, *y = *(AssayTraceKernel *const *) b;
  return x->total != y->total ? (x->total > y->total ? -1 : 1) : strcmp (x->name, y->name);
}

static void
conclude (Import *self)
{
  AssayTrace *trace = self->trace;
  g_autoptr (GPtrArray) tallies = g_ptr_array_new_with_free_func (tally_free);
  for (guint i = 0; i <= trace->kernels->len; i++)
    g_ptr_array_add (tallies, tally_new ()); /* the last one of all together */
  Tally *all = g_ptr_array_index (tallies, trace->kernels->len);
  g_array_sort (self->launches, by_start);
  for (guint i = 0; i < self->launches->len; i++)
    {
      const Launch *launch = &g_array_index (self->launches, Launch, i);
      tally_add (g_ptr_array_index (tallies, launch->kernel), launch);
      tally_add (all, launch);
    }
  for (guint i = 0; i < trace->kernels->len; i++)
    measure_kernel (g_ptr_array_index (trace->kernels, i), g_ptr_array_index (tallies, i));
  trace->launches = self->launches->len;
  trace->streams = g_hash_table_size (all->streams);
  trace->devices = g_hash_table_size (all->devices);
  measure_span (trace, self->launches);
  g_ptr_array_sort (trace->kernels, by_total);
}

static void
tell_progress (G_GNUC_UNUSED guint64 bytes, gpointer user_data)
{
  Import *self = user_data;
  goffset at = g_seekable_tell (G_SEEKABLE (self->packed_input));
  if (self->progress && self->packed > 0)
    self->progress (MIN (1, (double) at / (double) self->packed), self->user_data);
}

static GInputStream *
base_of (GInputStream *input)
{
  return G_IS_FILTER_INPUT_STREAM (input)
             ? g_filter_input_stream_get_base_stream (G_FILTER_INPUT_STREAM (input))
             : input;
}

AssayTrace *
assay_trace_read (const char *path, void (*progress) (double share, gpointer user_data),
                  gpointer user_data, GCancellable *cancellable, GError **error)
{
  Import self = {.progress = progress, .user_data = user_data};
  g_autoptr (GInputStream) input = assay_json_stream_open (path, &self.packed, error);
  if (!input)
    return NULL;
  g_autoptr (AssayTrace) trace = g_new0 (AssayTrace, 1);
  g_autoptr (GArray) launches = g_array_new (FALSE, FALSE, sizeof (Launch));
  g_autoptr (GHashTable) places = g_hash_table_new (g_str_hash, g_str_equal);
  trace->path = g_strdup (path);
  trace->kernels = g_ptr_array_new_with_free_func (kernel_free);
  self.trace = trace;
  self.launches = launches;
  self.places = places;
  self.packed_input = base_of (input);
  const AssayJsonStream stream = {"traceEvents", add_event, tell_progress, &self};
  if (!assay_json_stream_read (&stream, input, &trace->events, cancellable, error))
    {
      g_prefix_error (error, "%s: ", path);
      return NULL;
    }
  if (trace->events == 0)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
                   "%s: no traceEvents in it: this is not a trace of torch.profiler", path);
      return NULL;
    }
  conclude (&self);
  return g_steal_pointer (&trace);
}
