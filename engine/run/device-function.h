/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/numerics/sweep.h"
#include "engine/sandbox/spec.h"

G_BEGIN_DECLS

/* A function of one argument as a CUDA kernel of one line, compiled by NVRTC and launched on the
 * virtual GPU, each in a worker of its own: the path of every candidate. */
typedef struct _AssayDeviceFunction AssayDeviceFunction;

/* `target` is "sm_80". ASSAY_ERROR_NOT_FOUND without a toolkit; what the compiler says against the
 * kernel is ASSAY_ERROR_FAILED. */
AssayDeviceFunction *assay_device_function_new (const AssaySweepFunction *function,
                                                AssayDtype dtype, const char *target,
                                                gboolean fast_math, AssaySandboxTier tier,
                                                GCancellable *cancellable, GError **error);
void assay_device_function_free (AssayDeviceFunction *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssayDeviceFunction, assay_device_function_free)

/* The expression that was compiled. */
const char *assay_device_function_text (const AssayDeviceFunction *self);

/* An AssaySweepCandidate for whole batches; user_data is the function. */
gboolean assay_device_function_run (gint64 first, gsize n, guint32 *results, gpointer user_data,
                                    GError **error);

G_END_DECLS
