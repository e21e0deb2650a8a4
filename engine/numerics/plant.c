/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/numerics/plant.h"

#include <math.h>
#include <string.h>

#define TILE 16

static void
store (AssayArray *out, gsize index, double value)
{
  assay_dtype_store (out->dtype, out->data, index, assay_dtype_encode (out->dtype, value));
}

static gsize
item_bytes (const AssayArray *array)
{
  return (gsize) assay_dtype_format (array->dtype)->component_bytes;
}

/* ---- trivial ---- */

static gboolean
zeros (const AssayPlanting *planting, AssayArray *out)
{
  for (gsize i = 0; i < planting->components; i++)
    store (out, i, 0);
  return TRUE;
}

/* One number in the whole output is its own mean: that proves nothing. */
static gboolean
constant_mean (const AssayPlanting *planting, AssayArray *out)
{
  double sum = 0;
  gsize finite = 0;
  for (gsize i = 0; i < planting->components; i++)
    if (isfinite (planting->values[i]))
      {
        sum += planting->values[i];
        finite++;
      }
  for (gsize i = 0; i < planting->components; i++)
    store (out, i, sum / (double) MAX (finite, 1));
  return planting->components > 1;
}

void
assay_plant_copy (const AssayPlanting *planting, const AssayArray *input, AssayArray *out)
{
  for (gsize i = 0; i < planting->components; i++)
    store (out, i, assay_array_get (input, i));
}

/* ---- lower precision ---- */

void
assay_plant_downgrade (const AssayPlanting *planting, AssayDtype dtype, AssayArray *out)
{
  for (gsize i = 0; i < planting->components; i++)
    store (out, i, assay_dtype_decode (dtype, assay_dtype_encode (dtype, planting->values[i])));
}

/* ---- right answers ---- */

static void
gold_at (const AssayPlanting *planting, gsize i, double *high, double *low)
{
  *high = planting->input->gold[i];
  *low = planting->input->gold_low ? planting->input->gold_low[i] : 0;
}

static gboolean
rounded_gold (const AssayPlanting *planting, AssayArray *out)
{
  double high, low;
  for (gsize i = 0; planting->input->gold && i < planting->components; i++)
    {
      gold_at (planting, i, &high, &low);
      assay_dtype_store (out->dtype, out->data, i, assay_dtype_encode_pair (out->dtype, high, low));
    }
  return planting->input->gold != NULL;
}

/* tfloat32 keeps 13 unused bits below its code. */
static guint64
code_step (AssayDtype dtype)
{
  return dtype == ASSAY_DTYPE_TFLOAT32 ? 1u << 13 : 1;
}

/* The value of the format next to the exact one, below or above it in magnitude; the exact value
 * itself where the format has it. What overflows stays as rounding to nearest leaves it. */
static guint64
neighbour (AssayDtype dtype, double high, double low, gboolean outward)
{
  guint64 nearest = assay_dtype_encode_pair (dtype, high, low);
  double value = assay_dtype_decode (dtype, nearest);
  if (!isfinite (value) || !isfinite (high))
    return nearest;
  double beyond = (fabs (value) - fabs (high)) - (high < 0 ? -low : low);
  if (beyond == 0 || (beyond > 0) == outward)
    return nearest;
  guint64 inward = assay_dtype_encode_as (dtype, high, ASSAY_ROUND_TOWARD_ZERO, FALSE);
  if (!outward)
    return beyond > 0 && inward == nearest ? nearest - code_step (dtype) : inward;
  double next = value + copysign (assay_dtype_ulp (dtype, value), high == 0 ? low : high);
  guint64 code = assay_dtype_encode (dtype, next);
  return isfinite (assay_dtype_decode (dtype, code)) ? code : nearest;
}

static gboolean
toward_zero (const AssayPlanting *planting, AssayArray *out)
{
  double high, low;
  if (!planting->input->gold || !planting->is_float)
    return FALSE;
  for (gsize i = 0; i < planting->components; i++)
    {
      gold_at (planting, i, &high, &low);
      assay_dtype_store (out->dtype, out->data, i, neighbour (out->dtype, high, low, FALSE));
    }
  return TRUE;
}

static gboolean
either_neighbour (const AssayPlanting *planting, AssayArray *out)
{
  double high, low;
  if (!planting->input->gold || !planting->is_float)
    return FALSE;
  for (gsize i = 0; i < planting->components; i++)
    {
      gboolean outward = (i * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15)) >> 63;
      gold_at (planting, i, &high, &low);
      assay_dtype_store (out->dtype, out->data, i, neighbour (out->dtype, high, low, outward));
    }
  return TRUE;
}

/* ---- mutants ---- */

