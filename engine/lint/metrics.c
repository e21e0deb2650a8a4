/* SPDX-License-Identifier: Apache-2.0 */
/* What a source makes of its times: means, percentiles, and what it calls them. */
#include "engine/lint/lint-private.h"

#include <math.h>
#include <string.h>

#define MEAN "(^|\\.)(mean|fmean|average)$"
#define PERCENTILE "(^|\\.)(percentile|quantile|nanpercentile)$"
#define TIMES "time|latenc|elapsed|durat|(^|_)(ms|us|ns|sec\\w*)$|samples|timings|runs"

static gboolean
is_division (AssaySyntax *node)
{
  return assay_syntax_is (node, "BinOp") && assay_syntax_is (assay_syntax_get (node, "op"), "Div");
}

/* mean (a / b for …), and mean (speedups). */
static void
check_mean (AssayLint *lint, AssaySyntax *call, const char *name)
{
  AssaySyntax *of = assay_syntax_argument (call, 0);
  gboolean comprehension = assay_syntax_is (of, "GeneratorExp") || assay_syntax_is (of, "ListComp");
  gboolean ratios = (comprehension && is_division (assay_syntax_get (of, "elt")))
                    || assay_lint_is_like (assay_syntax_text (of, "id"), "speed_?ups$|ratios$")
                    || assay_lint_is_like (assay_syntax_text (of, "attr"), "speed_?ups?$|ratios$");
  if (ratios && assay_lint_is_like (name, MEAN))
    assay_lint_add (lint, "bench.metric-wrong", call, 0.8, g_strdup ("arithmetic mean of ratios"),
                    "It depends on which side is divided by which, and one large ratio hides many "
                    "losses; the geometric mean does not.");
}

/* What a label says of a percentile: "p99", "P50", "median"; NAN: nothing. */
static double
labelled (const char *label)
{
  const char *p = label ? strpbrk (label, "pP") : NULL;
  for (; p; p = strpbrk (p + 1, "pP"))
    if (g_ascii_isdigit (p[1]) && g_ascii_isdigit (p[2]) && !g_ascii_isdigit (p[3])
        && (p == label || !g_ascii_isalnum (p[-1])))
      return g_ascii_digit_value (p[1]) * 10 + g_ascii_digit_value (p[2]);
  return label && g_ascii_strcasecmp (label, "median") == 0 ? 50 : NAN;
}

static void
check_label (AssayLint *lint, const char *label, AssaySyntax *value)
{
  g_autofree char *name = assay_python_callee (lint->python, value);
  double asked = labelled (label), taken = NAN;
  gboolean least = assay_lint_is_like (label, "^(min|best|fastest)(_|$)|_min$|^lowest");
  gboolean most = assay_lint_is_like (label, "^(max|worst|slowest)(_|$)|_max$|^highest");
  if (assay_lint_is_like (name, PERCENTILE)
      && assay_syntax_number (assay_syntax_argument (value, 1), &taken) && !isnan (asked))
    {
      double scaled = taken <= 1 && assay_lint_is_like (name, "quantile") ? taken * 100 : taken;
      if (fabs (scaled - asked) > 0.75)
        assay_lint_add (lint, "bench.metric-wrong", value, 0.9,
                        g_strdup_printf ("\"%s\" is the %g-th percentile", label, scaled), NULL);
    }
  else if (assay_lint_mentions_like (value, TIMES)
           && ((least
                && assay_lint_is_like (name, "^(max|numpy\\.(max|amax)|torch\\.max)$|\\.max$"))
               || (most
                   && assay_lint_is_like (name, "^(min|numpy\\.(min|amin)|torch\\.min)$|\\.min$"))))
    assay_lint_add (lint, "bench.metric-wrong", value, 0.7,
                    g_strdup_printf ("\"%s\" is made by %s ()", label, name), NULL);
}

static gboolean
visit (AssaySyntax *node, gpointer user_data)
{
  AssayLint *lint = user_data;
  if (assay_syntax_is (node, "Call"))
    {
      g_autofree char *name = assay_python_callee (lint->python, node);
      check_mean (lint, node, name);
    }
  if (assay_syntax_is (node, "Assign") && assay_syntax_length (node, "targets") == 1)
    check_label (lint, assay_syntax_text (assay_syntax_at (node, "targets", 0), "id"),
                 assay_syntax_get (node, "value"));
  if (assay_syntax_is (node, "keyword"))
    check_label (lint, assay_syntax_text (node, "arg"), assay_syntax_get (node, "value"));
  if (assay_syntax_is (node, "Dict"))
    for (guint i = 0; i < assay_syntax_length (node, "keys"); i++)
      check_label (lint, assay_syntax_string (assay_syntax_at (node, "keys", i)),
                   assay_syntax_at (node, "values", i));
  return TRUE;
}

void
assay_lint_metrics (AssayLint *lint)
{
  if (assay_lint_mentions_like (assay_python_module (lint->python),
                                "time|elapsed|latenc|speed_?up|bench"))
    assay_syntax_walk (assay_python_module (lint->python), visit, lint);
}
