/* SPDX-License-Identifier: Apache-2.0 */
/* The same launch again and again, timed by the device's events, in turn with another worker. Before each one the
 * second-level cache is overwritten, the arrays are another copy than the time before, and what the launch writes
 * over is put back. */
#include "engine/perf/stop-rule.h"
#include "engine/perf/statistics.h"
#include "engine/worker/role-run.h"
#include "engine/worker/turns.h"

#include <math.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MOST_SETS 8
#define WARM_MOST 200      /* samples until it is timed as it is */
#define WARM_SECONDS 2.0   /* … or this long */
#define WARM_WINDOW 5      /* medians of so many, one after the other, */
#define WARM_SAME 0.01     /* differ by less: it is warm */
#define PILOT_ERROR 0.0025 /* of the mean of a round, relative */
#define FLUSH_FACTOR 2     /* times the cache */
#define FLUSH_LEAST (1 << 20)
#define SET_FACTOR 3 /* copies of the arrays fill the cache so often, when there is room */

typedef struct
{
  AssayDeviceRun *run;
  AssayTurns *turns;
  guint arrays, sets, next, taken;
  CUdeviceptr *addresses; /* sets × arrays */
  CUdeviceptr *pristine;  /* by array: what a launch writes over; 0 where it does not */
  CUdeviceptr flush;
  gsize flush_bytes, cache_bytes;
  CUevent begin, end;
} Bench;

static gboolean
failed (Bench *bench, const char *what, int code)
{
  return assay_run_driver_failed (bench->run, what, code);
}

static gboolean
is_role (const AssayDeviceArray *array, const char *role)
{
  return g_str_equal (array->mapped.array->role, role);
}

/* ---- memory ---- */

static gboolean
upload_one (Bench *bench, const AssayDeviceArray *array, CUdeviceptr *at)
{
  const AssayCudaDriver *call = &bench->run->driver.call;
  g_autofree char *what = g_strdup_printf ("memory for %s", array->mapped.array->name);
  int code = call->mem_alloc (at, MAX (array->mapped.bytes, 1));
  if (code == CUDA_SUCCESS && array->mapped.bytes > 0)
    code = call->memcpy_htod (*at, array->mapped.base, array->mapped.bytes);
  return !failed (bench, what, code);
}

/* As many copies as fill the cache several times, within half of what the device has free; at least two, but where
 * there is no room for them. */
static guint
count_sets (const Bench *bench)
{
  gsize bytes = 1, free_bytes = 0, total = 0;
  for (guint i = 0; i < bench->arrays; i++)
    bytes += bench->run->arrays[i].mapped.bytes;
  bench->run->driver.call.mem_get_info (&free_bytes, &total);
  gsize wanted = MAX (SET_FACTOR * bench->cache_bytes / bytes + 1, 2);
  return (guint) CLAMP (MIN (wanted, free_bytes / 2 / bytes), 1, MOST_SETS);
}

static gboolean
make_sets (Bench *bench)
{
  AssayDeviceRun *run = bench->run;
  for (guint set = 0; set < bench->sets; set++)
    for (guint i = 0; i < bench->arrays; i++)
      if (!upload_one (bench, &run->arrays[i], &bench->addresses[set * bench->arrays + i]))
        return FALSE;
  for (guint i = 0; i < bench->arrays; i++)
    if (is_role (&run->arrays[i], "inout")
        && !upload_one (bench, &run->arrays[i], &bench->pristine[i]))
      return FALSE;
  return TRUE;
}

static gboolean
map_turns (Bench *bench)
{
  int fd = (int) bench->run->request->turns_fd;
  struct stat status;
  void *mapped = MAP_FAILED;
  if (fstat (fd, &status) == 0 && status.st_size >= (off_t) sizeof (AssayTurns))
    mapped = mmap (NULL, sizeof (AssayTurns), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED)
    return assay_run_fail (bench->run, "request", "descriptor %d holds no turns", fd);
  bench->turns = mapped;
  return TRUE;
}

