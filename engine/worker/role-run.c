/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/worker/role-run.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define REPORTS_END "end\n"

static AssayDriver *interrupted_driver;

/* Close to the time limit the virtual GPU is stopped from inside: it can say where it was. */
static void
on_alarm (int number)
{
  (void) number;
  if (interrupted_driver && interrupted_driver->assayVgpuInterrupt)
    interrupted_driver->assayVgpuInterrupt ();
}

static void *
forward_reports (void *data)
{
  AssayDeviceRun *run = data;
  FILE *stream = fdopen (run->report_fds[0], "r");
  char *line = NULL;
  size_t size = 0;
  ssize_t length;
  while (stream && (length = getline (&line, &size, stream)) > 0)
    {
      if (strcmp (line, REPORTS_END) == 0)
        break;
      line[strcspn (line, "\n")] = 0;
      assay_channel_forward (run->channel, line);
    }
  free (line);
  if (stream)
    fclose (stream);
  return NULL;
}

static void
end_reports (AssayDeviceRun *run)
{
  if (run->report_fds[1] < 0)
    return;
  if (write (run->report_fds[1], REPORTS_END, strlen (REPORTS_END)) > 0)
    pthread_join (run->reporter, NULL);
  run->report_fds[1] = -1;
}

gboolean
assay_run_driver_failed (AssayDeviceRun *run, const char *what, int code)
{
  if (code == CUDA_SUCCESS)
    return FALSE;
  AssayWorkerError *error = assay_worker_error_new ();
  const char *detail = run->driver.assayVgpuLastError ? run->driver.assayVgpuLastError () : NULL;
  error->kind = g_strdup ("driver");
  error->code = code;
  error->name = g_strdup (assay_driver_error_name (code));
  error->message = g_strdup_printf ("%s: %s%s%s", what, assay_driver_error_text (code),
                                    detail && detail[0] ? "; " : "", detail ? detail : "");
  if (run->log[0])
    error->log = g_utf8_make_valid (run->log, -1);
  end_reports (run);
  assay_channel_fail (run->channel, error);
  return TRUE;
}

gboolean
assay_run_fail (AssayDeviceRun *run, const char *kind, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  end_reports (run);
  assay_channel_fail_message (run->channel, kind, "%s", message);
  return FALSE;
}

static gboolean
set (AssayDeviceRun *run, const char *key, const char *value)
{
  if (run->driver.assayVgpuSet (key, value) == 0)
    return TRUE;
  return assay_run_fail (run, "request", "the virtual GPU refuses %s=%s: %s", key, value,
                         run->driver.assayVgpuLastError ());
}

gboolean
assay_run_open_driver (AssayDeviceRun *run)
{
  g_autofree char *reason = NULL;
  CUdevice device = 0;
  CUcontext context = NULL;
  AssayDriverStatus status = assay_driver_open (&run->driver, run->request->driver, &reason);
  gboolean is_virtual = status == ASSAY_DRIVER_READY && run->driver.assayVgpuSet;
  if (is_virtual && pipe (run->report_fds) == 0)
    {
      g_autofree char *number = g_strdup_printf ("%d", run->report_fds[1]);
      if (!set (run, "report_fd", number))
        return FALSE;
      pthread_create (&run->reporter, NULL, forward_reports, run);
    }
  for (guint i = 0; is_virtual && i < run->request->settings->len; i++)
    {
      const AssayWorkerSetting *setting = g_ptr_array_index (run->request->settings, i);
      if (!set (run, setting->key, setting->value))
        return FALSE;
    }
  if (status == ASSAY_DRIVER_READY)
    status = assay_driver_initialise (&run->driver, &reason);
  if (status != ASSAY_DRIVER_READY)
    return assay_run_fail (run, "environment", "%s", reason);
  const AssayCudaDriver *call = &run->driver.call;
  int code = call->device_get (&device, (int) run->request->device);
  if (code == CUDA_SUCCESS)
    code = call->primary_ctx_retain (&context, device);
  if (code == CUDA_SUCCESS)
    code = call->ctx_set_current (context);
  return !assay_run_driver_failed (run, "no context on the device", code);
}

