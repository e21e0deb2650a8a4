/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/device/nvml.h"

#include "engine/base/error.h"

#include <dlfcn.h>

#define QUOTE(text) #text
#define NVML_SUCCESS 0
#define NVML_INSUFFICIENT_SIZE 7
#define MOST_PROCESSES 256

#define FIELD(Type, member, KIND, ...) ASSAY_JSON_FIELD (Type, member, #member, KIND, __VA_ARGS__)
#define F(member, KIND, ...) FIELD (T, member, KIND, __VA_ARGS__)

#define T AssayGpuProcess
static const AssayJsonField PROCESS_FIELDS[] = {
    F (pid, INT),
    F (memory_bytes, UINT),
    ASSAY_JSON_END,
};
#undef T
const AssayJsonTable ASSAY_GPU_PROCESS_TABLE = {"GPU process", sizeof (AssayGpuProcess),
                                                PROCESS_FIELDS, NULL};

static void
initialise_state (gpointer self)
{
  AssayGpuState *state = self;
  state->sm_clock_mhz = state->sm_clock_max_mhz = -1;
  state->memory_clock_mhz = state->memory_clock_max_mhz = -1;
  state->power_watts = state->power_limit_watts = state->temperature_celsius = -1;
  state->utilization_percent = state->performance_state = -1;
  state->persistence = state->mig = state->ecc = -1;
}

#define T AssayGpuState
static const AssayJsonField STATE_FIELDS[] = {
    F (uuid, STRING),
    F (name, STRING),
    F (target, STRING),
    F (memory_total_bytes, UINT),
    F (memory_used_bytes, UINT),
    F (memory_free_bytes, UINT),
    F (sm_clock_mhz, INT),
    F (sm_clock_max_mhz, INT),
    F (memory_clock_mhz, INT),
    F (memory_clock_max_mhz, INT),
    F (power_watts, DOUBLE),
    F (power_limit_watts, DOUBLE),
    F (temperature_celsius, DOUBLE),
    F (utilization_percent, INT),
    F (performance_state, INT),
    F (persistence, INT),
    F (mig, INT),
    F (ecc, INT),
    F (throttle, STRV),
    F (processes, LIST, .table = &ASSAY_GPU_PROCESS_TABLE),
    ASSAY_JSON_END,
};
#undef T
const AssayJsonTable ASSAY_GPU_STATE_TABLE = {"GPU state", sizeof (AssayGpuState), STATE_FIELDS,
                                              initialise_state};

#define T AssayNvmlReading
static const AssayJsonField READING_FIELDS[] = {
    F (driver, STRING),
    F (cuda_version, STRING),
    F (devices, LIST, .table = &ASSAY_GPU_STATE_TABLE),
    ASSAY_JSON_END,
};
#undef T
const AssayJsonTable ASSAY_NVML_READING_TABLE = {"NVML reading", sizeof (AssayNvmlReading),
                                                 READING_FIELDS, NULL};

/* ---- the library ---- */

typedef void *Device;
typedef struct
{
  unsigned long long total, free, used;
} Memory;
typedef struct
{
  unsigned int gpu, memory;
} Utilization;
typedef struct
{
  unsigned int pid;
  unsigned long long memory;
  unsigned int gpu_instance, compute_instance;
} Process;

