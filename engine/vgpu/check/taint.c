/* SPDX-License-Identifier: Apache-2.0 */
/* Uninitialised values: each register row carries a mask of lanes whose value came from bytes that
 * nobody wrote. Moving such a value about is harmless; using it is reported, with the line of the
 * load that brought it. */
#include "engine/vgpu/check/check.h"

#include <stdio.h>

static uint32_t
poison_of (const VgpuWarp *warp, int32_t row)
{
  return row < 0 ? 0 : warp->poison[row / VGPU_ROW_UNIT];
}

void
vgpu_taint_used (VgpuWarp *warp, const VgpuIns *ins, int32_t row, uint32_t mask, const char *how)
{
  uint32_t *poison = &warp->poison[row / VGPU_ROW_UNIT];
  uint32_t origin = warp->origin[row / VGPU_ROW_UNIT];
  const VgpuIns *load = &warp->kernel->code[origin];
  char text[200];
  VgpuFinding finding = vgpu_finding ("mem.uninitialised", load, (uint32_t) __builtin_ctz (mask));
  VgpuPlace place = vgpu_source_place (warp->kernel->source, ins->location);
  /* Only what reads global memory remembers an allocation. */
  bool shared = load->op == warp->kernel->load_shared_op
                || warp->worker->sites[load->site].allocation == NULL;
  VgpuRequest request = {.space = shared ? VGPU_SPACE_SHARED : VGPU_SPACE_GLOBAL,
                         .access = VGPU_ACCESS_READ,
                         .bytes = (uint32_t) load->bytes * load->vec,
                         .align = 1};
  if (place.line > 0)
    snprintf (text, sizeof text,
              "reads %u bytes of %s memory that nothing has written; %s at line %d", request.bytes,
              shared ? "shared" : "global", how, place.line);
  else
    snprintf (text, sizeof text, "reads %u bytes of %s memory that nothing has written; then %s",
              request.bytes, shared ? "shared" : "global", how);
  finding.message = text;
  finding.request = &request;
  if (!shared)
    finding.allocation = warp->worker->sites[load->site].allocation;
  finding.other_location = ins->location;
  vgpu_report (warp, &finding);
  *poison &= ~mask;
}

static void
mix (VgpuWarp *warp, const VgpuIns *ins, uint32_t lanes, uint32_t poison)
{
  if (ins->d < 0)
    return;
  uint32_t *to = &warp->poison[ins->d / VGPU_ROW_UNIT];
  *to = (*to & ~lanes) | (poison & lanes);
  if (__builtin_expect ((poison & lanes) == 0, 1))
    return;
  const int32_t sources[] = {ins->a, ins->b, ins->c};
  for (int i = 0; i < 3; i++)
    if (poison_of (warp, sources[i]) & lanes)
      {
        warp->origin[ins->d / VGPU_ROW_UNIT] = warp->origin[sources[i] / VGPU_ROW_UNIT];
        return;
      }
}

void
vgpu_taint (VgpuWarp *warp, const VgpuIns *ins)
{
  uint32_t lanes = warp->mask;
  if (ins->is_guarded)
    {
      uint32_t doubtful = poison_of (warp, ins->guard) & lanes;
      uint32_t holds = *(const uint32_t *) (warp->base[(uint32_t) ins->guard >> 31] + ins->guard);
      if (doubtful != 0)
        vgpu_taint_used (warp, ins, ins->guard, doubtful, "decides whether to execute");
      lanes &= ins->flags & VGPU_INS_GUARD_NEGATED ? ~holds : holds;
    }
  switch (ins->taint)
    {
    case VGPU_TAINT_MIX:
      mix (warp, ins, lanes,
           poison_of (warp, ins->a) | poison_of (warp, ins->b) | poison_of (warp, ins->c));
      return;
    case VGPU_TAINT_SELECT:
      {
        uint32_t chosen = *(const uint32_t *) (warp->base[(uint32_t) ins->c >> 31] + ins->c);
        if (ins->flags & VGPU_INS_NEGATED)
          chosen = ~chosen;
        mix (warp, ins, lanes,
             poison_of (warp, ins->c) | (chosen & poison_of (warp, ins->a))
                 | (~chosen & poison_of (warp, ins->b)));
        return;
      }
    case VGPU_TAINT_CLEAN:
      mix (warp, ins, lanes, 0);
      return;
    case VGPU_TAINT_BRANCH:
      {
        uint32_t doubtful = poison_of (warp, ins->guard) & warp->mask;
        if (doubtful != 0)
          vgpu_taint_used (warp, ins, ins->guard, doubtful, "branched on");
        return;
      }
    default:
      return;
    }
}
