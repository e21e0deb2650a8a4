/* SPDX-License-Identifier: Apache-2.0 */
/* What inputs a source draws. */
#include "engine/lint/lint-private.h"

#include <string.h>

#define GENERATOR                                                                                  \
  "^(get_inputs|generate_inputs?|create_inputs?|make_inputs?|gen_inputs?|input_generator|"         \
  "generate_(functional|performance)_tests?|generate_test_cases)$"
#define POSITIVE                                                                                   \
  "^(torch\\.rand|numpy\\.random\\.(rand|random|random_sample)|random\\.random|cupy\\.random\\."   \
  "rand|"                                                                                          \
  "torch\\.rand_like|.*\\.random)$|(^|\\.)uniform_?$|^jax\\.random\\.uniform$"
#define SIGNED                                                                                     \
  "(^|\\.)(randn|randn_like|normal_?|standard_normal|trunc_normal_|laplace|xavier\\w*|kaiming\\w*" \
  "|"                                                                                              \
  "cauchy_?)$"
/* Whole numbers, and data that are written down. */
#define WHOLE                                                                                      \
  "(^|\\.)(tensor|as_tensor|from_numpy|array|arange|linspace|load|randint|integers|randperm|"      \
  "choice|multinomial|bernoulli_?|randint_like)$"
#define CONSTANT                                                                                   \
  "^(torch|numpy|jax\\.numpy|cupy)\\.(zeros|ones|full|zeros_like|ones_like|full_like)$"

typedef struct
{
  AssayLint *lint;
  guint positive, signed_, whole, constant, arithmetic;
  AssaySyntax *first;
} Draws;

/* uniform (low, high) with a low below zero draws signs. */
static gboolean
is_signed_uniform (AssaySyntax *call)
{
  double low = 0;
  static const char *const NAMES[] = {"low", "minval", "from", "a"};
  for (gsize i = 0; i < G_N_ELEMENTS (NAMES); i++)
    if (assay_syntax_number (assay_syntax_keyword (call, NAMES[i]), &low))
      return low < 0;
  return assay_syntax_number (assay_syntax_argument (call, 0), &low) && low < 0;
}

static gboolean
read_draw (AssaySyntax *node, gpointer user_data)
{
  Draws *self = user_data;
  if (assay_syntax_is (node, "BinOp") || assay_syntax_is (node, "UnaryOp"))
    self->arithmetic += assay_syntax_is (assay_syntax_get (node, "op"), "Sub")
                        || assay_syntax_is (assay_syntax_get (node, "op"), "USub");
  if (!assay_syntax_is (node, "Call"))
    return TRUE;
  g_autofree char *name = assay_python_callee (self->lint->python, node);
  guint *kind = assay_lint_is_like (name, SIGNED) ? &self->signed_
                : assay_lint_is_like (name, POSITIVE)
                    ? is_signed_uniform (node) ? &self->signed_ : &self->positive
                : assay_lint_is_like (name, WHOLE)    ? &self->whole
                : assay_lint_is_like (name, CONSTANT) ? &self->constant
                                                      : NULL;
  if (!kind)
    return TRUE;
  ++*kind;
  if (!self->first)
    self->first = node;
  return TRUE;
}

static gboolean
has_parameter (AssaySyntax *function, const char *name, AssaySyntax **found)
{
  AssaySyntax *args = assay_syntax_get (function, "args");
  for (guint i = 0; i < assay_syntax_length (args, "args"); i++)
    if (g_strcmp0 (assay_syntax_text (assay_syntax_at (args, "args", i), "arg"), name) == 0)
      *found = assay_syntax_at (args, "args", i);
  return *found != NULL;
}

static void
check_seed (AssayLint *lint, AssaySyntax *function, const Draws *draws)
{
  AssaySyntax *seed = NULL;
  gboolean used = FALSE;
  if (!has_parameter (function, "seed", &seed)
      || draws->positive + draws->signed_ + draws->whole == 0)
    return;
  for (guint i = 0; i < assay_syntax_length (function, "body"); i++)
    used = used || assay_syntax_mentions (assay_syntax_at (function, "body", i), "seed");
  if (!used)
    assay_lint_add (lint, "task.input-coverage", seed, 0.9,
                    g_strdup_printf ("%s () takes a seed and never uses it",
                                     assay_syntax_text (function, "name")),
                    "Runs with different seeds then see whatever the generator happens to give.");
}

static void
check_function (AssayLint *lint, AssaySyntax *function)
{
  const char *name = assay_syntax_text (function, "name");
  if (!assay_lint_is_like (name, GENERATOR))
    return;
  Draws draws = {.lint = lint};
  assay_syntax_walk_field (function, "body", read_draw, &draws);
  if (draws.positive > 0 && draws.signed_ == 0 && draws.arithmetic == 0)
    assay_lint_add (lint, "task.input-coverage", draws.first, 0.9,
                    g_strdup_printf ("every random input of %s () is positive", name),
                    "Without signs nothing cancels: lower precision passes, and a kink at zero "
                    "(ReLU, clamp, abs) is never crossed.");
  if (draws.constant > 0 && draws.positive + draws.signed_ + draws.whole == 0)
    assay_lint_add (lint, "task.input-coverage", draws.first, 0.7,
                    g_strdup_printf ("the inputs of %s () are constants", name),
                    "Every element is the same, so a permuted, shifted or averaged answer passes.");
  check_seed (lint, function, &draws);
}

void
assay_lint_inputs (AssayLint *lint)
{
  assay_lint_functions (lint, check_function);
}
