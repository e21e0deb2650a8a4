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

/* ---- the whole output, block by block, on every processor ---- */

#define CHUNK ((gsize) 1 << 16)

/* Changes `n` values that begin as the reference's, the first of them component `first`. */
typedef void (*Change) (const AssayPlanting *planting, gsize first, gsize n, double *values,
                        gconstpointer with);

typedef struct
{
  const AssayPlanting *planting;
  AssayArray *out;
  Change change;
  gconstpointer with;
} Changing;

static void
change_chunk (gsize piece, gpointer user_data)
{
  const Changing *changing = user_data;
  gsize first = piece * CHUNK, n = MIN (CHUNK, changing->planting->components - first);
  g_autofree double *values = g_memdup2 (changing->planting->values + first, n * sizeof (double));
  changing->change (changing->planting, first, n, values, changing->with);
  assay_dtype_encode_array (changing->out->dtype, values, n, changing->out->data, first);
}

static void
change_all (const AssayPlanting *planting, AssayArray *out, Change change, gconstpointer with)
{
  Changing changing = {planting, out, change, with};
  assay_parallel_for ((planting->components + CHUNK - 1) / CHUNK, planting->input->threads,
                      change_chunk, &changing, NULL, NULL, NULL, NULL);
}

static void
multiply (const AssayPlanting *planting, gsize first, gsize n, double *values, gconstpointer factor)
{
  for (gsize i = 0; i < n; i++)
    values[i] *= *(const double *) factor;
}

static void
set_all (const AssayPlanting *planting, gsize first, gsize n, double *values, gconstpointer value)
{
  for (gsize i = 0; i < n; i++)
    values[i] = *(const double *) value;
}

static void
take_from (const AssayPlanting *planting, gsize first, gsize n, double *values, gconstpointer array)
{
  const AssayArray *from = array;
  assay_dtype_decode_array (from->dtype, from->data, first, n, values);
}

static void
round_to (const AssayPlanting *planting, gsize first, gsize n, double *values, gconstpointer dtype)
{
  AssayDtype lower = *(const AssayDtype *) dtype;
  g_autofree guint8 *codes = g_malloc (n * (gsize) assay_dtype_format (lower)->component_bytes);
  assay_dtype_encode_array (lower, values, n, codes, 0);
  assay_dtype_decode_array (lower, codes, 0, n, values);
}

/* ---- trivial ---- */

static gboolean
zeros (const AssayPlanting *planting, AssayArray *out)
{
  const double zero = 0;
  change_all (planting, out, set_all, &zero);
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
  double mean = sum / (double) MAX (finite, 1);
  change_all (planting, out, set_all, &mean);
  return planting->components > 1;
}

void
assay_plant_copy (const AssayPlanting *planting, const AssayArray *input, AssayArray *out)
{
  change_all (planting, out, take_from, input);
}

/* ---- lower precision ---- */

void
assay_plant_downgrade (const AssayPlanting *planting, AssayDtype dtype, AssayArray *out)
{
  change_all (planting, out, round_to, &dtype);
}

/* ---- right answers ---- */

/* One component's code from its gold. */
typedef guint64 (*Rounding) (AssayDtype dtype, double high, double low, gsize index);

typedef struct
{
  const AssayPlanting *planting;
  AssayArray *out;
  Rounding rounding;
} RoundingAll;

static void
round_chunk (gsize piece, gpointer user_data)
{
  const RoundingAll *all = user_data;
  const AssayProbesInput *input = all->planting->input;
  gsize first = piece * CHUNK, end = MIN (first + CHUNK, all->planting->components);
  AssayDtype dtype = assay_dtype_component (all->out->dtype);
  for (gsize i = first; i < end; i++)
    {
      double low = input->gold_low ? input->gold_low[i] : 0;
      assay_dtype_store (dtype, all->out->data, i, all->rounding (dtype, input->gold[i], low, i));
    }
}

static gboolean
round_gold (const AssayPlanting *planting, AssayArray *out, Rounding rounding)
{
  RoundingAll all = {planting, out, rounding};
  if (!planting->input->gold)
    return FALSE;
  assay_parallel_for ((planting->components + CHUNK - 1) / CHUNK, planting->input->threads,
                      round_chunk, &all, NULL, NULL, NULL, NULL);
  return TRUE;
}

