/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/vgpu/exec/machine.h"

/* Picks the widest handlers that this processor can run, none above a set's number. To be called
 * before kernels are built. */
#define VGPU_WIDEST 2
void vgpu_choose_handlers (int most);

/* The sets there are, for tests that hold them against one another: 0 is the plain one. Returns
 * the set's name, NULL if there is none of this number or the processor cannot run it. */
const char *vgpu_use_handlers (int number);

/* Runs a launch to its end and writes its record to the report stream. Returns the CUresult that
 * the next synchronisation is to see. */
int vgpu_launch_run (VgpuLaunch *launch);
