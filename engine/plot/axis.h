/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  ASSAY_SCALE_LINEAR,
  ASSAY_SCALE_LOG,      /* decades; min and max are positive */
  ASSAY_SCALE_CATEGORY, /* item i stands at i; min -0.5, max n - 0.5 */
} AssayScale;

typedef struct
{
  AssayScale scale;
  double min, max;
  gboolean reversed; /* rows count downward */
  gboolean whole;    /* ticks are integers: positions, sizes */
  gboolean counts;   /* ticks read 1, 10, 1 k, 1 M */
  gboolean hidden;   /* no line, ticks or title */
  char *title;       /* quantity, definition, unit */
  char **categories; /* CATEGORY: labels, NULL-terminated */
} AssayAxis;

typedef struct
{
  double value;
  char *label; /* NULL: a minor tick */
} AssayTick;

/* Position 0 … 1 along the axis, outside that range beyond its ends; NaN where the scale has no
 * place for the value. The inverse gives the value of a position. */
double assay_axis_position (const AssayAxis *axis, double value);
double assay_axis_value (const AssayAxis *axis, double position);

/* (transfer full): GArray of AssayTick, sorted by value and inside the range, at most
 * `length / spacing` labelled ones; neighbours' labels differ. Lengths in px. */
GArray *assay_axis_ticks (const AssayAxis *axis, double length, double spacing);

/* (transfer full): `value` in `digits` significant digits: "1.0e-4", "0.013", "13.4", "NaN". */
char *assay_format_number (double value, int digits);
/* (transfer full): with narrow spaces between groups of three digits, for reading. */
char *assay_format_count (guint64 count);

G_END_DECLS
