/* SPDX-License-Identifier: Apache-2.0 */
/* How a source decides that an answer is right. */
#include "engine/lint/lint-private.h"

#include <string.h>

#define CHECKER "check|verif|valid|compar|allclose|is_correct|correctness|^test|assert|match"
#define ALLCLOSE                                                                                   \
  "^(torch|numpy|jax\\.numpy|cupy)\\.(allclose|isclose)$|^torch\\.testing\\.assert_close$|"        \
  "^numpy\\.testing\\.assert_(allclose|array_almost_equal|almost_equal)$|(^|\\.)assert_?allclose$"
#define PURE "^(torch|numpy|jax\\.numpy|cupy)\\.(allclose|array_equal|equal|isclose)$|\\.equal$"
#define REFERENCE                                                                                  \
  "(^|_|\\.)(ref\\w*|expect\\w*|gold\\w*|target\\w*|truth|gt|desired|baseline\\w*|oracle)(_|$|\\." \
  "|\\d)"
#define CANDIDATE                                                                                  \
  "(^|_|\\.)(out\\w*|actual|result\\w*|res|pred\\w*|cand\\w*|custom\\w*|new|triton\\w*|kernel\\w*" \
  "|"                                                                                              \
  "got|sol\\w*|submission|received|computed|y_hat)(_|$|\\.|\\d)"
#define NARROW "^(half|float16|bfloat16|fp16|bf16|float8\\w*|fp8\\w*)$"

/* ---- comparisons ---- */

/* The words that say what an operand is: the last identifier of its name. */
static char *
operand (AssayLint *lint, AssaySyntax *node)
{
  while (assay_syntax_is (node, "Call") || assay_syntax_is (node, "Subscript"))
    {
      AssaySyntax *inner = assay_syntax_get (node, "func");
      AssaySyntax *object = assay_syntax_get (inner, "value");
      node = assay_syntax_is (node, "Subscript") ? assay_syntax_get (node, "value")
             : assay_syntax_is (inner, "Attribute") && object && !assay_syntax_is (object, "Call")
                     && assay_syntax_length (node, "args") == 0
                 ? object
                 : assay_syntax_argument (node, 0);
    }
  return assay_python_name (lint->python, node);
}

static void
check_operands (AssayLint *lint, AssaySyntax *call, const char *name)
{
  g_autofree char *first = operand (lint, assay_syntax_argument (call, 0));
  g_autofree char *second = operand (lint, assay_syntax_argument (call, 1));
  if (assay_lint_is_like (first, REFERENCE) && !assay_lint_is_like (first, CANDIDATE)
      && assay_lint_is_like (second, CANDIDATE) && !assay_lint_is_like (second, REFERENCE))
    assay_lint_add (
        lint, "num.tolerance-operands", call, 0.8,
        g_strdup_printf ("%s scales its tolerance with %s", name, second),
        "The relative term belongs to the second argument: a candidate that answers with "
        "large numbers is allowed large errors.");
}

static double
tolerance (AssaySyntax *call, const char *keyword, guint position)
{
  double value = -1;
  AssaySyntax *is = assay_syntax_keyword (call, keyword);
  assay_syntax_number (is ? is : assay_syntax_argument (call, position), &value);
  return value;
}

static void
check_size (AssayLint *lint, AssaySyntax *call, const char *name)
{
  gboolean positional = g_str_has_suffix (name, "allclose") || g_str_has_suffix (name, "isclose");
  double rtol = tolerance (call, "rtol", positional ? 2 : 99);
  double atol = tolerance (call, "atol", positional ? 3 : 99);
  if (rtol >= 0.1 || atol >= 0.1)
    assay_lint_add (
        lint, "num.tolerance-too-loose", call, 0.6,
        rtol >= 0.1 ? g_strdup_printf ("relative tolerance %g", rtol)
                    : g_strdup_printf ("absolute tolerance %g", atol),
        "Unless the outputs are much larger, few wrong answers fail it: run the audit.");
}

/* ---- statements that cannot fail ---- */