/* X (needed, symbol, member, parameters): every function returns 0 or an error code. */
/* clang-format off */
#define NVML(X) \
  X (1, nvmlInit_v2, init, (void)) \
  X (1, nvmlShutdown, shutdown, (void)) \
  X (0, nvmlSystemGetDriverVersion, driver_version, (char *text, unsigned int bytes)) \
  X (0, nvmlSystemGetCudaDriverVersion_v2, cuda_version, (int *version)) \
  X (1, nvmlDeviceGetCount_v2, count, (unsigned int *count)) \
  X (1, nvmlDeviceGetHandleByIndex_v2, by_index, (unsigned int index, Device *device)) \
  X (0, nvmlDeviceGetName, name, (Device device, char *text, unsigned int bytes)) \
  X (0, nvmlDeviceGetUUID, uuid, (Device device, char *text, unsigned int bytes)) \
  X (0, nvmlDeviceGetCudaComputeCapability, capability, (Device device, int *major, int *minor)) \
  X (0, nvmlDeviceGetMemoryInfo, memory, (Device device, Memory *memory)) \
  X (0, nvmlDeviceGetClockInfo, clock, (Device device, int type, unsigned int *mhz)) \
  X (0, nvmlDeviceGetMaxClockInfo, max_clock, (Device device, int type, unsigned int *mhz)) \
  X (0, nvmlDeviceGetPowerUsage, power, (Device device, unsigned int *milliwatts)) \
  X (0, nvmlDeviceGetEnforcedPowerLimit, power_limit, (Device device, unsigned int *milliwatts)) \
  X (0, nvmlDeviceGetTemperature, temperature, (Device device, int sensor, unsigned int *degrees)) \
  X (0, nvmlDeviceGetUtilizationRates, utilization, (Device device, Utilization *rates)) \
  X (0, nvmlDeviceGetPerformanceState, state, (Device device, int *state)) \
  X (0, nvmlDeviceGetPersistenceMode, persistence, (Device device, int *mode)) \
  X (0, nvmlDeviceGetMigMode, mig, (Device device, unsigned int *now, unsigned int *next)) \
  X (0, nvmlDeviceGetEccMode, ecc, (Device device, int *now, int *next)) \
  X (0, nvmlDeviceGetCurrentClocksEventReasons, event_reasons, (Device device, unsigned long long *bits)) \
  X (0, nvmlDeviceGetCurrentClocksThrottleReasons, throttle_reasons, (Device device, unsigned long long *bits)) \
  X (0, nvmlDeviceGetComputeRunningProcesses_v3, processes, (Device device, unsigned int *count, Process *list))
/* clang-format on */

enum
{
  CLOCK_SM = 1,
  CLOCK_MEMORY = 2,
  SENSOR_GPU = 0,
};

typedef struct
{
  void *library;
  const char *(*error_string) (int code);
#define MEMBER(needed, symbol, member, parameters) int (*member) parameters;
  NVML (MEMBER)
#undef MEMBER
} Nvml;

/* Idle is no throttling, and the application's own clock setting is one that lasts. */
static const struct
{
  guint64 bit;
  const char *name;
} REASONS[] = {
    {0x40, "thermal slowdown, hardware"},
    {0x80, "power brake, hardware"},
    {0x08, "slowdown, hardware"},
    {0x20, "thermal slowdown, software"},
    {0x04, "power cap, software"},
    {0x02, "application clocks"},
    {0x10, "sync boost"},
    {0x100, "display clocks"},
};

char **
assay_nvml_throttle_names (guint64 bits)
{
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();
  for (gsize i = 0; i < G_N_ELEMENTS (REASONS); i++)
    if (bits & REASONS[i].bit)
      g_strv_builder_add (names, REASONS[i].name);
  return g_strv_builder_end (names);
}

static gboolean
open_library (Nvml *nvml, const char *path, GError **error)
{
  const char *missing = NULL;
  *nvml = (Nvml) {.library = dlopen (path, RTLD_NOW | RTLD_LOCAL)};
  if (!nvml->library)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_NOT_FOUND, "no management library: %s",
                   dlerror ());
      return FALSE;
    }
  *(void **) &nvml->error_string = dlsym (nvml->library, "nvmlErrorString");
#define RESOLVE(needed, symbol, member, parameters)                                                \
  *(void **) &nvml->member = dlsym (nvml->library, QUOTE (symbol));                                \
  if (needed && !nvml->member && !missing)                                                         \
    missing = QUOTE (symbol);
  NVML (RESOLVE)
