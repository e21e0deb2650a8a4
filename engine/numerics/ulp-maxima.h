/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/numerics/sweep.h"

G_BEGIN_DECLS

/* Documented maxima of error (data/ulp-maxima.json), and what a sweep says about them. */

typedef enum
{
  ASSAY_MAXIMUM_INTEGER, /* distance from the correctly rounded result */
  ASSAY_MAXIMUM_REAL,    /* from the exact value */
} AssayMaximumMeasure;

typedef struct
{
  char *name;       /* of the function, as sweeps call it */
  double ulp;       /* NaN: none documented */
  double ulp_per_x; /* added: floor (ulp_per_x |x|), for the largest |x| swept */
  double absolute;  /* largest |result - exact|; NaN: none documented */
  double low, high; /* the range it holds on; infinite where not limited */
} AssayMaximum;

typedef struct
{
  char *name;      /* "cuda" */
  char *title;     /* "CUDA, default flags" */
  char *of;        /* what it speaks about: libm, virtual, or both ("any") */
  char *precision; /* "float32" */
  char *version;   /* of the C library it holds for, "2.36"; NULL: any */
  gboolean fast_math;
  int measure; /* AssayMaximumMeasure */
  char *source;
  GPtrArray *functions; /* AssayMaximum * */
} AssayMaximaTable;

typedef struct
{
  GPtrArray *tables; /* AssayMaximaTable * */
} AssayMaxima;

ASSAY_JSON_DECLARE (AssayMaxima, assay_maxima, ASSAY_MAXIMA_TABLE)

AssayMaxima *assay_maxima_load (const char *path, GError **error);

typedef struct
{
  const AssayMaximaTable *table;
  double documented, measured;
  gboolean absolute; /* both are absolute errors, not ulp */
  gboolean above;
  gboolean binding; /* the table speaks about what was swept, so that `above` is a finding */
} AssayMaximumVerdict;

/* (element-type AssayMaximumVerdict): one for each table that has a maximum for the function and a
 * range that holds the one swept. `of` is "libm" or "virtual"; `version` the C library's. */
GArray *assay_maxima_judge (const AssayMaxima *maxima, const AssaySweep *sweep, const char *of,
                            const char *version, gboolean fast_math);

G_END_DECLS