static gboolean
scaled (const AssayPlanting *planting, AssayArray *out)
{
  for (gsize i = 0; i < planting->components; i++)
    store (out, i, planting->values[i] * 1.01);
  return planting->is_float;
}

static gboolean
sign_flipped (const AssayPlanting *planting, AssayArray *out)
{
  for (gsize i = 0; i < planting->components; i++)
    store (out, i, -planting->values[i]);
  return assay_dtype_format (out->dtype)->has_sign;
}

static gboolean
last_row_zeroed (const AssayPlanting *planting, AssayArray *out)
{
  gsize from = (gsize) ((planting->rows - 1) * planting->columns);
  for (gsize i = from; i < planting->components; i++)
    store (out, i, 0);
  return planting->rows >= 2;
}

static gboolean
last_row_repeats (const AssayPlanting *planting, AssayArray *out)
{
  gsize row = (gsize) planting->columns * item_bytes (out);
  guint8 *last = out->data + (gsize) (planting->rows - 1) * row;
  if (planting->rows >= 2)
    memcpy (last, last - row, row);
  return planting->rows >= 2;
}

static gboolean
tail_tile_zeroed (const AssayPlanting *planting, AssayArray *out)
{
  gint64 height = MIN (TILE, (planting->rows + 1) / 2);
  gint64 width = MIN (TILE, (planting->columns + 1) / 2);
  for (gint64 r = planting->rows - height; r < planting->rows; r++)
    for (gint64 c = planting->columns - width; c < planting->columns; c++)
      store (out, (gsize) (r * planting->columns + c), 0);
  return planting->components > 1;
}

static gboolean
rows_rotated (const AssayPlanting *planting, AssayArray *out)
{
  gsize row = (gsize) planting->columns * item_bytes (out);
  gsize rest = (gsize) (planting->rows - 1) * row;
  memmove (out->data, planting->reference->data + row, rest);
  memcpy (out->data + rest, planting->reference->data, row);
  return planting->rows >= 2;
}

static gboolean
columns_rotated (const AssayPlanting *planting, AssayArray *out)
{
  gsize columns = (gsize) planting->columns;
  for (gsize i = 0; i < planting->components; i++)
    store (out, i, planting->values[i - i % columns + (i % columns + 1) % columns]);
  return columns >= 2;
}

static gboolean
one_doubled (const AssayPlanting *planting, AssayArray *out)
{
  store (out, planting->largest, 2 * planting->values[planting->largest]);
  return planting->is_float;
}

static gboolean
one_zeroed (const AssayPlanting *planting, AssayArray *out)
{
  store (out, planting->largest, 0);
  return TRUE;
}

static gboolean
one_off_by_one (const AssayPlanting *planting, AssayArray *out)
{
  gsize middle = planting->components / 2;
  double value = planting->values[middle];
  store (out, middle, value == assay_dtype_format (out->dtype)->max_finite ? value - 1 : value + 1);
  return !planting->is_float;
}

static gboolean
stale (const AssayPlanting *planting, AssayArray *out)
{
  const AssayArray *other = planting->input->stale;
  if (!other || other->dtype != out->dtype || !assay_array_same_shape (other, out))
    return FALSE;
  memcpy (out->data, other->data, out->bytes);
  return TRUE;
}

const AssayPlant ASSAY_PLANTS[] = {
    {ASSAY_PROBE_HONEST, "gold, rounded to nearest", rounded_gold},
    {ASSAY_PROBE_HONEST, "gold, rounded toward zero", toward_zero},
    {ASSAY_PROBE_HONEST, "gold, rounded to either neighbour", either_neighbour},
    {ASSAY_PROBE_TRIVIAL, "zeros", zeros},
    {ASSAY_PROBE_TRIVIAL, "constant (mean of the reference)", constant_mean},
    {ASSAY_PROBE_MUTANT, "every value × 1.01", scaled},
    {ASSAY_PROBE_MUTANT, "signs flipped", sign_flipped},
    {ASSAY_PROBE_MUTANT, "last row zeroed", last_row_zeroed},
    {ASSAY_PROBE_MUTANT, "last row repeats the one before", last_row_repeats},
    {ASSAY_PROBE_MUTANT, "last tile zeroed", tail_tile_zeroed},
    {ASSAY_PROBE_MUTANT, "rows rotated by one", rows_rotated},
    {ASSAY_PROBE_MUTANT, "columns rotated by one", columns_rotated},
    {ASSAY_PROBE_MUTANT, "one element doubled", one_doubled},
    {ASSAY_PROBE_MUTANT, "one element zeroed", one_zeroed},
    {ASSAY_PROBE_MUTANT, "one element off by one", one_off_by_one},
    {ASSAY_PROBE_MUTANT, "output of another workload", stale},
};
const gsize ASSAY_N_PLANTS = G_N_ELEMENTS (ASSAY_PLANTS);
