/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of functions that are not expanded in place, and the device's heap. */
#include "engine/vgpu/exec/control.h"
#include "engine/vgpu/exec/handlers.h"

VGPU_HANDLER (CALL_ENTER)
{
  vgpu_call_enter (warp, ins);
  return ins + 1;
}

VGPU_HANDLER (CALL) { return vgpu_call (warp, ins); }

VGPU_HANDLER (CALL_DONE)
{
  vgpu_call_done (warp, ins);
  return ins + 1;
}

VGPU_HANDLER (CALL_RETURN) { return vgpu_resume_waiting (warp); }

VGPU_HANDLER (CALL_SELECT) { return vgpu_call_select (warp, ins); }

VGPU_HANDLER (HEAP_TAKE) { return vgpu_heap_take (warp, ins); }

VGPU_HANDLER (HEAP_FREE) { return vgpu_heap_free (warp, ins); }
