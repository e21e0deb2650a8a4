/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/numerics/probes.h"

G_BEGIN_DECLS

/* Planted answers: right ones and wrong ones, made from an output's reference and gold. Inside this
 * room only. */

typedef struct
{
  const AssayProbesInput *input;
  AssayPlane *plane; /* borrowed; NULL where the output has none (complex) */
  const AssayArray *reference;
  gsize components;
  gint64 rows, columns; /* in components, leading dimensions folded into rows */
  double *values;       /* of the reference */
  gsize largest;        /* component with the largest finite magnitude */
  gboolean is_float;
} AssayPlanting;

typedef struct
{
  AssayProbeKind kind;
  const char *name, *family;
  /* Fills `out` (which holds a copy of the reference); FALSE when it does not apply. */
  gboolean (*make) (const AssayPlanting *planting, AssayArray *out);
} AssayPlant;

extern const AssayPlant ASSAY_PLANTS[];
extern const gsize ASSAY_N_PLANTS;

/* Every component rounded to `dtype` and back. */
void assay_plant_downgrade (const AssayPlanting *planting, AssayDtype dtype, AssayArray *out);
/* An input of the same shape, converted. */
void assay_plant_copy (const AssayPlanting *planting, const AssayArray *input, AssayArray *out);

G_END_DECLS
