/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/record/check.h"

G_BEGIN_DECLS

/* What works on this computer, and why not. */

/* (transfer full): AssayCheck *, by area. Starts workers and compilers' version lines: takes seconds.
 * Blocks. */
GPtrArray *assay_doctor_examine (void);
gboolean assay_doctor_is_healthy (GPtrArray *checks);
/* (transfer full): {"checks": […]} */
JsonNode *assay_doctor_to_json (GPtrArray *checks);

G_END_DECLS
