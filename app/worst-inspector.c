/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/worst-inspector.h"

#include "engine/figures/figures.h"
#include "engine/number/dtype.h"
#include "engine/plot/axis.h"

#include <math.h>

/* Positions, from the lowest bit, above which a gap stands. */
typedef struct
{
  int bits, exponent_end, fraction_end;
} Fields;

static Fields
fields_of (const char *name)
{
  AssayDtype dtype = assay_dtype_component (assay_dtype_from_name (name));
  const AssayFormat *format = assay_dtype_format (dtype);
  int bits = 8 * format->component_bytes;

  if (!assay_dtype_is_float (dtype))
    return (Fields) {bits, -1, -1};
  return (Fields) {format->has_sign + format->exponent_bits + format->fraction_bits,
                   format->exponent_bits + format->fraction_bits, format->fraction_bits};
}

static void
append_bits (GString *out, const char *name, guint64 code, guint64 other, const Fields *fields)
{
  g_string_append_printf (out, "\n%-10s", name);
  for (int bit = fields->bits - 1; bit >= 0; bit--)
    {
      gboolean differs = ((code ^ other) >> bit) & 1;

      g_string_append_printf (out, differs ? "<b>%d</b>" : "<span alpha=\"50%%\">%d</span>",
                              (int) (code >> bit) & 1);
      if (bit == fields->exponent_end || bit == fields->fraction_end)
        g_string_append_c (out, ' ');
    }
}

char *
assay_worst_markup (const AssayOutput *output, const AssayWorst *worst)
{
  Fields fields = fields_of (output->dtype);
  /* tfloat32 lies in the upper bits of a float32. */
  int unused = g_strcmp0 (output->dtype, "tfloat32") == 0 ? 13 : 0;
  g_autofree char *place = assay_format_index (output->shape, worst->index);
  g_autofree char *abs_error = assay_format_number (worst->abs, 3);
  g_autofree char *rel_error = assay_format_number (worst->rel, 3);
  g_autofree char *ulp = assay_format_number (fabs (worst->ulp_real), 3);
  GString *out = g_string_new (NULL);

  g_string_append_printf (out, "%s  error %s, relative %s, %s ulp", place, abs_error, rel_error,
                          ulp);
  append_bits (out, "candidate", worst->candidate_bits >> unused, worst->gold_bits >> unused,
               &fields);
  append_bits (out, assay_output_is_contradicted (output) ? "reference" : "gold",
               worst->gold_bits >> unused, worst->candidate_bits >> unused, &fields);
  return g_string_free (out, FALSE);
}