static guint64
nearest (AssayDtype dtype, double high, double low, gsize index)
{
  return assay_dtype_encode_pair (dtype, high, low);
}

static gboolean
rounded_gold (const AssayPlanting *planting, AssayArray *out)
{
  return round_gold (planting, out, nearest);
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
  guint64 rounded = assay_dtype_encode_pair (dtype, high, low);
  double value = assay_dtype_decode (dtype, rounded);
  if (!isfinite (value) || !isfinite (high))
    return rounded;
  double beyond = (fabs (value) - fabs (high)) - (high < 0 ? -low : low);
  if (beyond == 0 || (beyond > 0) == outward)
    return rounded;
  guint64 cut = assay_dtype_encode_as (dtype, high, ASSAY_ROUND_TOWARD_ZERO, FALSE);
  if (!outward)
    return beyond > 0 && cut == rounded ? rounded - code_step (dtype) : cut;
  double next = value + copysign (assay_dtype_ulp (dtype, value), high == 0 ? low : high);
  guint64 code = assay_dtype_encode (dtype, next);
  return isfinite (assay_dtype_decode (dtype, code)) ? code : rounded;
}

static guint64
inward (AssayDtype dtype, double high, double low, gsize index)
{
  return neighbour (dtype, high, low, FALSE);
}

static guint64
either (AssayDtype dtype, double high, double low, gsize index)
{
  return neighbour (dtype, high, low, (index * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15)) >> 63);
}

static gboolean
toward_zero (const AssayPlanting *planting, AssayArray *out)
{
  return planting->is_float && round_gold (planting, out, inward);
}

static gboolean
either_neighbour (const AssayPlanting *planting, AssayArray *out)
{
  return planting->is_float && round_gold (planting, out, either);
}

/* ---- mutants ---- */

static gboolean
scaled (const AssayPlanting *planting, AssayArray *out)
{
  const double factor = 1.01;
  if (planting->is_float)
    change_all (planting, out, multiply, &factor);
  return planting->is_float;
}

static gboolean
sign_flipped (const AssayPlanting *planting, AssayArray *out)
{
  const double factor = -1;
  change_all (planting, out, multiply, &factor);
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
  gsize item = item_bytes (out), row = (gsize) planting->columns * item;
  for (gint64 r = 0; planting->columns >= 2 && r < planting->rows; r++)
    {
      const guint8 *from = planting->reference->data + (gsize) r * row;
      guint8 *into = out->data + (gsize) r * row;
      memcpy (into, from + item, row - item);
      memcpy (into + row - item, from, item);
    }
  return planting->columns >= 2;
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
    {ASSAY_PROBE_HONEST, "gold, rounded to nearest", "rounding", rounded_gold},
    {ASSAY_PROBE_HONEST, "gold, rounded toward zero", "rounding", toward_zero},
    {ASSAY_PROBE_HONEST, "gold, rounded to either neighbour", "rounding", either_neighbour},
    {ASSAY_PROBE_TRIVIAL, "zeros", "trivial", zeros},
    {ASSAY_PROBE_TRIVIAL, "constant (mean of the reference)", "trivial", constant_mean},
    {ASSAY_PROBE_MUTANT, "every value × 1.01", "scale", scaled},
    {ASSAY_PROBE_MUTANT, "signs flipped", "scale", sign_flipped},
    {ASSAY_PROBE_MUTANT, "last row zeroed", "region", last_row_zeroed},
    {ASSAY_PROBE_MUTANT, "last row repeats the one before", "region", last_row_repeats},
    {ASSAY_PROBE_MUTANT, "last tile zeroed", "region", tail_tile_zeroed},
    {ASSAY_PROBE_MUTANT, "rows rotated by one", "index", rows_rotated},
    {ASSAY_PROBE_MUTANT, "columns rotated by one", "index", columns_rotated},
    {ASSAY_PROBE_MUTANT, "one element doubled", "element", one_doubled},
    {ASSAY_PROBE_MUTANT, "one element zeroed", "element", one_zeroed},
    {ASSAY_PROBE_MUTANT, "one element off by one", "element", one_off_by_one},
    {ASSAY_PROBE_MUTANT, "output of another workload", "stale", stale},
};
const gsize ASSAY_N_PLANTS = G_N_ELEMENTS (ASSAY_PLANTS);
