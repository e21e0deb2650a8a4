/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/device/driver.h"
#include "engine/worker/roles.h"

#include <string.h>

/* As NVML writes it: "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6". */
static char *
uuid_of (const AssayDriver *driver, CUdevice device)
{
  CUuuid id;
  if (!driver->call.device_get_uuid || driver->call.device_get_uuid (&id, device) != CUDA_SUCCESS)
    return NULL;
  g_autoptr (GString) text = g_string_new ("GPU");
  for (gsize i = 0; i < sizeof id.bytes; i++)
    g_string_append_printf (text, "%s%02x",
                            i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                            (unsigned char) id.bytes[i]);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static JsonObject *
describe (const AssayDriver *driver, int ordinal)
{
  JsonObject *device = json_object_new ();
  CUdevice handle = 0;
  char name[256] = "";
  int major = 0, minor = 0;
  size_t memory = 0;
  int code = driver->call.device_get (&handle, ordinal);
  if (code == CUDA_SUCCESS)
    code = driver->call.device_get_name (name, sizeof name - 1, handle);
  if (code == CUDA_SUCCESS)
    code = driver->call.device_get_attribute (&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                                              handle);
  if (code == CUDA_SUCCESS)
    code = driver->call.device_get_attribute (&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
                                              handle);
  if (code == CUDA_SUCCESS)
    driver->call.device_total_mem (&memory, handle);
  json_object_set_string_member (device, "name", name);
  g_autofree char *target = g_strdup_printf ("sm_%d%d", major, minor);
  json_object_set_string_member (device, "target", target);
  json_object_set_int_member (device, "memory_bytes", (gint64) memory);
  g_autofree char *uuid = code == CUDA_SUCCESS ? uuid_of (driver, handle) : NULL;
  if (uuid)
    json_object_set_string_member (device, "uuid", uuid);
  if (code != CUDA_SUCCESS)
    json_object_set_string_member (device, "reason", assay_driver_error_text (code));
  return device;
}

void
assay_worker_probe (AssayChannel *channel, const AssayWorkerRequest *request)
{
  AssayDriver driver;
  g_autofree char *reason = NULL;
  int count = 0;
  assay_channel_phase (channel, "open");
  JsonObject *fields = json_object_new ();
  JsonArray *devices = json_array_new ();
  AssayDriverStatus status =
      assay_driver_open (&driver, request->driver ? request->driver : "libcuda.so.1", &reason);
  if (status == ASSAY_DRIVER_READY)
    status = assay_driver_initialise (&driver, &reason);
  if (status == ASSAY_DRIVER_READY)
    driver.call.device_get_count (&count);
  for (int i = 0; i < count; i++)
    json_array_add_object_element (devices, describe (&driver, i));
  json_object_set_array_member (fields, "devices", devices);
  json_object_set_int_member (fields, "driver_version", driver.version);
  if (reason)
    json_object_set_string_member (fields, "reason", reason);
  assay_channel_reply (channel, ASSAY_REPLY_DONE, fields);
}