static gboolean
visit_comparison (AssaySyntax *node, gpointer user_data)
{
  AssayLint *lint = user_data;
  if (assay_syntax_is (node, "Assert") && assay_syntax_is (assay_syntax_get (node, "test"), "Tuple")
      && assay_syntax_length (assay_syntax_get (node, "test"), "elts") > 0)
    assay_lint_add (lint, "task.checker-vacuous", node, 0.98,
                    g_strdup ("an assertion of a tuple is always true"),
                    "`assert (condition, message)` tests whether the tuple is empty.");
  if (assay_syntax_is (node, "Expr"))
    {
      g_autofree char *name = assay_python_callee (lint->python, assay_syntax_get (node, "value"));
      if (assay_lint_is_like (name, PURE))
        assay_lint_add (lint, "task.checker-vacuous", node, 0.95,
                        g_strdup_printf ("the answer of %s is thrown away", name), NULL);
    }
  if (assay_syntax_is (node, "Call"))
    {
      g_autofree char *name = assay_python_callee (lint->python, node);
      if (assay_lint_is_like (name, ALLCLOSE))
        {
          check_operands (lint, node, name);
          check_size (lint, node, name);
        }
    }
  return TRUE;
}

typedef struct
{
  AssayLint *lint;
  AssaySyntax *function;
  guint returns, true_returns, refusals, comparisons, shapes, lengths, nans;
  AssaySyntax *reduced; /* max (abs (a - b)), which broadcasts */
  AssaySyntax *zipped;  /* a loop over zip () */
} Checker;

static gboolean
says_true (AssaySyntax *value)
{
  return assay_syntax_is_bool (value, TRUE)
         || (assay_syntax_is (value, "Tuple")
             && assay_syntax_is_bool (assay_syntax_at (value, "elts", 0), TRUE));
}

static gboolean
is_difference (AssaySyntax *node)
{
  return assay_syntax_is (node, "BinOp") && assay_syntax_is (assay_syntax_get (node, "op"), "Sub");
}

/* (a - b).abs().max(), torch.max(torch.abs(a - b)), np.abs(a - b).max(), … */
static gboolean
reduces_difference (AssayLint *lint, AssaySyntax *call)
{
  g_autofree char *name = assay_python_callee (lint->python, call);
  AssaySyntax *inner = call;
  if (!assay_lint_is_like (name, "(^|\\.)(max|amax|mean|sum|norm)$"))
    return FALSE;
  for (int depth = 0; depth < 4 && assay_syntax_is (inner, "Call"); depth++)
    {
      AssaySyntax *object = assay_syntax_get (assay_syntax_get (inner, "func"), "value");
      AssaySyntax *first = assay_syntax_argument (inner, 0);
      if (is_difference (object) || is_difference (first))
        return TRUE;
      inner = assay_syntax_is (first, "Call") ? first : object;
    }
  return FALSE;
}

static void
read_call (Checker *self, AssaySyntax *node)
{
  g_autofree char *name = assay_python_callee (self->lint->python, node);
  self->comparisons += assay_lint_is_like (name, ALLCLOSE "|" PURE) ? 1 : 0;
  self->refusals +=
      assay_lint_is_like (name, "(^|\\.)(assert_\\w+|assertTrue|assertEqual|fail|exit)$");
  self->lengths += g_str_equal (name, "len") ? 1 : 0;
  self->nans += assay_lint_is_like (name, "isnan|isfinite|nan_to_num") ? 1 : 0;
  if (!self->reduced && reduces_difference (self->lint, node))
    self->reduced = node;
}

static gboolean
read_checker (AssaySyntax *node, gpointer user_data)
{
  Checker *self = user_data;
  if (node != self->function && assay_syntax_is (node, "FunctionDef"))
    return FALSE;
  if (assay_syntax_is (node, "Return"))
    {
      self->returns++;
      self->true_returns += says_true (assay_syntax_get (node, "value")) ? 1 : 0;
    }
  self->refusals += assay_syntax_is (node, "Raise") || assay_syntax_is (node, "Assert") ? 1 : 0;
  self->shapes +=
      assay_lint_is_like (assay_syntax_text (node, "attr"), "^(shape|size|ndim|numel)$");
  if (assay_syntax_is (node, "For"))
    {
      AssaySyntax *over = assay_syntax_get (node, "iter");
      g_autofree char *name = assay_python_callee (self->lint->python, over);
      if (g_str_equal (name, "zip") && !assay_syntax_keyword (over, "strict"))
        self->zipped = node;
    }
  if (assay_syntax_is (node, "Call"))
    read_call (self, node);
  return TRUE;
}

static AssaySyntax *
parameter_never_used (AssaySyntax *function, const char *like)
{
  AssaySyntax *args = assay_syntax_get (function, "args");
  static const char *const LISTS[] = {"posonlyargs", "args", "kwonlyargs"};
  for (gsize k = 0; k < G_N_ELEMENTS (LISTS); k++)
    for (guint i = 0; i < assay_syntax_length (args, LISTS[k]); i++)
      {
        AssaySyntax *parameter = assay_syntax_at (args, LISTS[k], i);
        const char *name = assay_syntax_text (parameter, "arg");
        gboolean used = FALSE;
        for (guint s = 0; s < assay_syntax_length (function, "body"); s++)
          used = used || assay_syntax_mentions (assay_syntax_at (function, "body", s), name);
        if (assay_lint_is_like (name, like) && !used)
          return parameter;
      }
  return NULL;
}