static gboolean
prepare (Bench *bench)
{
  AssayDeviceRun *run = bench->run;
  const AssayCudaDriver *call = &run->driver.call;
  int cache = 0;
  if (!map_turns (bench))
    return FALSE;
  int code = call->device_get_attribute (&cache, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE,
                                         (CUdevice) run->request->device);
  bench->cache_bytes = code == CUDA_SUCCESS && cache > 0 ? (gsize) cache : 0;
  bench->flush_bytes = MAX (FLUSH_FACTOR * bench->cache_bytes, FLUSH_LEAST);
  bench->sets = count_sets (bench);
  if (!make_sets (bench))
    return FALSE;
  code = call->mem_alloc (&bench->flush, bench->flush_bytes);
  if (code == CUDA_SUCCESS)
    code = call->event_create (&bench->begin, 0);
  if (code == CUDA_SUCCESS)
    code = call->event_create (&bench->end, 0);
  return !failed (bench, "memory to overwrite the cache with, and events", code);
}

/* ---- one sample ---- */

static double
now (void)
{
  struct timespec time;
  clock_gettime (CLOCK_MONOTONIC, &time);
  return (double) time.tv_sec + 1e-9 * (double) time.tv_nsec;
}

/* The next copy of the arrays, as it was at the start, and a cache that holds none of it. */
static int
turn_over (Bench *bench)
{
  AssayDeviceRun *run = bench->run;
  const AssayCudaDriver *call = &run->driver.call;
  const CUdeviceptr *set = bench->addresses + (bench->next++ % bench->sets) * bench->arrays;
  int code = CUDA_SUCCESS;
  for (guint i = 0; i < bench->arrays && code == CUDA_SUCCESS; i++)
    {
      AssayDeviceArray *array = &run->arrays[i];
      array->device = set[i];
      if (bench->pristine[i] && array->mapped.bytes > 0)
        code = call->memcpy_dtod (array->device, bench->pristine[i], array->mapped.bytes);
    }
  if (code == CUDA_SUCCESS)
    code = call->memset_d32 (bench->flush, bench->next, bench->flush_bytes / 4);
  return code;
}

static gboolean
take_sample (Bench *bench, double *event, double *host)
{
  AssayDeviceRun *run = bench->run;
  const AssayCudaDriver *call = &run->driver.call;
  float milliseconds = 0;
  if (failed (bench, "the arrays cannot be put back", turn_over (bench)))
    return FALSE;
  AssayLaunchPlan *plan =
      run->request->host ? assay_run_plan_host (run) : assay_run_plan_kernel (run);
  if (!plan)
    return FALSE;
  /* No waiting here: the device still overwrites its cache while these are put in its way, so that the time
   * to launch is not in what the events measure. */
  double before = now ();
  int code = call->event_record (bench->begin, NULL);
  if (code == CUDA_SUCCESS)
    code = assay_run_enqueue (run, plan);
  if (code == CUDA_SUCCESS)
    code = call->event_record (bench->end, NULL);
  if (code == CUDA_SUCCESS)
    code = call->event_synchronize (bench->end);
  *host = now () - before;
  if (code == CUDA_SUCCESS)
    code = call->event_elapsed_time (&milliseconds, bench->begin, bench->end);
  assay_launch_plan_free (plan);
  *event = 1e-3 * (double) milliseconds;
  return !failed (bench, "the timed launch", code);
}

/* ---- turns ---- */

static gboolean
is_steady (const double *times, guint count)
{
  if (count < 2 * WARM_WINDOW)
    return FALSE;
  double last = assay_median (times + count - WARM_WINDOW, WARM_WINDOW);
  double before = assay_median (times + count - 2 * WARM_WINDOW, WARM_WINDOW);
  return fabs (last - before) <= WARM_SAME * before;
}

static gboolean
warm_up (Bench *bench)
{
  double times[WARM_MOST], host, started = now ();
  guint count = 0;
  while (count < WARM_MOST && !is_steady (times, count)
         && (count < 3 || now () - started < WARM_SECONDS))
    if (!take_sample (bench, &times[count++], &host))
      return FALSE;
  bench->turns->warmed = (gint) count;
  bench->turns->steady = is_steady (times, count);
  return TRUE;
}

/* How many samples make a round as exact as is worth while. */
static gboolean
pilot (Bench *bench)
{
  AssayStopRule rule = {.kind = ASSAY_STOP_ERROR, .fewest = 5, .error = PILOT_ERROR};
  g_autoptr (AssayStop) stop = assay_stop_new (&rule);
  double event, host, started = now ();
  gint count = 0;
  for (; count < ASSAY_TURNS_MOST_SAMPLES && !assay_stop_reached (stop)
         && (count < 3 || now () - started < WARM_SECONDS);
       count++)
    {
      if (!take_sample (bench, &event, &host))
        return FALSE;
      assay_stop_add (stop, event);
    }
  bench->turns->wanted = count;
  return TRUE;
}

