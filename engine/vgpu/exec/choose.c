/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/vgpu/exec/run.h"
#include "engine/vgpu/ptx/operation.h"

#include <stddef.h>

extern const VgpuHandler vgpu_base_handlers[VGPU_OP_COUNT];
const VgpuHandler *vgpu_handlers = vgpu_base_handlers;

bool
vgpu_handlers_are_plain (void)
{
  return vgpu_handlers == vgpu_base_handlers;
}

#ifdef VGPU_HAVE_V3
extern const VgpuHandler vgpu_v3_handlers[VGPU_OP_COUNT];

static int
can_run_v3 (void)
{
  return __builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma")
         && __builtin_cpu_supports ("bmi2") && __builtin_cpu_supports ("f16c");
}
#endif

#ifdef VGPU_HAVE_V4
extern const VgpuHandler vgpu_v4_handlers[VGPU_OP_COUNT];

static int
can_run_v4 (void)
{
  return can_run_v3 () && __builtin_cpu_supports ("avx512f") && __builtin_cpu_supports ("avx512bw")
         && __builtin_cpu_supports ("avx512cd") && __builtin_cpu_supports ("avx512dq")
         && __builtin_cpu_supports ("avx512vl");
}
#endif

const char *
vgpu_use_handlers (int number)
{
  if (number == 0)
    {
      vgpu_handlers = vgpu_base_handlers;
      return "plain";
    }
#ifdef VGPU_HAVE_V3
  if (number == 1 && can_run_v3 ())
    {
      vgpu_handlers = vgpu_v3_handlers;
      return "AVX2 and FMA";
    }
#endif
#ifdef VGPU_HAVE_V4
  if (number == 2 && can_run_v4 ())
    {
      vgpu_handlers = vgpu_v4_handlers;
      return "AVX-512";
    }
#endif
  return NULL;
}

void
vgpu_choose_handlers (int most)
{
  for (int number = most; number >= 0; number--)
    if (vgpu_use_handlers (number) != NULL)
      return;
}
