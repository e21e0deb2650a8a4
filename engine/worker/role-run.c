/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/device/driver.h"
#include "engine/worker/ptx-signature.h"
#include "engine/worker/roles.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define LOG_BYTES 16384
#define REPORTS_END "end\n"

typedef struct
{
  AssayMappedArray mapped;
  CUdeviceptr device;
} DeviceArray;

typedef struct
{
  AssayChannel *channel;
  const AssayWorkerRequest *request;
  AssayDriver driver;
  CUmodule module;
  CUfunction function;
  DeviceArray *arrays;
  GPtrArray *entries; /* AssayPtxEntry * */
  const AssayPtxEntry *entry;
  int report_fds[2]; /* the virtual GPU writes its findings into [1]; -1 with a real driver */
  pthread_t reporter;
  char log[LOG_BYTES];
} Run;

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
  Run *run = data;
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
end_reports (Run *run)
{
  if (run->report_fds[1] < 0)
    return;
  if (write (run->report_fds[1], REPORTS_END, strlen (REPORTS_END)) > 0)
    pthread_join (run->reporter, NULL);
  run->report_fds[1] = -1;
}

/* Ends the request with a driver's error code; what the checkers saw goes first. */
static gboolean
driver_failed (Run *run, const char *what, int code)
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

static gboolean
set (Run *run, const char *key, const char *value)
{
  if (run->driver.assayVgpuSet (key, value) == 0)
    return TRUE;
  assay_channel_fail_message (run->channel, "request", "the virtual GPU refuses %s=%s: %s", key,
                              value, run->driver.assayVgpuLastError ());
  return FALSE;
}

static gboolean
open_driver (Run *run)
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
    {
      assay_channel_fail_message (run->channel, "environment", "%s", reason);
      return FALSE;
    }
  const AssayCudaDriver *call = &run->driver.call;
  int code = call->device_get (&device, (int) run->request->device);
  if (code == CUDA_SUCCESS)
    code = call->primary_ctx_retain (&context, device);
  if (code == CUDA_SUCCESS)
    code = call->ctx_set_current (context);
  return !driver_failed (run, "no context on the device", code);
}

static gboolean
load_module (Run *run)
{
  gsize bytes = 0;
  g_autofree char *ptx = assay_worker_read_all ((int) run->request->image_fd, &bytes);
  run->entries = assay_ptx_entries (ptx);
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {run->log, (void *) (guintptr) (LOG_BYTES - 1)};
  int code = run->driver.call.module_load_data_ex (&run->module, ptx, 2, options, values);
  if (driver_failed (run, "the driver does not accept the PTX", code))
    return FALSE;
  code = run->driver.call.module_get_function (&run->function, run->module, run->request->symbol);
  if (driver_failed (run, run->request->symbol, code))
    return FALSE;
  run->entry = assay_ptx_find (run->entries, run->request->symbol);
  if (run->entry)
    return TRUE;
  end_reports (run);
  assay_channel_fail_message (run->channel, "symbol", "no kernel %s in the PTX",
                              run->request->symbol);
  return FALSE;
}

static gboolean
upload (Run *run)
{
  const AssayCudaDriver *call = &run->driver.call;
  for (guint i = 0; i < run->request->arrays->len; i++)
    {
      DeviceArray *array = &run->arrays[i];
      const AssayWorkerArray *wanted = array->mapped.array;
      g_autofree char *what = g_strdup_printf ("memory for %s", wanted->name);
      int code = call->mem_alloc (&array->device, MAX (array->mapped.bytes, 1));
      if (driver_failed (run, what, code))
        return FALSE;
      if (run->driver.assayVgpuNameAllocation)
        run->driver.assayVgpuNameAllocation (array->device, wanted->name);
      code = array->mapped.bytes
                 ? call->memcpy_htod (array->device, array->mapped.base, array->mapped.bytes)
                 : CUDA_SUCCESS;
      if (driver_failed (run, what, code))
        return FALSE;
      if (run->driver.assayVgpuMarkUninitialised && g_str_equal (wanted->role, "out")
          && wanted->bytes > 0)
        run->driver.assayVgpuMarkUninitialised (array->device + (guint64) wanted->offset,
                                                (size_t) wanted->bytes);
    }
  return TRUE;
}

