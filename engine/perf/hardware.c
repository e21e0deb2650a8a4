/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/perf/hardware.h"

#include "engine/base/error.h"
#include "engine/base/json.h"

#include <math.h>
#include <string.h>

#define FORMAT "assay-hardware"
#define NEWEST 1

#define FIELD(Type, member, KIND, ...) ASSAY_JSON_FIELD (Type, member, #member, KIND, __VA_ARGS__)

static const AssayJsonField PEAK_FIELDS[] = {
    FIELD (AssayHardwarePeak, operations_per_second, DOUBLE, .flags = ASSAY_JSON_REQUIRED),
    FIELD (AssayHardwarePeak, clock_hertz, DOUBLE),
    FIELD (AssayHardwarePeak, source, STRING, .flags = ASSAY_JSON_REQUIRED),
    FIELD (AssayHardwarePeak, uncertain, BOOLEAN),
    ASSAY_JSON_END,
};

static void
initialise_peak (gpointer self)
{
  AssayHardwarePeak *peak = self;
  peak->operations_per_second = peak->clock_hertz = NAN;
}

static const AssayJsonTable PEAK_TABLE = {
    .name = "peak",
    .size = sizeof (AssayHardwarePeak),
    .fields = PEAK_FIELDS,
    .initialise = initialise_peak,
};

static const AssayJsonField LEVEL_FIELDS[] = {
    FIELD (AssayHardwareLevel, bytes, UINT),
    FIELD (AssayHardwareLevel, bytes_per_second, DOUBLE),
    FIELD (AssayHardwareLevel, source, STRING, .flags = ASSAY_JSON_REQUIRED),
    FIELD (AssayHardwareLevel, uncertain, BOOLEAN),
    ASSAY_JSON_END,
};

static void
initialise_level (gpointer self)
{
  AssayHardwareLevel *level = self;
  level->bytes_per_second = NAN;
}

static const AssayJsonTable LEVEL_TABLE = {
    .name = "level of memory",
    .size = sizeof (AssayHardwareLevel),
    .fields = LEVEL_FIELDS,
    .initialise = initialise_level,
};

static const AssayJsonField DEVICE_FIELDS[] = {
    FIELD (AssayHardwareDevice, vendor, STRING),
    FIELD (AssayHardwareDevice, kind, STRING, .flags = ASSAY_JSON_REQUIRED),
    FIELD (AssayHardwareDevice, target, STRING, .flags = ASSAY_JSON_REQUIRED),
    FIELD (AssayHardwareDevice, aliases, STRV),
    FIELD (AssayHardwareDevice, units, INT),
    FIELD (AssayHardwareDevice, peaks, MAP, .table = &PEAK_TABLE, .flags = ASSAY_JSON_REQUIRED),
    FIELD (AssayHardwareDevice, levels, MAP, .table = &LEVEL_TABLE, .flags = ASSAY_JSON_REQUIRED),
    ASSAY_JSON_END,
};

static const AssayJsonTable DEVICE_TABLE = {
    .name = "device",
    .size = sizeof (AssayHardwareDevice),
    .fields = DEVICE_FIELDS,
};

static const AssayJsonField SOURCE_FIELDS[] = {
    FIELD (AssayHardwareSource, title, STRING, .flags = ASSAY_JSON_REQUIRED),
    ASSAY_JSON_END,
};

static const AssayJsonTable SOURCE_TABLE = {
    .name = "source",
    .size = sizeof (AssayHardwareSource),
    .fields = SOURCE_FIELDS,
};

static const AssayJsonField HARDWARE_FIELDS[] = {
    FIELD (AssayHardware, format, STRING, .flags = ASSAY_JSON_REQUIRED),
    FIELD (AssayHardware, version, INT, .flags = ASSAY_JSON_REQUIRED),
    FIELD (AssayHardware, sources, MAP, .table = &SOURCE_TABLE),
    FIELD (AssayHardware, devices, MAP, .table = &DEVICE_TABLE, .flags = ASSAY_JSON_REQUIRED),
    ASSAY_JSON_END,
};

const AssayJsonTable ASSAY_HARDWARE_TABLE = {
    .name = "table of hardware",
    .size = sizeof (AssayHardware),
    .fields = HARDWARE_FIELDS,
};

char *
assay_hardware_own_path (void)
{
  return g_build_filename (g_get_user_data_dir (), "assay", "hardware.json", NULL);
}

static gboolean
refuse (GError **error, const char *path, const char *key, const char *expected)
{
  g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID, "%s: %s: expected %s", path, key, expected);
  return FALSE;
}

static gboolean
check_figure (const AssayHardware *self, const AssayHardwareDevice *device, const char *figure,
              const char *source, double value, const char *path, GError **error)
{
  g_autofree char *key = g_strdup_printf ("devices.%s.%s", device->name, figure);
  if (value <= 0)
    return refuse (error, path, key, "a positive number");
  if (!assay_hardware_source (self, source))
    return refuse (error, path, key, "a source that is listed under sources");
  return TRUE;
}

static gboolean
check_device (const AssayHardware *self, const AssayHardwareDevice *device, const char *path,
              GError **error)
{
  gboolean right = TRUE;
  for (guint i = 0; right && i < device->peaks->len; i++)
    {
      const AssayHardwarePeak *peak = g_ptr_array_index (device->peaks, i);
      right = check_figure (self, device, peak->name, peak->source, peak->operations_per_second,
                            path, error);
    }
  for (guint i = 0; right && i < device->levels->len; i++)
    {
      const AssayHardwareLevel *level = g_ptr_array_index (device->levels, i);
      right = check_figure (self, device, level->name, level->source, level->bytes_per_second, path,
                            error);
    }
  return right;
}