static gboolean
is_stub (AssaySyntax *function)
{
  AssaySyntax *only =
      assay_syntax_at (function, "body", assay_syntax_length (function, "body") - 1);
  return assay_syntax_is (only, "Pass") || assay_syntax_is (only, "Raise")
         || (assay_syntax_is (only, "Expr")
             && assay_syntax_is (assay_syntax_get (only, "value"), "Constant"));
}

static void
judge_checker (const Checker *self, const char *name)
{
  AssayLint *lint = self->lint;
  if (self->returns > 0 && self->returns == self->true_returns && self->refusals == 0)
    assay_lint_add (lint, "task.checker-vacuous", self->function, 0.85,
                    g_strdup_printf ("%s () can only say yes", name),
                    "No way through it returns anything but True, raises or asserts.");
  if (self->zipped && self->comparisons + (self->reduced ? 1 : 0) > 0 && self->lengths == 0)
    assay_lint_add (lint, "task.checker-vacuous", self->zipped, 0.75,
                    g_strdup_printf ("%s () compares as far as the shorter list goes", name),
                    "An answer with no outputs at all is compared with nothing, and passes.");
  if (self->reduced && self->shapes == 0 && self->comparisons == 0)
    assay_lint_add (lint, "task.checker-vacuous", self->reduced, 0.7,
                    g_strdup_printf ("%s () subtracts without a look at the shapes", name),
                    "An answer of another shape is broadcast: a row, or one number, may pass.");
}

static void
check_function (AssayLint *lint, AssaySyntax *function)
{
  const char *name = assay_syntax_text (function, "name");
  AssaySyntax *unused =
      parameter_never_used (function, "^(atol|rtol|tol|tolerance|precision_tol)$");
  if (unused && !is_stub (function))
    assay_lint_add (lint, "num.tolerance-operands", unused, 0.9,
                    g_strdup_printf ("%s () takes %s and never uses it", name,
                                     assay_syntax_text (unused, "arg")),
                    "Whatever the caller asks for, another tolerance decides.");
  if (!assay_lint_is_like (name, CHECKER) || is_stub (function))
    return;
  Checker self = {.lint = lint, .function = function};
  assay_syntax_walk (function, read_checker, &self);
  judge_checker (&self, name);
}

/* ---- what is caught and forgotten ---- */

typedef struct
{
  AssayLint *lint;
  gboolean compares;
} Guarded;

static gboolean
find_comparison (AssaySyntax *node, gpointer user_data)
{
  Guarded *self = user_data;
  g_autofree char *name = assay_python_callee (self->lint->python, node);
  self->compares =
      self->compares || assay_syntax_is (node, "Assert")
      || assay_lint_is_like (name, "^torch\\.testing\\.assert_close$|(^|\\.)assert_?allclose$");
  return !self->compares;
}

static gboolean
visit_try (AssaySyntax *node, gpointer user_data)
{
  AssayLint *lint = user_data;
  if (!assay_syntax_is (node, "Try"))
    return TRUE;
  Guarded guarded = {lint, FALSE};
  assay_syntax_walk_field (node, "body", find_comparison, &guarded);
  for (guint i = 0; guarded.compares && i < assay_syntax_length (node, "handlers"); i++)
    {
      AssaySyntax *handler = assay_syntax_at (node, "handlers", i);
      g_autofree char *type = assay_python_name (lint->python, assay_syntax_get (handler, "type"));
      AssaySyntax *last =
          assay_syntax_at (handler, "body", assay_syntax_length (handler, "body") - 1);
      gboolean forgets =
          assay_syntax_is (last, "Pass") || assay_syntax_is (last, "Continue")
          || (assay_syntax_is (last, "Return") && says_true (assay_syntax_get (last, "value")));
      if (forgets && assay_lint_is_like (type, "^(AssertionError|Exception|BaseException|\\(\\))$"))
        assay_lint_add (lint, "task.checker-vacuous", handler, 0.85,
                        g_strdup ("a failed comparison is caught and forgotten"), NULL);
    }
  return TRUE;
}

void
assay_lint_checkers (AssayLint *lint)
{
  assay_syntax_walk (assay_python_module (lint->python), visit_comparison, lint);
  assay_syntax_walk (assay_python_module (lint->python), visit_try, lint);
  assay_lint_functions (lint, check_function);
}