/* A number in the width that the kernel's own parameter has. FALSE where it does not fit. */
static gboolean
encode_number (const AssayWorkerArgument *argument, const AssayPtxParameter *parameter, void *to)
{
  double real = argument->is_real ? argument->real : (double) argument->integer;
  gint64 integer = argument->is_real ? (gint64) argument->real : argument->integer;
  gboolean as_float = parameter->type[0] == 'f' || (argument->is_real && parameter->type[0] == 'b');
  if (argument->is_real && !as_float && (double) integer != real)
    return FALSE;
  if (as_float && parameter->bytes == 8)
    memcpy (to, &real, 8);
  else if (as_float && parameter->bytes == 4)
    memcpy (to, &(float) {(float) real}, 4);
  else if (!as_float && parameter->bytes <= 8)
    {
      int bits = (int) parameter->bytes * 8;
      gboolean fits = bits == 64 || (integer >= -(1ll << (bits - 1)) && integer < (1ll << bits));
      memcpy (to, &integer, parameter->bytes);
      return fits;
    }
  else
    return FALSE;
  return TRUE;
}

static gboolean
fail_argument (Run *run, guint index, const char *why)
{
  end_reports (run);
  assay_channel_fail_message (run->channel, "arguments", "argument %u of %s: %s", index + 1,
                              run->entry->plain, why);
  return FALSE;
}

static gboolean
bind_arguments (Run *run, guint64 *storage, void **pointers)
{
  GArray *parameters = run->entry->parameters;
  GPtrArray *arguments = run->request->arguments;
  if (parameters->len != arguments->len)
    {
      end_reports (run);
      assay_channel_fail_message (run->channel, "arguments",
                                  "%s takes %u parameters, the task passes %u", run->entry->plain,
                                  parameters->len, arguments->len);
      return FALSE;
    }
  for (guint i = 0; i < arguments->len; i++)
    {
      const AssayWorkerArgument *argument = g_ptr_array_index (arguments, i);
      const AssayPtxParameter *parameter = &g_array_index (parameters, AssayPtxParameter, i);
      pointers[i] = &storage[i];
      if (!argument->array && !encode_number (argument, parameter, &storage[i]))
        {
          g_autofree char *why =
              g_strdup_printf ("the value does not fit the parameter's type .%s", parameter->type);
          return fail_argument (run, i, why);
        }
      if (argument->array && parameter->bytes != 8)
        return fail_argument (run, i, "the task passes an array, the kernel takes no pointer");
      for (guint k = 0; argument->array && k < run->request->arrays->len; k++)
        if (g_str_equal (run->arrays[k].mapped.array->name, argument->array))
          storage[i] = run->arrays[k].device + (guint64) run->arrays[k].mapped.array->offset;
    }
  return TRUE;
}

static gint64
extent (GArray *extents, guint axis)
{
  return extents && axis < extents->len ? g_array_index (extents, gint64, axis) : 1;
}

static void
tell_launch (Run *run)
{
  int registers = -1;
  JsonObject *fields = json_object_new ();
  run->driver.call.func_get_attribute (&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, run->function);
  json_object_set_string_member (fields, "kernel", run->entry->plain);
  json_object_set_int_member (fields, "registers", registers > 0 ? registers : -1);
  assay_channel_reply (run->channel, ASSAY_REPLY_LAUNCH, fields);
}

