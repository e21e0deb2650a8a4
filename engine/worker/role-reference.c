/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/worker/roles.h"

#include "engine/number/dtype.h"

#include <dlfcn.h>
#include <string.h>

typedef __float128 Quad;

/* The value types of a reference: its REAL, or int64_t. */
typedef enum
{
  VALUE_FLOAT = 1,
  VALUE_DOUBLE = 2,
  VALUE_QUAD = 3,
  VALUE_INTEGER = 4,
} ValueType;

static const gsize VALUE_BYTES[] = {0, sizeof (float), sizeof (double), sizeof (Quad), 8};

typedef struct
{
  AssayMappedArray mapped;
  ValueType type;
  gsize count;
  void *values; /* what the function sees; the mapping itself for outputs */
} ReferenceArray;

typedef union
{
  float f;
  double d;
  Quad q;
  gint64 i;
} Value;

static gint64
load_integer (AssayDtype dtype, const void *data, gsize index)
{
  guint64 code = assay_dtype_load (dtype, data, index);
  const AssayFormat *format = assay_dtype_format (dtype);
  int unused = 64 - format->bits;
  if (format->kind == ASSAY_DTYPE_KIND_INT)
    return (gint64) (code << unused) >> unused;
  return (gint64) code;
}

static void
widen (const ReferenceArray *array, AssayDtype dtype)
{
  const char *from = array->mapped.base + array->mapped.array->offset;
  AssayDtype component = assay_dtype_component (dtype);
  for (gsize i = 0; i < array->count; i++)
    if (array->type == VALUE_INTEGER)
      ((gint64 *) array->values)[i] = load_integer (dtype, from, i);
    else
      {
        double value = assay_dtype_decode (component, assay_dtype_load (dtype, from, i));
        if (array->type == VALUE_FLOAT)
          ((float *) array->values)[i] = (float) value;
        else if (array->type == VALUE_DOUBLE)
          ((double *) array->values)[i] = value;
        else
          ((Quad *) array->values)[i] = value;
      }
}

static gboolean
prepare (ReferenceArray *array, const AssayWorkerArray *wanted, int real, char **reason)
{
  AssayDtype dtype = assay_dtype_from_name (wanted->dtype);
  if (!assay_worker_map (wanted, &array->mapped, reason))
    return FALSE;
  array->type = wanted->integer ? VALUE_INTEGER : (ValueType) real;
  if (g_str_equal (wanted->role, "out"))
    {
      array->values = array->mapped.base + wanted->offset;
      return TRUE;
    }
  if (dtype == ASSAY_DTYPE_UNKNOWN)
    {
      *reason = g_strdup_printf ("array %s has no dtype", wanted->name);
      return FALSE;
    }
  array->count = (gsize) wanted->bytes / (gsize) assay_dtype_format (dtype)->component_bytes;
  array->values = g_try_malloc_n (MAX (array->count, 1), VALUE_BYTES[array->type]);
  if (!array->values)
    {
      *reason = g_strdup_printf ("no memory for array %s", wanted->name);
      return FALSE;
    }
  widen (array, dtype);
  return TRUE;
}

static void
store_value (Value *value, const AssayWorkerArgument *argument, int real)
{
  if (!argument->is_real)
    value->i = argument->integer;
  else if (real == VALUE_FLOAT)
    value->f = (float) argument->real;
  else if (real == VALUE_DOUBLE)
    value->d = argument->real;
  else
    value->q = argument->real;
}

static gboolean
bind (const AssayWorkerRequest *request, ReferenceArray *arrays, Value *values, void **pointers,
      char **reason)
{
  for (guint i = 0; i < request->arguments->len; i++)
    {
      const AssayWorkerArgument *argument = g_ptr_array_index (request->arguments, i);
      pointers[i] = argument->array ? NULL : &values[i];
      if (!argument->array)
        store_value (&values[i], argument, (int) request->real);
      for (guint k = 0; argument->array && k < request->arrays->len; k++)
        if (g_str_equal (arrays[k].mapped.array->name, argument->array))
          pointers[i] = arrays[k].values;
      if (!pointers[i])
        {
          *reason = g_strdup_printf ("no array %s", argument->array);
          return FALSE;
        }
    }
  return TRUE;
}

void
assay_worker_reference (AssayChannel *channel, const AssayWorkerRequest *request)
{
  g_autofree char *path = g_strdup_printf ("/proc/self/fd/%d", (int) request->image_fd);
  g_autofree ReferenceArray *arrays = g_new0 (ReferenceArray, MAX (request->arrays->len, 1));
  g_autofree Value *values = g_new0 (Value, MAX (request->arguments->len, 1));
  g_autofree void **pointers = g_new0 (void *, MAX (request->arguments->len, 1));
  g_autofree char *reason = NULL;
  assay_channel_phase (channel, "load");
  gboolean ready = request->real >= VALUE_FLOAT && request->real <= VALUE_QUAD;
  for (guint i = 0; i < request->arrays->len && ready; i++)
    ready =
        prepare (&arrays[i], g_ptr_array_index (request->arrays, i), (int) request->real, &reason);
  ready = ready && bind (request, arrays, values, pointers, &reason);
  if (!ready)
    {
      assay_channel_fail_message (channel, "request", "%s", reason ? reason : "no such REAL");
      return;
    }
  void *library = dlopen (path, RTLD_NOW | RTLD_LOCAL);
  void (*call) (void **) = NULL;
  if (library)
    *(void **) &call = dlsym (library, "assay_reference_call");
  if (!call)
    {
      assay_channel_fail_message (channel, "reference", "the built reference does not load: %s",
                                  dlerror ());
      return;
    }
  assay_channel_phase (channel, "call");
  call (pointers);
  assay_channel_reply (channel, ASSAY_REPLY_DONE, json_object_new ());
}