static AssayHardware *
load_one (const char *path, GError **error)
{
  g_autoptr (JsonNode) node = assay_json_load (path, &ASSAY_JSON_LIMITS_RECORD, error);
  g_autoptr (GError) cause = NULL;
  if (!node)
    return NULL;
  g_autoptr (AssayHardware) self =
      assay_json_table_read (&ASSAY_HARDWARE_TABLE, node, "", NULL, &cause);
  if (!self)
    {
      g_propagate_prefixed_error (error, g_steal_pointer (&cause), "%s: ", path);
      return NULL;
    }
  if (g_strcmp0 (self->format, FORMAT) != 0)
    return refuse (error, path, "format", FORMAT), NULL;
  if (self->version < 1 || self->version > NEWEST)
    return refuse (error, path, "version", "1"), NULL;
  for (guint i = 0; i < self->devices->len; i++)
    if (!check_device (self, g_ptr_array_index (self->devices, i), path, error))
      return NULL;
  return g_steal_pointer (&self);
}

static gboolean
is_called (const AssayHardwareDevice *device, const char *name)
{
  gboolean called = g_ascii_strcasecmp (device->name, name) == 0;
  for (char **alias = device->aliases; !called && alias && *alias; alias++)
    called = g_ascii_strcasecmp (*alias, name) == 0;
  return called;
}

/* The reader's devices come first, so that theirs is the one that is found, by alias as well. A copy by
 * fields has no name, which is its key in the file. */
static AssayHardware *
lay_over (const AssayHardware *shipped, const AssayHardware *own)
{
  AssayHardware *all = assay_hardware_copy (own);
  for (guint i = 0; i < shipped->devices->len; i++)
    {
      const AssayHardwareDevice *device = g_ptr_array_index (shipped->devices, i);
      gboolean replaced = FALSE;
      for (guint k = 0; !replaced && k < own->devices->len; k++)
        {
          const AssayHardwareDevice *theirs = g_ptr_array_index (own->devices, k);
          replaced = g_ascii_strcasecmp (theirs->name, device->name) == 0;
        }
      if (replaced)
        continue;
      AssayHardwareDevice *copy = assay_json_table_copy (&DEVICE_TABLE, device);
      copy->name = g_strdup (device->name);
      g_ptr_array_add (all->devices, copy);
    }
  for (guint i = 0; i < shipped->sources->len; i++)
    {
      const AssayHardwareSource *source = g_ptr_array_index (shipped->sources, i);
      if (assay_hardware_source (own, source->name))
        continue;
      AssayHardwareSource *copy = assay_json_table_copy (&SOURCE_TABLE, source);
      copy->name = g_strdup (source->name);
      g_ptr_array_add (all->sources, copy);
    }
  return all;
}

AssayHardware *
assay_hardware_load (const char *shipped, const char *own, GError **error)
{
  g_autoptr (AssayHardware) self = load_one (shipped, error);
  if (!self || !own || !g_file_test (own, G_FILE_TEST_EXISTS))
    return g_steal_pointer (&self);
  g_autoptr (AssayHardware) theirs = load_one (own, error);
  return theirs ? lay_over (self, theirs) : NULL;
}

const AssayHardwareDevice *
assay_hardware_find (const AssayHardware *self, const char *name)
{
  for (guint i = 0; i < self->devices->len; i++)
    if (is_called (g_ptr_array_index (self->devices, i), name))
      return g_ptr_array_index (self->devices, i);
  return NULL;
}

const AssayHardwarePeak *
assay_hardware_peak (const AssayHardwareDevice *device, const char *pipe)
{
  for (guint i = 0; i < device->peaks->len; i++)
    {
      const AssayHardwarePeak *peak = g_ptr_array_index (device->peaks, i);
      if (strcmp (peak->name, pipe) == 0)
        return peak;
    }
  return NULL;
}

const AssayHardwareLevel *
assay_hardware_level (const AssayHardwareDevice *device, const char *level)
{
  for (guint i = 0; i < device->levels->len; i++)
    {
      const AssayHardwareLevel *known = g_ptr_array_index (device->levels, i);
      if (strcmp (known->name, level) == 0)
        return known;
    }
  return NULL;
}

const char *
assay_hardware_source (const AssayHardware *self, const char *key)
{
  for (guint i = 0; i < self->sources->len; i++)
    {
      const AssayHardwareSource *source = g_ptr_array_index (self->sources, i);
      if (g_strcmp0 (source->name, key) == 0)
        return source->title;
    }
  return NULL;
}

double
assay_hardware_ridge (const AssayHardwareDevice *device, const char *pipe, const char *level)
{
  const AssayHardwarePeak *peak = assay_hardware_peak (device, pipe);
  const AssayHardwareLevel *memory = assay_hardware_level (device, level);
  return peak && memory ? peak->operations_per_second / memory->bytes_per_second : NAN;
}

double
assay_hardware_peak_at (const AssayHardwarePeak *peak, double clock_hertz)
{
  return peak->operations_per_second * (clock_hertz / peak->clock_hertz);
}
