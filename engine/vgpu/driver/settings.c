/* SPDX-License-Identifier: Apache-2.0 */
/* Settings, and the functions that only the virtual GPU has. */
#include "engine/vgpu/check/record.h"
#include "engine/vgpu/check/text.h"
#include "engine/vgpu/driver/driver.h"
#include "engine/vgpu/exec/run.h"

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char last_error[1024];

void
vgpu_explain (const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  vsnprintf (last_error, sizeof last_error, format, arguments);
  va_end (arguments);
}

const char *
assayVgpuLastError (void)
{
  return last_error;
}

void
vgpu_settings_defaults (void)
{
  VgpuSettings *settings = &vgpu_driver.settings;
  if (settings->target != NULL)
    return;
  vgpu_choose_handlers (VGPU_WIDEST);
  *settings = (VgpuSettings) {.target = assay_target_limits ("sm_80"),
                              .checks = VGPU_CHECK_SYNC | VGPU_CHECK_COUNTS,
                              .print_cap = 1 << 20};
}

uint32_t
vgpu_settings_threads (void)
{
  cpu_set_t set;
  if (vgpu_driver.settings.threads > 0)
    return vgpu_driver.settings.threads;
  if (sched_getaffinity (0, sizeof set, &set) != 0)
    return 1;
  int count = CPU_COUNT (&set);
  return count > 0 ? (uint32_t) count : 1;
}

static bool
read_number (const char *value, uint64_t most, uint64_t *number)
{
  char *end;
  errno = 0;
  unsigned long long read = strtoull (value, &end, 10);
  if (*value < '0' || *value > '9' || *end != '\0' || errno != 0 || read > most)
    return false;
  *number = read;
  return true;
}

static bool
set_target (const char *value)
{
  const AssayTargetLimits *target = assay_target_limits (value);
  if (target != NULL)
    vgpu_driver.settings.target = target;
  return target != NULL;
}

static bool
set_checks (const char *value)
{
  static const struct
  {
    const char *name;
    uint32_t checks;
  } checks[] = {
      {"none", 0},
      {"all", VGPU_CHECK_ALL},
      {"uninit", VGPU_CHECK_UNINIT},
      {"race", VGPU_CHECK_RACE},
      {"race-global", VGPU_CHECK_RACE_GLOBAL},
      {"sync", VGPU_CHECK_SYNC},
      {"counts", VGPU_CHECK_COUNTS},
      {"leak", VGPU_CHECK_LEAK},
      {"bounds", 0},
      {"align", 0},
  };
  uint32_t wanted = 0;
  while (*value != '\0')
    {
      size_t length = strcspn (value, ",");
      bool known = length == 0;
      for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
        if (strlen (checks[i].name) == length && strncmp (checks[i].name, value, length) == 0)
          {
            wanted |= checks[i].checks;
            known = true;
          }
      if (!known)
        return false;
      value += length + (value[length] == ',');
    }
  vgpu_driver.settings.checks = wanted;
  return true;
}

static bool
set_math (const char *value)
{
  bool ideal = strcmp (value, "ideal") == 0;
  if (!ideal && strcmp (value, "adversarial") != 0)
    return false;
  vgpu_driver.settings.math = ideal ? VGPU_MATH_IDEAL : VGPU_MATH_ADVERSARIAL;
  return true;
}

static bool
set_threads (const char *value)
{
  uint64_t number;
  if (!read_number (value, 1024, &number))
    return false;
  vgpu_driver.settings.threads = (uint32_t) number;
  return true;
}

static bool
set_seed (const char *value)
{
  return read_number (value, UINT64_MAX, &vgpu_driver.settings.seed);
}

static bool
set_report_fd (const char *value)
{
  uint64_t number;
  vgpu_reports_forget ();
  if (strcmp (value, "-1") == 0)
    {
      vgpu_stream_open (-1);
      return true;
    }
  if (!read_number (value, 1 << 20, &number))
    return false;
  vgpu_stream_open ((int) number);
  return true;
}

static bool
set_max_instructions (const char *value)
{
  return read_number (value, UINT64_MAX, &vgpu_driver.settings.max_instructions);
}

static bool
set_print_cap (const char *value)
{
  return read_number (value, (uint64_t) 1 << 32, &vgpu_driver.settings.print_cap);
}

static bool
set_max_reports (const char *value)
{
  uint64_t number;
  if (!read_number (value, 100000, &number))
    return false;
  vgpu_reports_limit (number);
  return true;
}

static bool
set_continue (const char *value)
{
  uint64_t number;
  if (!read_number (value, 1, &number))
    return false;
  vgpu_driver.settings.continue_on_fault = number != 0;
  return true;
}

static bool
set_streams (const char *value)
{
  static const char *const modes[] = {"eager", "late", "thread"};
  for (int i = 0; i < 3; i++)
    if (strcmp (modes[i], value) == 0)
      {
        vgpu_driver.settings.streams = i;
        return true;
      }
  return false;
}