gboolean
assay_run_load_module (AssayDeviceRun *run)
{
  gsize bytes = 0;
  g_autofree char *ptx = assay_worker_read_all ((int) run->request->image_fd, &bytes);
  run->entries = assay_ptx_entries (ptx);
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {run->log, (void *) (guintptr) (ASSAY_JIT_LOG_BYTES - 1)};
  int code = run->driver.call.module_load_data_ex (&run->module, ptx, 2, options, values);
  if (assay_run_driver_failed (run, "the driver does not accept the PTX", code))
    return FALSE;
  if (run->request->host)
    return TRUE;
  code = run->driver.call.module_get_function (&run->function, run->module, run->request->symbol);
  if (assay_run_driver_failed (run, run->request->symbol, code))
    return FALSE;
  run->entry = assay_ptx_find (run->entries, run->request->symbol);
  if (run->entry)
    return TRUE;
  return assay_run_fail (run, "symbol", "no kernel %s in the PTX", run->request->symbol);
}

static gboolean
upload (AssayDeviceRun *run)
{
  const AssayCudaDriver *call = &run->driver.call;
  for (guint i = 0; i < run->request->arrays->len; i++)
    {
      AssayDeviceArray *array = &run->arrays[i];
      const AssayWorkerArray *wanted = array->mapped.array;
      g_autofree char *what = g_strdup_printf ("memory for %s", wanted->name);
      int code = call->mem_alloc (&array->device, MAX (array->mapped.bytes, 1));
      if (assay_run_driver_failed (run, what, code))
        return FALSE;
      if (run->driver.assayVgpuNameAllocation)
        run->driver.assayVgpuNameAllocation (array->device, wanted->name);
      code = array->mapped.bytes
                 ? call->memcpy_htod (array->device, array->mapped.base, array->mapped.bytes)
                 : CUDA_SUCCESS;
      if (assay_run_driver_failed (run, what, code))
        return FALSE;
      if (run->driver.assayVgpuMarkUninitialised && g_str_equal (wanted->role, "out")
          && wanted->bytes > 0)
        run->driver.assayVgpuMarkUninitialised (array->device + (guint64) wanted->offset,
                                                (size_t) wanted->bytes);
    }
  return TRUE;
}

void
assay_run_tell_launch (AssayDeviceRun *run, const char *kernel, CUfunction function,
                       const unsigned int *shape, gsize shared)
{
  int registers = -1;
  JsonObject *fields = json_object_new ();
  static const char *const names[] = {"grid", "block"};
  run->driver.call.func_get_attribute (&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function);
  json_object_set_string_member (fields, "kernel", kernel);
  json_object_set_int_member (fields, "registers", registers > 0 ? registers : -1);
  json_object_set_int_member (fields, "shared", (gint64) shared);
  for (int i = 0; i < 2; i++)
    {
      JsonArray *extents = json_array_new ();
      for (int k = 0; k < 3; k++)
        json_array_add_int_element (extents, shape[3 * i + k]);
      json_object_set_array_member (fields, names[i], extents);
    }
  assay_channel_reply (run->channel, ASSAY_REPLY_LAUNCH, fields);
}

CUdeviceptr
assay_run_address (const AssayDeviceRun *run, const char *array)
{
  for (guint i = 0; i < run->request->arrays->len; i++)
    if (g_str_equal (run->arrays[i].mapped.array->name, array))
      return run->arrays[i].device + (guint64) run->arrays[i].mapped.array->offset;
  return 0;
}

static gboolean
launch (AssayDeviceRun *run)
{
  return run->request->host ? assay_run_host (run) : assay_run_kernel (run);
}

