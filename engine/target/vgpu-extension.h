/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/target/cuda-abi.h"

/* What the virtual GPU's driver exports beyond the CUDA driver API.
 *
 * Look these up with dlsym: a real driver has none of them, and a worker must run with both.
 *
 * Keys of assayVgpuSet, also read at cuInit from the environment variable ASSAY_VGPU in the form
 * "key=value;key=value":
 *
 *   target             architecture whose limits are enforced: sm_75 … sm_120 (default sm_80);
 *                      to be set before the first context is made
 *   checks             all, none, or a list of: uninit, race, race-global, sync, counts, and
 *                      leak, which is not of all (default sync,counts); bounds and alignment are always checked
 *   math               ideal (correctly rounded, default) or adversarial (error up to the
 *                      documented bound of each approximate instruction, drawn from the seed)
 *   threads            worker threads (default: processors this process may use). Kernels whose
 *                      result could depend on the order of blocks run on one
 *   host               best (default), avx2 at most, or plain: instructions of this processor that
 *                      may be used; results do not depend on it. Holds for modules loaded from then on
 *   seed               0: blocks and warps in fixed order; else shuffled by this number
 *   report_fd          descriptor for the report stream, one JSON object a line (default: none)
 *   streams            eager (default): work runs when it is submitted; late: when somebody waits
 *                      for it, so that missing synchronisation shows; thread: on a thread of its own
 *   print              report (default): device printf becomes records of the report stream; stdout:
 *                      it goes to the program's standard output instead
 *   time               none (default): the time between events is NaN; host: that of this computer,
 *                      which says nothing about any device
 *   max_instructions   warp instructions a launch may execute; 0: no limit
 *   print_cap_bytes    bytes of device printf kept per launch (default 1048576)
 *   max_reports        reports emitted per process (default 200)
 *   continue_on_fault  1: a memory fault is reported but leaves no sticky error (default 0)
 */

/* X (symbol, result, parameters) */
/* clang-format off */
#define ASSAY_VGPU_EXTENSION(X) \
  X (assayVgpuSet, int, (const char *key, const char *value)) \
  X (assayVgpuNameAllocation, int, (CUdeviceptr pointer, const char *name)) \
  X (assayVgpuMarkInitialised, int, (CUdeviceptr pointer, size_t bytes)) \
  X (assayVgpuMarkUninitialised, int, (CUdeviceptr pointer, size_t bytes)) \
  X (assayVgpuInterrupt, void, (void)) \
  X (assayVgpuReport, void, (const char *rule, const char *message, const char *kernel)) \
  X (assayVgpuLastError, const char *, (void))
/* clang-format on */

#define ASSAY_VGPU_POINTER_TYPE(symbol, result, parameters)                                        \
  typedef result (*symbol##_fn) parameters;
ASSAY_VGPU_EXTENSION (ASSAY_VGPU_POINTER_TYPE)
#undef ASSAY_VGPU_POINTER_TYPE

/* assayVgpuReport: writes a report that no instruction made; kernel may be NULL.
 * assayVgpuSet: 0, or -1 for an unknown key or value (assayVgpuLastError says which).
 * assayVgpuNameAllocation: gives the allocation that contains pointer a name for reports; the text
 *   is copied. assayVgpuMarkInitialised and …Uninitialised: what the uninitialised-read check
 *   shall believe of these bytes. All three: 0, or -1 when pointer is in no live allocation.
 * assayVgpuInterrupt: stops the running launches, which end with CUDA_ERROR_LAUNCH_TIMEOUT. May be
 *   called from a signal handler.
 * assayVgpuLastError: the last explanation of a failed call of this process, never NULL; owned by
 *   the library, valid until the next failing call. */
