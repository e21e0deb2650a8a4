/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/base/json-table.h"

G_BEGIN_DECLS

/* One thing that works on this computer, or does not. */

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
  char *area; /* "Sandbox", "Assay", "Compilers", "Devices", "Profilers", "Python" */
  char *name;
  int state; /* AssayCheckState */
  char *text;
  char *advice; /* what to do; NULL where there is nothing to */
} AssayCheck;

ASSAY_JSON_DECLARE (AssayCheck, assay_check, ASSAY_CHECK_TABLE)

G_END_DECLS
