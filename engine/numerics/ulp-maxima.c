/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/numerics/ulp-maxima.h"

#include "engine/base/json.h"

#include <math.h>

static const char *const MEASURES[] = {"integer", "real", NULL};

#define FIELD(Type, member, KIND, ...) ASSAY_JSON_FIELD (Type, member, #member, KIND, __VA_ARGS__)

static const AssayJsonField MAXIMUM_FIELDS[] = {
    FIELD (AssayMaximum, ulp, DOUBLE),      FIELD (AssayMaximum, ulp_per_x, DOUBLE),
    FIELD (AssayMaximum, absolute, DOUBLE), FIELD (AssayMaximum, low, DOUBLE),
    FIELD (AssayMaximum, high, DOUBLE),     ASSAY_JSON_END,
};

static void
initialise_maximum (gpointer self)
{
  AssayMaximum *maximum = self;
  maximum->ulp = maximum->absolute = NAN;
  maximum->low = -INFINITY;
  maximum->high = INFINITY;
}

static const AssayJsonTable MAXIMUM_TABLE = {
    .name = "maximum",
    .size = sizeof (AssayMaximum),
    .fields = MAXIMUM_FIELDS,
    .initialise = initialise_maximum,
};

static const AssayJsonField TABLE_FIELDS[] = {
    FIELD (AssayMaximaTable, name, STRING, .flags = ASSAY_JSON_REQUIRED),
    FIELD (AssayMaximaTable, title, STRING, .flags = ASSAY_JSON_REQUIRED),
    FIELD (AssayMaximaTable, of, STRING, .flags = ASSAY_JSON_REQUIRED),
    FIELD (AssayMaximaTable, precision, STRING, .flags = ASSAY_JSON_REQUIRED),
    FIELD (AssayMaximaTable, version, STRING),
    FIELD (AssayMaximaTable, fast_math, BOOLEAN),
    FIELD (AssayMaximaTable, measure, ENUM, .words = MEASURES, .flags = ASSAY_JSON_REQUIRED),
    FIELD (AssayMaximaTable, source, STRING, .flags = ASSAY_JSON_REQUIRED),
    FIELD (AssayMaximaTable, functions, MAP, .table = &MAXIMUM_TABLE),
    ASSAY_JSON_END,
};

static const AssayJsonTable MAXIMA_TABLE_TABLE = {
    .name = "table of maxima",
    .size = sizeof (AssayMaximaTable),
    .fields = TABLE_FIELDS,
};

static const AssayJsonField MAXIMA_FIELDS[] = {
    FIELD (AssayMaxima, tables, LIST, .table = &MAXIMA_TABLE_TABLE, .flags = ASSAY_JSON_REQUIRED),
    ASSAY_JSON_END,
};

const AssayJsonTable ASSAY_MAXIMA_TABLE = {
    .name = "maxima",
    .size = sizeof (AssayMaxima),
    .fields = MAXIMA_FIELDS,
};

AssayMaxima *
assay_maxima_load (const char *path, GError **error)
{
  g_autoptr (JsonNode) node = assay_json_load (path, &ASSAY_JSON_LIMITS_RECORD, error);
  return node ? assay_json_table_read (&ASSAY_MAXIMA_TABLE, node, "", NULL, error) : NULL;
}

static gboolean
is_binding (const AssayMaximaTable *table, const char *of, const char *version, gboolean fast_math)
{
  return g_str_equal (table->of, of) && table->fast_math == fast_math
         && (!table->version || g_strcmp0 (table->version, version) == 0);
}

static void
judge_one (const AssayMaximaTable *table, const AssayMaximum *maximum, const AssaySweep *sweep,
           gboolean binding, GArray *verdicts)
{
  const AssaySweepWorst *worst = sweep->worst->len ? g_ptr_array_index (sweep->worst, 0) : NULL;
  double size = fmax (fabs (sweep->low), fabs (sweep->high));
  AssayMaximumVerdict verdict = {.table = table, .binding = binding};
  if (sweep->low < maximum->low || sweep->high > maximum->high)
    return;
  verdict.absolute = !isnan (maximum->absolute);
  if (verdict.absolute)
    {
      verdict.documented = maximum->absolute;
      verdict.measured = sweep->max_abs;
    }
  else
    {
      verdict.documented =
          maximum->ulp + (maximum->ulp_per_x > 0 ? floor (maximum->ulp_per_x * size) : 0);
      verdict.measured = table->measure == ASSAY_MAXIMUM_INTEGER ? (double) sweep->max_ulp
                         : worst                                 ? worst->ulp_real
                                                                 : 0;
    }
  if (isinf (verdict.documented))
    return;
  verdict.above = verdict.measured > verdict.documented;
  g_array_append_val (verdicts, verdict);
}

GArray *
assay_maxima_judge (const AssayMaxima *maxima, const AssaySweep *sweep, const char *of,
                    const char *version, gboolean fast_math)
{
  GArray *verdicts = g_array_new (FALSE, TRUE, sizeof (AssayMaximumVerdict));
  for (guint i = 0; i < maxima->tables->len; i++)
    {
      const AssayMaximaTable *table = g_ptr_array_index (maxima->tables, i);
      if (!g_str_equal (table->precision, sweep->precision))
        continue;
      for (guint k = 0; k < table->functions->len; k++)
        {
          const AssayMaximum *maximum = g_ptr_array_index (table->functions, k);
          if (g_str_equal (maximum->name, sweep->function))
            judge_one (table, maximum, sweep, is_binding (table, of, version, fast_math), verdicts);
        }
    }
  return verdicts;
}