static gboolean
take_turn (Bench *bench, gint turn)
{
  gint samples = CLAMP (g_atomic_int_get (&bench->turns->samples), 0, ASSAY_TURNS_MOST_SAMPLES);
  if (turn == 1)
    return warm_up (bench) && pilot (bench);
  for (gint i = 0; i < samples && bench->taken < ASSAY_TURNS_TIMES; i++, bench->taken++)
    if (!take_sample (bench, &bench->turns->events[bench->taken],
                      &bench->turns->hosts[bench->taken]))
      return FALSE;
  return TRUE;
}

static gboolean
take_turns (Bench *bench)
{
  for (gint done = 0;;)
    {
      gint go = g_atomic_int_get (&bench->turns->go);
      if ((guint) go == ASSAY_TURNS_STOP)
        return TRUE;
      if (go == done)
        {
          g_usleep (ASSAY_TURNS_POLL_MICROSECONDS);
          continue;
        }
      if (!take_turn (bench, go))
        return FALSE;
      done = go;
      g_atomic_int_set (&bench->turns->done, done);
    }
}

/* ---- */

static void
finish (Bench *bench)
{
  const AssayCudaDriver *call = &bench->run->driver.call;
  JsonObject *fields = json_object_new ();
  json_object_set_int_member (fields, "cache_bytes", (gint64) bench->cache_bytes);
  json_object_set_int_member (fields, "flush_bytes", (gint64) bench->flush_bytes);
  json_object_set_int_member (fields, "sets", bench->sets);
  for (guint i = 0; i < bench->sets * bench->arrays; i++)
    call->mem_free (bench->addresses[i]);
  for (guint i = 0; i < bench->arrays; i++)
    if (bench->pristine[i])
      call->mem_free (bench->pristine[i]);
  call->mem_free (bench->flush);
  call->event_destroy (bench->begin);
  call->event_destroy (bench->end);
  call->module_unload (bench->run->module);
  call->primary_ctx_release ((CUdevice) bench->run->request->device);
  assay_channel_reply (bench->run->channel, ASSAY_REPLY_DONE, fields);
}

/* A driver may be the virtual GPU under another name, in tests. */
static gboolean
has_time (Bench *bench)
{
  if (!bench->run->driver.assayVgpuSet)
    return TRUE;
  AssayWorkerError *error = assay_worker_error_new ();
  error->kind = g_strdup ("environment");
  error->name = g_strdup (ASSAY_TURNS_NO_TIME);
  error->message = g_strdup ("the driver is the virtual GPU, which has no notion of time");
  assay_channel_fail (bench->run->channel, error);
  return FALSE;
}

static gboolean
announce (Bench *bench, const char *phase)
{
  assay_channel_phase (bench->run->channel, phase);
  return TRUE;
}

void
assay_worker_bench (AssayChannel *channel, const AssayWorkerRequest *request)
{
  guint count = request->arrays->len;
  AssayDeviceRun run = {.channel = channel, .request = request, .report_fds = {-1, -1}};
  Bench bench = {.run = &run, .arrays = count};
  g_autofree AssayDeviceArray *arrays = g_new0 (AssayDeviceArray, MAX (count, 1));
  g_autofree CUdeviceptr *addresses = g_new0 (CUdeviceptr, MAX (MOST_SETS * count, 1));
  g_autofree CUdeviceptr *pristine = g_new0 (CUdeviceptr, MAX (count, 1));
  run.arrays = arrays;
  bench.addresses = addresses;
  bench.pristine = pristine;
  if (announce (&bench, "open") && assay_run_open_driver (&run) && has_time (&bench)
      && announce (&bench, "load") && assay_run_load_module (&run) && announce (&bench, "allocate")
      && assay_run_map_arrays (&run) && announce (&bench, "upload") && prepare (&bench)
      && announce (&bench, "measure") && take_turns (&bench) && announce (&bench, "download")
      && assay_run_download (&run))
    finish (&bench);
  g_clear_pointer (&run.entries, g_ptr_array_unref);
}
