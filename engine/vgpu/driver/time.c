/* SPDX-License-Identifier: Apache-2.0 */
/* A model of time, for programs that cannot go on without one. It knows how much was done, and nothing of how
 * well: no cache, no latency, no overlap. */
#include "engine/vgpu/driver/work.h"

#include "engine/vgpu/check/text.h"

#define CLOCK_HZ 1.4e9
#define ISSUED_A_CLOCK 4.0 /* warp instructions, of each multiprocessor */
#define LAUNCH_SECONDS 2.5e-6
#define COPY_SECONDS 5e-6
#define BUS_BYTES_A_SECOND 25e9
#define MEMORY_BYTES_A_SECOND 1e12

double
vgpu_time_of_launch (uint64_t instructions, uint64_t blocks)
{
  uint64_t busy = vgpu_driver.settings.target->sm_count;
  busy = blocks < busy ? blocks : busy;
  return LAUNCH_SECONDS
         + (double) instructions / (ISSUED_A_CLOCK * CLOCK_HZ * (double) (busy > 0 ? busy : 1));
}

double
vgpu_time_of_bytes (uint64_t bytes, bool over_bus)
{
  return COPY_SECONDS + (double) bytes / (over_bus ? BUS_BYTES_A_SECOND : MEMORY_BYTES_A_SECOND);
}

void
vgpu_time_told (void)
{
  static bool told;
  VgpuText line = {0};
  if (told || vgpu_driver.settings.time != VGPU_TIME_MODEL || !vgpu_stream_is_open ())
    return;
  told = true;
  vgpu_text_add (&line, "{\"type\":\"time\",\"source\":\"model\",\"validated\":false}");
  vgpu_stream_write (&line);
  vgpu_text_clear (&line);
}