/* What a kernel did to memory that it was only to read. */
static void
compare_input (AssayDeviceRun *run, const AssayDeviceArray *array, const char *now)
{
  const AssayWorkerArray *wanted = array->mapped.array;
  const char *before = array->mapped.base;
  gsize first = 0, changed = 0;
  for (gsize i = 0; i < array->mapped.bytes; i++)
    if (now[i] != before[i] && changed++ == 0)
      first = i;
  if (changed == 0)
    return;
  g_autofree char *line = g_strdup_printf (
      "{\"type\":\"report\",\"rule\":\"mem.input-modified\",\"kernel\":\"%s\","
      "\"message\":\"input %s was changed: %" G_GSIZE_FORMAT
      " bytes, the first at byte %" G_GSIZE_FORMAT
      "\",\"allocation\":{\"name\":\"%s\",\"bytes\":%" G_GINT64_FORMAT
      ",\"offset\":%" G_GSIZE_FORMAT "}}",
      run->request->symbol, wanted->name, changed, first, wanted->name, wanted->bytes, first);
  assay_channel_forward (run->channel, line);
}

gboolean
assay_run_download (AssayDeviceRun *run)
{
  for (guint i = 0; i < run->request->arrays->len; i++)
    {
      AssayDeviceArray *array = &run->arrays[i];
      gboolean input = g_str_equal (array->mapped.array->role, "in");
      if (array->mapped.bytes == 0)
        continue;
      g_autofree char *copy = input ? g_malloc (array->mapped.bytes) : NULL;
      int code = run->driver.call.memcpy_dtoh (copy ? copy : array->mapped.base, array->device,
                                               array->mapped.bytes);
      if (assay_run_driver_failed (run, "results cannot be read back", code))
        return FALSE;
      if (copy)
        compare_input (run, array, copy);
    }
  return TRUE;
}

/* Freed in order, so that what is left over afterwards is the kernel's own leak. */
static void
close_device (AssayDeviceRun *run)
{
  for (guint i = 0; i < run->request->arrays->len; i++)
    run->driver.call.mem_free (run->arrays[i].device);
  run->driver.call.module_unload (run->module);
  run->driver.call.primary_ctx_release ((CUdevice) run->request->device);
}

void
assay_run_finish (AssayDeviceRun *run)
{
  JsonObject *fields = json_object_new ();
  close_device (run);
  end_reports (run);
  assay_channel_reply (run->channel, ASSAY_REPLY_DONE, fields);
}

static void
set_alarm (AssayDeviceRun *run)
{
  double seconds = run->request->seconds;
  if (!(seconds > 0) || !run->driver.assayVgpuInterrupt)
    return;
  struct itimerval timer = {
      .it_value = {(time_t) seconds, (suseconds_t) (fmod (seconds, 1) * 1e6)}};
  interrupted_driver = &run->driver;
  signal (SIGALRM, on_alarm);
  setitimer (ITIMER_REAL, &timer, NULL);
}

gboolean
assay_run_map_arrays (AssayDeviceRun *run)
{
  for (guint i = 0; i < run->request->arrays->len; i++)
    {
      g_autofree char *reason = NULL;
      if (!assay_worker_map (g_ptr_array_index (run->request->arrays, i), &run->arrays[i].mapped,
                             &reason))
        return assay_run_fail (run, "request", "%s", reason);
    }
  return TRUE;
}

typedef gboolean (*Step) (AssayDeviceRun *run);

static const struct
{
  const char *phase;
  Step step;
} STEPS[] = {
    {"open", assay_run_open_driver},
    {"load", assay_run_load_module},
    {"allocate", assay_run_map_arrays},
    {"upload", upload},
    {"launch", launch},
    {"download", assay_run_download},
};

void
assay_worker_run (AssayChannel *channel, const AssayWorkerRequest *request)
{
  AssayDeviceRun run = {.channel = channel, .request = request, .report_fds = {-1, -1}};
  g_autofree AssayDeviceArray *arrays = g_new0 (AssayDeviceArray, MAX (request->arrays->len, 1));
  gboolean going = TRUE;
  run.arrays = arrays;
  for (gsize i = 0; i < G_N_ELEMENTS (STEPS) && going; i++)
    {
      assay_channel_phase (channel, STEPS[i].phase);
      if (i == 1)
        set_alarm (&run);
      going = STEPS[i].step (&run);
    }
  if (going)
    assay_run_finish (&run);
  g_clear_pointer (&run.entries, g_ptr_array_unref);
}
