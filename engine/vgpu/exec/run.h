/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/vgpu/exec/machine.h"

/* Picks the handlers for this processor. To be called before kernels are built. */
void vgpu_choose_handlers (void);

/* The sets there are, for tests that hold them against one another: 0 is the plain one. Returns
 * the set's name, NULL if there is none of this number or the processor cannot run it. */
const char *vgpu_use_handlers (int number);

/* Runs a launch to its end and writes its record to the report stream. Returns the CUresult that
 * the next synchronisation is to see. */
int vgpu_launch_run (VgpuLaunch *launch);
