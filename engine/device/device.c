/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/device/device.h"

#include "engine/device/installation.h"
#include "engine/target/limits.h"

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
    FIELD (uuid, STRING),
    FIELD (memory_bytes, UINT),
    FIELD (gpu, POINTER, .table = &ASSAY_GPU_STATE_TABLE),
    ASSAY_JSON_END,
};
#undef FIELD
const AssayJsonTable ASSAY_DEVICE_TABLE = {"device", sizeof (AssayDevice), DEVICE_FIELDS, NULL};

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
      device->memory_bytes = limits[i].memory_bytes;
      device->available = driver != NULL;
      device->reason = driver ? NULL : g_strdup (error->message);
      g_ptr_array_add (devices, device);
    }
  return devices;
}
