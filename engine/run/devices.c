/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/devices.h"

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/sandbox/preflight.h"
#include "engine/worker/session.h"

#define PROBE_SECONDS 30
#define NVML_SECONDS 5
#define ASIDE_SECONDS 120

char *
assay_driver_show (AssaySandboxSpec *spec, AssaySandboxTier tier)
{
  const char *named = g_getenv ("ASSAY_CUDA_DRIVER");
  if (!named)
    return g_strdup ("libcuda.so.1");
  assay_sandbox_spec_show (spec, named, "/assay/driver/libcuda.so.1");
  return g_strdup (assay_sandbox_spec_path (spec, tier, "/assay/driver/libcuda.so.1"));
}

static AssayWorkerReply *
probe_driver (GError **error)
{
  AssaySandboxTier tier;
  g_autoptr (AssayWorkerRequest) request = assay_worker_request_new ();
  g_autoptr (AssaySandboxSpec) spec = assay_worker_spec_new (error);
  if (!spec || !assay_sandbox_choose (FALSE, &tier, error))
    return NULL;
  assay_sandbox_spec_allow_gpu (spec);
  assay_sandbox_spec_limits (spec)->wall_seconds = PROBE_SECONDS;
  request->request = ASSAY_REQUEST_PROBE;
  request->driver = assay_driver_show (spec, tier);
  return assay_worker_call (spec, tier, request, NULL, error);
}

/* ---- devices set aside ---- */

typedef struct
{
  char *reason;
  gint64 until;   /* monotonic */
  gboolean whole; /* the driver itself does not answer: asking it again would hang */
} Aside;

static GMutex aside_lock;
static GHashTable *aside; /* id → Aside * */

static void
aside_free (gpointer data)
{
  g_free (((Aside *) data)->reason);
  g_free (data);
}

static void
set_aside (const char *id, const char *reason, gboolean whole)
{
  Aside *entry = g_new0 (Aside, 1);
  entry->reason = g_strdup (reason);
  entry->until = g_get_monotonic_time () + ASIDE_SECONDS * G_TIME_SPAN_SECOND;
  entry->whole = whole;
  g_mutex_lock (&aside_lock);
  if (!aside)
    aside = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, aside_free);
  g_hash_table_replace (aside, g_strdup (id), entry);
  g_mutex_unlock (&aside_lock);
}

/* (transfer full): NULL when it may be asked. */
static char *
aside_reason (const char *id)
{
  char *reason = NULL;
  g_mutex_lock (&aside_lock);
  const Aside *entry = aside ? g_hash_table_lookup (aside, id) : NULL;
  if (entry && g_get_monotonic_time () < entry->until)
    reason = g_strdup (entry->reason);
  else if (entry)
    g_hash_table_remove (aside, id);
  g_mutex_unlock (&aside_lock);
  return reason;
}

/* (transfer full): the device whose run took the whole driver with it; NULL when it may be asked. */
static char *
wedged_device (void)
{
  GHashTableIter iter;
  gpointer id, entry;
  char *found = NULL;
  g_mutex_lock (&aside_lock);
  if (aside)
    {
      g_hash_table_iter_init (&iter, aside);
      while (!found && g_hash_table_iter_next (&iter, &id, &entry))
        if (((Aside *) entry)->whole && g_get_monotonic_time () < ((Aside *) entry)->until)
          found = g_strdup (id);
    }
  g_mutex_unlock (&aside_lock);
  return found;
}

char *
assay_device_check_after (const AssayDevice *device, const char *after)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayWorkerReply) reply = probe_driver (&error);
  JsonArray *found = reply && reply->done ? assay_json_array (reply->done, "devices") : NULL;
  gint64 number = g_ascii_strtoll (device->id + strlen ("cuda:"), NULL, 10);
  const char *said = reply && reply->done ? assay_json_string (reply->done, "reason") : NULL;
  if (found && number < json_array_get_length (found))
    {
      JsonObject *told = json_array_get_object_element (found, (guint) number);
      said = assay_json_string (told, "reason");
      if (!said)
        return NULL;
    }
  const char *why = said ? said : error ? error->message : reply->message;
  char *reason = g_strdup_printf (
      "set aside for %d minutes: it no longer answers (%s) after: %s. Look at nvidia-smi and the "
      "kernel's log; a reset or a reboot may be needed",
      ASIDE_SECONDS / 60, why ? why : "no device", after ? after : "a failed run");
  set_aside (device->id, reason, !found || json_array_get_length (found) == 0);
  return reason;
}

static AssayDevice *
add_device (GPtrArray *devices, guint number)
{
  AssayDevice *device = assay_device_new ();
  device->id = g_strdup_printf ("cuda:%u", number);
  device->kind = g_strdup ("cuda");
  g_ptr_array_add (devices, device);
  return device;
}