static bool
set_print (const char *value)
{
  vgpu_driver.settings.print_to_stdout = strcmp (value, "stdout") == 0;
  return vgpu_driver.settings.print_to_stdout || strcmp (value, "report") == 0;
}

static bool
set_time (const char *value)
{
  static const char *const names[] = {"none", "host", "model"};
  for (int i = 0; i < 3; i++)
    if (strcmp (value, names[i]) == 0)
      {
        vgpu_driver.settings.time = i;
        return true;
      }
  return false;
}

static bool
set_host (const char *value)
{
  static const char *const names[] = {"plain", "avx2", "best"};
  for (int i = 0; i <= VGPU_WIDEST; i++)
    if (strcmp (value, names[i]) == 0)
      {
        vgpu_choose_handlers (i);
        return true;
      }
  return false;
}

static const struct
{
  const char *key;
  bool (*set) (const char *value);
} keys[] = {
    {"target", set_target},
    {"checks", set_checks},
    {"math", set_math},
    {"threads", set_threads},
    {"host", set_host},
    {"print", set_print},
    {"streams", set_streams},
    {"time", set_time},
    {"seed", set_seed},
    {"report_fd", set_report_fd},
    {"max_instructions", set_max_instructions},
    {"print_cap_bytes", set_print_cap},
    {"max_reports", set_max_reports},
    {"continue_on_fault", set_continue},
};

static bool
apply (const char *key, const char *value)
{
  vgpu_settings_defaults ();
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
    if (strcmp (keys[i].key, key) == 0)
      {
        if (keys[i].set (value))
          return true;
        vgpu_explain ("virtual GPU: '%s' is no value for %s", value, key);
        return false;
      }
  vgpu_explain ("virtual GPU: there is no setting '%s'", key);
  return false;
}

bool
vgpu_settings_apply (const char *text)
{
  bool good = true;
  while (*text != '\0')
    {
      char key[32] = "", value[192] = "";
      size_t length = strcspn (text, ";");
      const char *equals = memchr (text, '=', length);
      if (equals != NULL && (size_t) (equals - text) < sizeof key
          && length - (size_t) (equals - text) <= sizeof value)
        {
          memcpy (key, text, (size_t) (equals - text));
          memcpy (value, equals + 1, length - (size_t) (equals - text) - 1);
          good = apply (key, value) && good;
        }
      else if (length > 0)
        {
          vgpu_explain ("virtual GPU: '%.*s' is no key=value", (int) length, text);
          good = false;
        }
      text += length + (text[length] == ';');
    }
  return good;
}

int
assayVgpuSet (const char *key, const char *value)
{
  if (key == NULL || value == NULL)
    return -1;
  pthread_mutex_lock (&vgpu_driver.lock);
  bool good = apply (key, value);
  pthread_mutex_unlock (&vgpu_driver.lock);
  return good ? 0 : -1;
}

void
assayVgpuInterrupt (void)
{
  atomic_store (&vgpu_driver.interrupt, 1);
}

void
assayVgpuReport (const char *rule, const char *message, const char *kernel)
{
  vgpu_report_launch (rule, message, kernel);
}

static VgpuAllocation *
find_live (CUdeviceptr pointer, size_t bytes)
{
  CUcontext context = vgpu_current ();
  VgpuAllocation *allocation = context != NULL ? vgpu_memory_find (context->memory, pointer) : NULL;
  if (allocation == NULL || allocation->freed || allocation->hi - pointer < bytes)
    {
      vgpu_explain ("virtual GPU: 0x%llx and %zu bytes are in no allocation", pointer, bytes);
      return NULL;
    }
  return allocation;
}

int
assayVgpuNameAllocation (CUdeviceptr pointer, const char *name)
{
  pthread_mutex_lock (&vgpu_driver.lock);
  VgpuAllocation *allocation = find_live (pointer, 0);
  if (allocation != NULL)
    snprintf (allocation->name, sizeof allocation->name, "%s", name);
  pthread_mutex_unlock (&vgpu_driver.lock);
  return allocation != NULL ? 0 : -1;
}

static int
mark (CUdeviceptr pointer, size_t bytes, bool initialised)
{
  pthread_mutex_lock (&vgpu_driver.lock);
  VgpuAllocation *allocation = find_live (pointer, bytes);
  if (allocation != NULL)
    vgpu_allocation_mark (allocation, pointer, bytes, initialised);
  pthread_mutex_unlock (&vgpu_driver.lock);
  return allocation != NULL ? 0 : -1;
}

int
assayVgpuMarkInitialised (CUdeviceptr pointer, size_t bytes)
{
  return mark (pointer, bytes, true);
}

int
assayVgpuMarkUninitialised (CUdeviceptr pointer, size_t bytes)
{
  return mark (pointer, bytes, false);
}
