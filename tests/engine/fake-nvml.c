/* SPDX-License-Identifier: Apache-2.0 */
/* A management library without a GPU: two devices, in the other order than the fake driver's would be,
 * whose figures a test knows. ASSAY_FAKE_NVML: "hang" (never answers), "version" (does not start), "old"
 * (a library of before the newer names). */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOT_SUPPORTED 3
#define VERSION_MISMATCH 18

static int
fault (const char *name)
{
  const char *wanted = getenv ("ASSAY_FAKE_NVML");
  return wanted && strcmp (wanted, name) == 0;
}

/* Handles: 1 and 2, for index 0 and 1. */
static int
second (void *device)
{
  return device == (void *) 2;
}

int
nvmlInit_v2 (void)
{
  while (fault ("hang"))
    sleep (1);
  return fault ("version") ? VERSION_MISMATCH : 0;
}

int
nvmlShutdown (void)
{
  return 0;
}

const char *
nvmlErrorString (int code)
{
  return code == VERSION_MISMATCH ? "Driver/library version mismatch" : "error";
}

int
nvmlSystemGetDriverVersion (char *text, unsigned int bytes)
{
  strncpy (text, "550.54.15", bytes);
  return 0;
}

int
nvmlSystemGetCudaDriverVersion_v2 (int *version)
{
  *version = 12040;
  return 0;
}

int
nvmlDeviceGetCount_v2 (unsigned int *count)
{
  *count = 2;
  return 0;
}

int
nvmlDeviceGetHandleByIndex_v2 (unsigned int index, void **device)
{
  *device = (void *) (size_t) (index + 1);
  return 0;
}

int
nvmlDeviceGetName (void *device, char *text, unsigned int bytes)
{
  strncpy (text, second (device) ? "Fake GPU" : "Another GPU", bytes);
  return 0;
}

int
nvmlDeviceGetUUID (void *device, char *text, unsigned int bytes)
{
  strncpy (text,
           second (device) ? "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f"
                           : "GPU-ffffffff-ffff-ffff-ffff-ffffffffffff",
           bytes);
  return 0;
}

int
nvmlDeviceGetCudaComputeCapability (void *device, int *major, int *minor)
{
  *major = 8;
  *minor = 0;
  return 0;
}

int
nvmlDeviceGetMemoryInfo (void *device, unsigned long long *memory)
{
  memory[0] = 80ull << 30;
  memory[1] = 79ull << 30;
  memory[2] = 1ull << 30;
  return 0;
}

int
nvmlDeviceGetClockInfo (void *device, int type, unsigned int *mhz)
{
  *mhz = type == 1 ? 1200 : 1593;
  return 0;
}

int
nvmlDeviceGetMaxClockInfo (void *device, int type, unsigned int *mhz)
{
  *mhz = type == 1 ? 1410 : 1593;
  return 0;
}

int
nvmlDeviceGetPowerUsage (void *device, unsigned int *milliwatts)
{
  *milliwatts = 399500;
  return second (device) ? 0 : NOT_SUPPORTED;
}

int
nvmlDeviceGetEnforcedPowerLimit (void *device, unsigned int *milliwatts)
{
  *milliwatts = 400000;
  return 0;
}

int
nvmlDeviceGetTemperature (void *device, int sensor, unsigned int *degrees)
{
  *degrees = 71;
  return 0;
}

int
nvmlDeviceGetCurrentClocksEventReasons (void *device, unsigned long long *bits)
{
  *bits = second (device) ? 0x4 | 0x1 : 0;
  return fault ("old") ? 13 : 0;
}

int
nvmlDeviceGetCurrentClocksThrottleReasons (void *device, unsigned long long *bits)
{
  *bits = 0x40;
  return 0;
}

int
nvmlDeviceGetMigMode (void *device, unsigned int *now, unsigned int *next)
{
  *now = *next = !second (device);
  return 0;
}

typedef struct
{
  unsigned int pid;
  unsigned long long memory;
  unsigned int gpu_instance, compute_instance;
} Process;

int
nvmlDeviceGetComputeRunningProcesses_v3 (void *device, unsigned int *count, Process *list)
{
  *count = second (device) ? 2 : 0;
  list[0] = (Process) {.pid = 4711, .memory = 3ull << 30};
  list[1] = (Process) {.pid = 4712, .memory = ~0ull};
  return 0;
}
