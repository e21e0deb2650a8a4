/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/device/device.h"

#include "config.h"
#include "engine/base/error.h"
#include "engine/target/limits.h"

#include <string.h>
#include <unistd.h>

#define FIELD(member_, kind_, ...)                                                                 \
  ASSAY_JSON_FIELD (AssayDevice, member_, #member_, kind_, __VA_ARGS__)
static const AssayJsonField DEVICE_FIELDS[] = {
    FIELD (id, STRING, .flags = ASSAY_JSON_REQUIRED),
    FIELD (kind, STRING),
    FIELD (name, STRING),
    FIELD (target, STRING, .flags = ASSAY_JSON_KEEP_NULL),
    FIELD (available, BOOLEAN),
    FIELD (reason, STRING, .flags = ASSAY_JSON_KEEP_NULL),
    FIELD (driver, STRING, .flags = ASSAY_JSON_KEEP_NULL),
    ASSAY_JSON_END,
};
#undef FIELD
const AssayJsonTable ASSAY_DEVICE_TABLE = {"device", sizeof (AssayDevice), DEVICE_FIELDS, NULL};

/* Where a name of the installation lies in the build tree. */
static const struct
{
  const char *name, *built;
} BUILT[] = {
    {"assay-worker", "engine/assay-worker"},
    {"assay-engine", "engine/assay-engine"},
    {"driver/libcuda.so.1", "engine/vgpu/driver/libcuda.so.1"},
};

/* The build tree counts only for a program that runs out of it. */
static gboolean
runs_from_build_tree (void)
{
  g_autofree char *self = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *tree = realpath (ASSAY_BUILD_DIR, NULL);
  return self && tree && g_str_has_prefix (self, tree) && self[strlen (tree)] == '/';
}

char *
assay_libexec_path (const char *name, GError **error)
{
  const char *named = g_getenv ("ASSAY_LIBEXEC");
  const char *built = name;
  for (gsize i = 0; i < G_N_ELEMENTS (BUILT); i++)
    if (g_str_equal (BUILT[i].name, name))
      built = BUILT[i].built;
  char *places[] = {
      named ? g_build_filename (named, name, NULL) : NULL,
      runs_from_build_tree () ? g_build_filename (ASSAY_BUILD_DIR, built, NULL) : NULL,
      g_build_filename (ASSAY_LIBEXECDIR, name, NULL),
  };
  char *found = NULL;
  for (gsize i = 0; i < G_N_ELEMENTS (places); i++)
    {
      if (!found && places[i] && g_file_test (places[i], G_FILE_TEST_EXISTS))
        found = g_steal_pointer (&places[i]);
      else if (places[i])
        g_clear_pointer (&places[i], g_free);
    }
  if (!found)
    g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_NOT_FOUND,
                 "%s is not installed: it belongs into %s (ASSAY_LIBEXEC names another folder)",
                 name, ASSAY_LIBEXECDIR);
  return found;
}

GPtrArray *
assay_device_list_virtual (void)
{
  GPtrArray *devices = g_ptr_array_new_with_free_func ((GDestroyNotify) assay_device_free);
  g_autoptr (GError) error = NULL;
  g_autofree char *driver = assay_libexec_path ("driver/libcuda.so.1", &error);
  size_t count = 0;
  const AssayTargetLimits *limits = assay_target_limits_all (&count);
  for (size_t i = 0; i < count; i++)
    {
      AssayDevice *device = assay_device_new ();
      device->id = g_strdup_printf ("virtual:%s", limits[i].name);
      device->kind = g_strdup ("virtual");
      device->name = g_strdup_printf ("Virtual GPU, limits of %s", limits[i].typical_part);
      device->target = g_strdup (limits[i].name);
      device->available = driver != NULL;
      device->reason = driver ? NULL : g_strdup (error->message);
      g_ptr_array_add (devices, device);
    }
  return devices;
}
