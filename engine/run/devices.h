/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/device/device.h"
#include "engine/sandbox/spec.h"

G_BEGIN_DECLS

/* (transfer full): every device, AssayDevice *: virtual ones first, then what a worker finds with the
 * real driver, in the sandbox it would run in; one that is unavailable says why. Blocks. */
GPtrArray *assay_devices_list (void);

/* How a worker reaches the real driver: libcuda.so.1 by name, or the library that ASSAY_CUDA_DRIVER
 * names, shown to it. (transfer full): the path to open inside. */
char *assay_driver_show (AssaySandboxSpec *spec, AssaySandboxTier tier);

/* (transfer full): by id; "auto" or NULL is a real device when one is available, else the virtual one
 * of `target` ("sm_80"). ASSAY_ERROR_NOT_FOUND for an unknown one, ASSAY_ERROR_UNSUPPORTED for one
 * that is not available, with its reason. */
AssayDevice *assay_device_find (const char *id, const char *target, GError **error);

/* After a run that may have wedged a real device: asks it again, in a fresh worker. (transfer full): why
 * it is set aside for the next minutes, or NULL when it answers. A device that is set aside is listed as
 * unavailable with that reason; it is asked again when its time is over. `after` is what happened. */
char *assay_device_check_after (const AssayDevice *device, const char *after);

/* (transfer full): what NVML says now, from $ASSAY_NVML or the system's library, within 5 s. */
AssayNvmlReading *assay_devices_reading (GError **error);

G_END_DECLS