#undef RESOLVE
  if (missing)
    g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_UNSUPPORTED, "%s has no %s", path, missing);
  return missing == NULL;
}

/* ---- one device ---- */

/* The call was made and answered. */
#define GOT(nvml, member, ...) ((nvml)->member && (nvml)->member (__VA_ARGS__) == NVML_SUCCESS)

static gint64
clock_of (int (*call) (Device, int, unsigned int *), Device device, int type)
{
  unsigned int mhz = 0;
  return call && call (device, type, &mhz) == NVML_SUCCESS ? (gint64) mhz : -1;
}

static double
watts_of (int (*call) (Device, unsigned int *), Device device)
{
  unsigned int milliwatts = 0;
  return call && call (device, &milliwatts) == NVML_SUCCESS ? milliwatts / 1000.0 : -1;
}

static void
read_identity (const Nvml *nvml, Device device, AssayGpuState *state)
{
  char text[256] = "";
  int major = 0, minor = 0;
  Memory memory = {0};
  if (GOT (nvml, name, device, text, sizeof text - 1))
    state->name = g_strdup (text);
  if (GOT (nvml, uuid, device, text, sizeof text - 1))
    state->uuid = g_strdup (text);
  if (GOT (nvml, capability, device, &major, &minor))
    state->target = g_strdup_printf ("sm_%d%d", major, minor);
  if (GOT (nvml, memory, device, &memory))
    {
      state->memory_total_bytes = memory.total;
      state->memory_used_bytes = memory.used;
      state->memory_free_bytes = memory.free;
    }
}

static void
read_modes (const Nvml *nvml, Device device, AssayGpuState *state)
{
  unsigned int now = 0, next = 0;
  int mode = 0, later = 0;
  if (GOT (nvml, state, device, &mode))
    state->performance_state = mode;
  if (GOT (nvml, persistence, device, &mode))
    state->persistence = mode;
  if (GOT (nvml, mig, device, &now, &next))
    state->mig = now;
  if (GOT (nvml, ecc, device, &mode, &later))
    state->ecc = mode;
}

static void
read_load (const Nvml *nvml, Device device, AssayGpuState *state)
{
  unsigned int degrees = 0;
  unsigned long long bits = 0;
  Utilization rates = {0};
  state->sm_clock_mhz = clock_of (nvml->clock, device, CLOCK_SM);
  state->sm_clock_max_mhz = clock_of (nvml->max_clock, device, CLOCK_SM);
  state->memory_clock_mhz = clock_of (nvml->clock, device, CLOCK_MEMORY);
  state->memory_clock_max_mhz = clock_of (nvml->max_clock, device, CLOCK_MEMORY);
  state->power_watts = watts_of (nvml->power, device);
  state->power_limit_watts = watts_of (nvml->power_limit, device);
  if (GOT (nvml, temperature, device, SENSOR_GPU, &degrees))
    state->temperature_celsius = degrees;
  if (GOT (nvml, utilization, device, &rates))
    state->utilization_percent = rates.gpu;
  if (GOT (nvml, event_reasons, device, &bits) || GOT (nvml, throttle_reasons, device, &bits))
    state->throttle = assay_nvml_throttle_names (bits);
}

static void
read_processes (const Nvml *nvml, Device device, AssayGpuState *state)
{
  Process list[MOST_PROCESSES];
  unsigned int count = MOST_PROCESSES;
  if (!nvml->processes)
    return;
  int code = nvml->processes (device, &count, list);
  if (code != NVML_SUCCESS && code != NVML_INSUFFICIENT_SIZE)
    return;
  for (unsigned int i = 0; i < MIN (count, MOST_PROCESSES); i++)
    {
      AssayGpuProcess *process = assay_gpu_process_new ();
      process->pid = list[i].pid;
      /* All bits set: not available. */
      process->memory_bytes = list[i].memory == G_MAXUINT64 ? 0 : list[i].memory;
      g_ptr_array_add (state->processes, process);
    }
}