static void
add_found (GPtrArray *devices, JsonObject *done)
{
  JsonArray *found = assay_json_array (done, "devices");
  gint64 version = assay_json_int (done, "driver_version", 0);
  for (guint i = 0; found && i < json_array_get_length (found); i++)
    {
      JsonObject *told = json_array_get_object_element (found, i);
      AssayDevice *device = add_device (devices, i);
      device->name = g_strdup (assay_json_string (told, "name"));
      device->target = g_strdup (assay_json_string (told, "target"));
      device->reason = g_strdup (assay_json_string (told, "reason"));
      if (!device->reason)
        device->reason = aside_reason (device->id);
      device->available = device->reason == NULL;
      device->uuid = g_strdup (assay_json_string (told, "uuid"));
      device->memory_bytes = (guint64) assay_json_int (told, "memory_bytes", 0);
      device->driver = g_strdup_printf ("%d.%d", (int) version / 1000, (int) version % 1000 / 10);
    }
}

/* By identity: CUDA and NVML number devices differently. */
static void
attach_states (GPtrArray *devices, const AssayNvmlReading *reading)
{
  for (guint i = 0; i < devices->len; i++)
    for (guint k = 0; k < reading->devices->len; k++)
      {
        AssayDevice *device = g_ptr_array_index (devices, i);
        const AssayGpuState *state = g_ptr_array_index (reading->devices, k);
        if (!device->gpu && device->uuid && g_strcmp0 (device->uuid, state->uuid) == 0)
          device->gpu = assay_gpu_state_copy (state);
      }
}

AssayNvmlReading *
assay_devices_reading (GError **error)
{
  return assay_nvml_read (g_getenv ("ASSAY_NVML"), NVML_SECONDS, error);
}

/* A real device that is listed though it cannot be used: `why` (transfer full). */
static void
add_unavailable (GPtrArray *devices, const char *id, char *why)
{
  AssayDevice *device = add_device (devices, 0);
  g_free (device->id);
  device->id = g_strdup (id);
  device->name = g_strdup ("CUDA device");
  device->reason = why;
}

static char *
why_none (const AssayWorkerReply *reply, const GError *error, const AssayNvmlReading *reading)
{
  const char *said = reply && reply->done ? assay_json_string (reply->done, "reason") : NULL;
  const char *why = said ? said : error ? error->message : reply->message;
  if (!reading || reading->devices->len == 0)
    return g_strdup (why);
  return g_strdup_printf ("%s; yet NVML sees %u: look at CUDA_VISIBLE_DEVICES, at MIG mode, and at "
                          "the device nodes of the sandbox",
                          why, reading->devices->len);
}

GPtrArray *
assay_devices_list (void)
{
  g_autoptr (GError) error = NULL;
  GPtrArray *devices = assay_device_list_virtual ();
  g_autofree char *wedged = wedged_device ();
  if (wedged)
    {
      add_unavailable (devices, wedged, aside_reason (wedged));
      return devices;
    }
  g_autoptr (AssayWorkerReply) reply = probe_driver (&error);
  g_autoptr (AssayNvmlReading) reading = assay_devices_reading (NULL);
  guint before = devices->len;
  if (reply && reply->done)
    add_found (devices, reply->done);
  if (reading)
    attach_states (devices, reading);
  if (devices->len == before)
    add_unavailable (devices, "cuda:0", why_none (reply, error, reading));
  return devices;
}

static AssayDevice *
find_in (GPtrArray *devices, const char *id)
{
  for (guint i = 0; i < devices->len; i++)
    if (g_str_equal (((AssayDevice *) g_ptr_array_index (devices, i))->id, id))
      return assay_device_copy (g_ptr_array_index (devices, i));
  return NULL;
}

static AssayDevice *
find_real (GPtrArray *devices)
{
  for (guint i = 0; i < devices->len; i++)
    {
      const AssayDevice *device = g_ptr_array_index (devices, i);
      if (device->available && g_str_equal (device->kind, "cuda"))
        return assay_device_copy (device);
    }
  return NULL;
}

AssayDevice *
assay_device_find (const char *id, const char *target, GError **error)
{
  gboolean any = !id || g_str_equal (id, "auto");
  g_autofree char *virtual_id = g_strconcat ("virtual:", target, NULL);
  /* The virtual devices are known without a driver; asking one costs a worker's start. */
  gboolean quick = id && g_str_has_prefix (id, "virtual:");
  g_autoptr (GPtrArray) devices = quick ? assay_device_list_virtual () : assay_devices_list ();
  g_autoptr (AssayDevice) device = any ? find_real (devices) : find_in (devices, id);
  if (!device && any)
    device = find_in (devices, virtual_id);
  if (!device)
    g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_NOT_FOUND,
                 "no device \"%s\"; \"assay-engine devices\" lists them", any ? virtual_id : id);
  else if (!device->available)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_UNSUPPORTED, "%s is not available: %s",
                   device->id, device->reason);
      return NULL;
    }
  return g_steal_pointer (&device);
}
