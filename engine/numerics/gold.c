/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/numerics/gold.h"

#include <math.h>

/* gcc and clang have the type on every platform with SSE; arithmetic needs no library of ours. */
typedef __float128 Quad;

static void
split_one (int real, const void *values, gsize i, double *high, double *low)
{
  *low = 0;
  switch (real)
    {
    case 1:
      *high = ((const float *) values)[i];
      return;
    case 2:
      *high = ((const double *) values)[i];
      return;
    case 3:
      {
        Quad value = ((const Quad *) values)[i];
        *high = (double) value;
        *low = isfinite (*high) ? (double) (value - *high) : 0;
        return;
      }
    default:
      {
        gint64 value = ((const gint64 *) values)[i];
        *high = (double) value;
        *low = (double) ((Quad) value - *high);
        return;
      }
    }
}

void
assay_gold_split (int real, const void *values, gsize n, double *high, double *low)
{
  for (gsize i = 0; i < n; i++)
    {
      double rest;
      split_one (real, values, i, &high[i], &rest);
      if (low)
        low[i] = rest;
    }
}

static guint64
integer_code (AssayDtype dtype, gint64 value)
{
  const AssayFormat *format = assay_dtype_format (dtype);
  guint64 mask = format->bits == 64 ? G_MAXUINT64 : (G_GUINT64_CONSTANT (1) << format->bits) - 1;
  if (format->kind == ASSAY_DTYPE_KIND_BOOL)
    return value != 0;
  return (guint64) value & mask;
}

AssayArray *
assay_gold_round (int real, const void *values, AssayDtype dtype, const gint64 *shape, guint ndim,
                  GError **error)
{
  AssayArray *array = assay_array_new (dtype, shape, ndim, error);
  if (!array)
    return NULL;
  gsize n = assay_array_components (array);
  for (gsize i = 0; i < n; i++)
    {
      double high, low;
      split_one (real, values, i, &high, &low);
      guint64 code = real == 0 && !assay_dtype_is_float (dtype)
                         ? integer_code (dtype, ((const gint64 *) values)[i])
                         : assay_dtype_encode_pair (dtype, high, low);
      assay_dtype_store (dtype, array->data, i, code);
    }
  return array;
}

double
assay_gold_rung_difference (AssayDtype dtype, const double *a_high, const double *a_low,
                            const double *b_high, const double *b_low, gsize n)
{
  double largest = 0;
  for (gsize i = 0; i < n; i++)
    {
      if (a_high[i] == b_high[i] && isinf (a_high[i]))
        continue;
      if (isnan (a_high[i]) && isnan (b_high[i]))
        continue;
      double low = (a_low ? a_low[i] : 0) - (b_low ? b_low[i] : 0);
      double difference = fabs ((a_high[i] - b_high[i]) + low);
      double ulp = assay_dtype_ulp (assay_dtype_component (dtype), b_high[i]);
      largest = isnan (difference) ? INFINITY : fmax (largest, difference / ulp);
      if (isinf (largest))
        return largest;
    }
  return largest;
}