static AssayNvmlReading *
read_all (const Nvml *nvml)
{
  AssayNvmlReading *reading = assay_nvml_reading_new ();
  char text[128] = "";
  int version = 0;
  unsigned int count = 0;
  if (GOT (nvml, driver_version, text, sizeof text - 1))
    reading->driver = g_strdup (text);
  if (GOT (nvml, cuda_version, &version))
    reading->cuda_version = g_strdup_printf ("%d.%d", version / 1000, version % 1000 / 10);
  if (nvml->count (&count) != NVML_SUCCESS)
    count = 0;
  for (unsigned int i = 0; i < count; i++)
    {
      AssayGpuState *state = assay_gpu_state_new ();
      Device device = NULL;
      if (nvml->by_index (i, &device) == NVML_SUCCESS)
        {
          read_identity (nvml, device, state);
          read_modes (nvml, device, state);
          read_load (nvml, device, state);
          read_processes (nvml, device, state);
        }
      g_ptr_array_add (reading->devices, state);
    }
  return reading;
}

/* ---- with a deadline ---- */

typedef struct
{
  GMutex lock;
  GCond answered;
  char *path;
  AssayNvmlReading *reading;
  GError *error;
  gboolean done, abandoned; /* whoever comes second frees it */
} Question;

static void
question_free (Question *question)
{
  g_mutex_clear (&question->lock);
  g_cond_clear (&question->answered);
  g_clear_pointer (&question->reading, assay_nvml_reading_free);
  g_clear_error (&question->error);
  g_free (question->path);
  g_free (question);
}

/* The library stays loaded: it has threads of its own. */
static AssayNvmlReading *
ask_library (const char *path, GError **error)
{
  Nvml nvml;
  if (!open_library (&nvml, path, error))
    return NULL;
  int code = nvml.init ();
  if (code != NVML_SUCCESS)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_UNSUPPORTED,
                   "the management library does not start: %s (%d)",
                   nvml.error_string ? nvml.error_string (code) : "error", code);
      return NULL;
    }
  AssayNvmlReading *reading = read_all (&nvml);
  nvml.shutdown ();
  return reading;
}

static gpointer
answer (gpointer data)
{
  Question *question = data;
  GError *error = NULL;
  AssayNvmlReading *reading = ask_library (question->path, &error);
  g_mutex_lock (&question->lock);
  question->reading = reading;
  question->error = error;
  question->done = TRUE;
  gboolean alone = question->abandoned;
  g_cond_signal (&question->answered);
  g_mutex_unlock (&question->lock);
  if (alone)
    question_free (question);
  return NULL;
}

AssayNvmlReading *
assay_nvml_read (const char *library, double seconds, GError **error)
{
  Question *question = g_new0 (Question, 1);
  gint64 deadline = g_get_monotonic_time () + (gint64) (seconds * G_TIME_SPAN_SECOND);
  g_mutex_init (&question->lock);
  g_cond_init (&question->answered);
  question->path = g_strdup (library ? library : "libnvidia-ml.so.1");
  g_thread_unref (g_thread_new ("nvml", answer, question));
  g_mutex_lock (&question->lock);
  while (!question->done)
    if (!g_cond_wait_until (&question->answered, &question->lock, deadline))
      break;
  question->abandoned = !question->done;
  gboolean late = question->abandoned;
  g_mutex_unlock (&question->lock);
  if (late)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_LOST,
                   "the management library did not answer within %.0f s: a GPU may be wedged "
                   "(nvidia-smi would hang as well)",
                   seconds);
      return NULL;
    }
  AssayNvmlReading *reading = g_steal_pointer (&question->reading);
  if (question->error)
    g_propagate_error (error, g_steal_pointer (&question->error));
  question_free (question);
  return reading;
}