static gboolean
launch (Run *run)
{
  const AssayWorkerRequest *request = run->request;
  const AssayCudaDriver *call = &run->driver.call;
  g_autofree guint64 *storage = g_new0 (guint64, request->arguments->len + 1);
  g_autofree void **pointers = g_new0 (void *, request->arguments->len + 1);
  guint shape[6];
  if (!bind_arguments (run, storage, pointers))
    return FALSE;
  for (guint i = 0; i < 6; i++)
    {
      gint64 wanted = extent (i < 3 ? request->grid : request->block, i % 3);
      if (wanted < 0 || wanted > G_MAXUINT32)
        return fail_argument (run, i, "grid or block is beyond 32 bits");
      shape[i] = (guint) wanted;
    }
  tell_launch (run);
  /* Beyond 48 KiB dynamic shared memory has to be asked for; a launcher would have done so. */
  int code = CUDA_SUCCESS;
  if (request->shared > 48 * 1024)
    code = call->func_set_attribute (run->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                     (int) request->shared);
  if (code == CUDA_SUCCESS)
    code = call->launch_kernel (run->function, shape[0], shape[1], shape[2], shape[3], shape[4],
                                shape[5], (unsigned) request->shared, NULL, pointers, NULL);
  if (driver_failed (run, "launch", code))
    return FALSE;
  assay_channel_phase (run->channel, "synchronise");
  return !driver_failed (run, "the kernel did not finish", call->ctx_synchronize ());
}

/* What a kernel did to memory that it was only to read. */
static void
compare_input (Run *run, const DeviceArray *array, const char *now)
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
      run->entry->plain, wanted->name, changed, first, wanted->name, wanted->bytes, first);
  assay_channel_forward (run->channel, line);
}

static gboolean
download (Run *run)
{
  for (guint i = 0; i < run->request->arrays->len; i++)
    {
      DeviceArray *array = &run->arrays[i];
      gboolean input = g_str_equal (array->mapped.array->role, "in");
      if (array->mapped.bytes == 0)
        continue;
      g_autofree char *copy = input ? g_malloc (array->mapped.bytes) : NULL;
      int code = run->driver.call.memcpy_dtoh (copy ? copy : array->mapped.base, array->device,
                                               array->mapped.bytes);
      if (driver_failed (run, "results cannot be read back", code))
        return FALSE;
      if (copy)
        compare_input (run, array, copy);
    }
  return TRUE;
}

/* Freed in order, so that what is left over afterwards is the kernel's own leak. */
static void
close_device (Run *run)
{
  for (guint i = 0; i < run->request->arrays->len; i++)
    run->driver.call.mem_free (run->arrays[i].device);
  run->driver.call.module_unload (run->module);
  run->driver.call.primary_ctx_release ((CUdevice) run->request->device);
}

static void
set_alarm (Run *run)
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

static gboolean
map_arrays (Run *run)
{
  for (guint i = 0; i < run->request->arrays->len; i++)
    {
      g_autofree char *reason = NULL;
      if (!assay_worker_map (g_ptr_array_index (run->request->arrays, i), &run->arrays[i].mapped,
                             &reason))
        {
          end_reports (run);
          assay_channel_fail_message (run->channel, "request", "%s", reason);
          return FALSE;
        }
    }
  return TRUE;
}

typedef gboolean (*Step) (Run *run);

static const struct
{
  const char *phase;
  Step step;
} STEPS[] = {
    {"open", open_driver}, {"load", load_module}, {"allocate", map_arrays},
    {"upload", upload},    {"launch", launch},    {"download", download},
};

void
assay_worker_run (AssayChannel *channel, const AssayWorkerRequest *request)
{
  Run run = {.channel = channel, .request = request, .report_fds = {-1, -1}};
  g_autofree DeviceArray *arrays = g_new0 (DeviceArray, MAX (request->arrays->len, 1));
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
    {
      close_device (&run);
      end_reports (&run);
      assay_channel_reply (channel, ASSAY_REPLY_DONE, json_object_new ());
    }
  g_clear_pointer (&run.entries, g_ptr_array_unref);
}
