/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/base/json-table.h"

G_BEGIN_DECLS

/* What works on this computer, and why not. */

typedef enum
{
  ASSAY_CHECK_WORKS,
  ASSAY_CHECK_WARNS,  /* there, but a measurement or a run may suffer: `advice` */
  ASSAY_CHECK_ABSENT, /* optional, and not there: `advice` says what it would bring */
  ASSAY_CHECK_FAILS,  /* needed, and not there */
} AssayCheckState;
extern const char *const ASSAY_CHECK_STATES[];

typedef struct
{
  char *area; /* "sandbox", "compilers", "devices", "profilers", "python" */
  char *name;
  int state; /* AssayCheckState */
  char *text;
  char *advice; /* what to do; NULL where there is nothing to */
} AssayCheck;

ASSAY_JSON_DECLARE (AssayCheck, assay_check, ASSAY_CHECK_TABLE)

/* (transfer full): AssayCheck *, by area. Starts workers and compilers' version lines: takes seconds.
 * Blocks. */
GPtrArray *assay_doctor_examine (void);
gboolean assay_doctor_is_healthy (GPtrArray *checks);
/* (transfer full): {"checks": […]} */
JsonNode *assay_doctor_to_json (GPtrArray *checks);

G_END_DECLS
