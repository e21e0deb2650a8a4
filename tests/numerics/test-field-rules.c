/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of other suites against those suites' own verdicts (field-vectors.json, made by
 * make-field-vectors.py with NumPy, JAX and PyTorch), and against values worked out by hand. */
#include "engine/base/json.h"
#include "engine/numerics/field-rules.h"

#include <math.h>
#include <string.h>

static AssayFieldRules *rules;

static AssayArray *
from_codes (AssayDtype dtype, JsonArray *codes)
{
  const gint64 n = json_array_get_length (codes);
  AssayArray *array = assay_array_new (dtype, &n, 1, NULL);
  for (gint64 i = 0; i < n; i++)
    {
      JsonNode *node = json_array_get_element (codes, (guint) i);
      guint64 code = json_node_get_value_type (node) == G_TYPE_STRING
                         ? g_ascii_strtoull (json_node_get_string (node), NULL, 16)
                         : (guint64) json_node_get_int (node);
      assay_dtype_store (dtype, array->data, (gsize) i, code);
    }
  return array;
}

static double
number_of (JsonNode *node)
{
  if (json_node_get_value_type (node) == G_TYPE_STRING)
    return g_strtod (json_node_get_string (node), NULL);
  return json_node_get_double (node);
}

/* PyTorch prints a Python float of the array's own value: the same double. */
static void
check_greatest (JsonObject *row, const AssayFieldVerdict *verdict)
{
  if (!json_object_has_member (row, "greatest"))
    return;
  JsonArray *both = json_object_get_array_member (row, "greatest");
  const AssayFieldGreatest *ours[2] = {&verdict->greatest_abs, &verdict->greatest_rel};
  for (guint i = 0; i < 2; i++)
    {
      JsonArray *pair = json_array_get_array_element (both, i);
      double value = number_of (json_array_get_element (pair, 0));
      g_test_message ("%.17g at %" G_GINT64_FORMAT ", there %.17g at %" G_GINT64_FORMAT,
                      ours[i]->value, ours[i]->index, value, json_array_get_int_element (pair, 1));
      g_assert_cmpint (ours[i]->index, ==, json_array_get_int_element (pair, 1));
      g_assert_true (ours[i]->value == value || (isnan (value) && isnan (ours[i]->value)));
    }
}

/* The vectors come from PyTorch 1.13 on a CPU. Its assert_close widened to float64 first, and its isclose
 * rounded the constants to the arrays' type, where newer ones, and GPUs, keep them in float32. Nothing
 * else differs. */
static AssayFieldRule
as_it_was_measured (const AssayFieldRule *rule)
{
  AssayFieldRule copy = *rule;
  gboolean asserts = g_str_equal (rule->name, "torch.assert_close")
                     || g_str_equal (rule->name, "transformer_engine.python");
  if (copy.arithmetic == ASSAY_FIELD_IN_DTYPE)
    copy.arithmetic = asserts ? ASSAY_FIELD_IN_DOUBLE : ASSAY_FIELD_IN_DTYPE_ONLY;
  return copy;
}

static void
check_row (JsonObject *row)
{
  const char *name = json_object_get_string_member (row, "rule");
  AssayDtype dtype = assay_dtype_from_name (json_object_get_string_member (row, "dtype"));
  const AssayFieldRule *rule = assay_field_rules_find (rules, name);
  g_assert_nonnull (rule);
  g_autoptr (AssayArray) c = from_codes (dtype, json_object_get_array_member (row, "candidate"));
  g_autoptr (AssayArray) r = from_codes (dtype, json_object_get_array_member (row, "reference"));
  const AssayFieldRule measured = as_it_was_measured (rule);
  g_autoptr (AssayFieldVerdict) verdict = assay_field_rule_judge (&measured, c, r, NULL);
  gint64 mismatches = json_object_get_int_member (row, "mismatches");
  gboolean accepted = json_object_get_boolean_member (row, "accepted");
  if (verdict->accepted != accepted
      || (mismatches >= 0 && verdict->mismatches != (guint64) mismatches))
    for (gsize i = 0; i < c->count; i++)
      g_test_message ("%s %s: %.17g against %.17g", name, assay_dtype_name (dtype),
                      assay_array_get (c, i), assay_array_get (r, i));
  g_assert_true (verdict->applies);
  g_assert_cmpint (verdict->accepted, ==, accepted);
  if (mismatches >= 0)
    g_assert_cmpuint (verdict->mismatches, ==, (guint64) mismatches);
  check_greatest (row, verdict);
}

static void
test_libraries_agree (gconstpointer name)
{
  g_autofree char *path = g_build_filename (g_getenv ("ASSAY_SOURCE_DIR"), "tests", "numerics",
                                            "field-vectors.json", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonParser) parser = json_parser_new ();
  json_parser_load_from_file (parser, path, &error);
  g_assert_no_error (error);
  JsonObject *root = json_node_get_object (json_parser_get_root (parser));
  JsonArray *rows = json_object_get_array_member (root, "rows");
  guint seen = 0;
  for (guint i = 0; i < json_array_get_length (rows); i++)
    {
      JsonObject *row = json_array_get_object_element (rows, i);
      if (!g_str_equal (json_object_get_string_member (row, "rule"), name))
        continue;
      check_row (row);
      seen++;
    }
  g_assert_cmpuint (seen, >=, 24);
}

static AssayFieldVerdict *
judge (const char *name, AssayDtype dtype, gint64 n, const double *c, const double *r,
       const double *gold)
{
  g_autoptr (AssayArray) candidate = assay_array_new (dtype, &n, 1, NULL);
  g_autoptr (AssayArray) reference = assay_array_new (dtype, &n, 1, NULL);
  for (gint64 i = 0; i < n; i++)
    {
      assay_array_set (candidate, (gsize) i, c[i]);
      assay_array_set (reference, (gsize) i, r[i]);
    }
  return assay_field_rule_judge (assay_field_rules_find (rules, name), candidate, reference, gold);
}

static void
test_operand_order (void)
{
  /* 0.00001 of ten and of nine: only one of the two orders allows what lies between. */
  const double big = 1 + 1e-5 + 1e-8 + 5e-11, one = 1;
  g_autoptr (AssayFieldVerdict) right =
      judge ("numpy.allclose", ASSAY_DTYPE_FLOAT64, 1, &big, &one, NULL);
  g_autoptr (AssayFieldVerdict) swapped =
      judge ("numpy.allclose-swapped", ASSAY_DTYPE_FLOAT64, 1, &big, &one, NULL);
  g_assert_false (right->accepted);
  g_assert_true (swapped->accepted);
}

static void
test_wrapping_integers (void)
{
  /* 3.4e38 against -3.4e38 is 4.28e9 steps; as signed 32-bit integers it wraps. */
  const double most = 0x1.fffffep127, least = -most;
  g_autoptr (AssayFieldVerdict) verdict =
      judge ("numpy.assert_array_max_ulp", ASSAY_DTYPE_FLOAT32, 1, &most, &least, NULL);
  g_assert_cmpfloat (verdict->error, ==, 16777218);
}

static void
test_baseline (void)
{
  const double gold[] = {1, 2, 3}, reference[] = {1, 2.5, 3}, good[] = {0, 2, 3},
               bad[] = {1, 2, 4.5};
  g_autoptr (AssayFieldVerdict) a =
      judge ("flash_attention", ASSAY_DTYPE_FLOAT32, 3, good, reference, gold);
  g_autoptr (AssayFieldVerdict) b =
      judge ("flash_attention", ASSAY_DTYPE_FLOAT32, 3, bad, reference, gold);
  g_autoptr (AssayFieldVerdict) none =
      judge ("flash_attention", ASSAY_DTYPE_FLOAT32, 3, bad, reference, NULL);
  g_assert_true (a->accepted);
  g_assert_cmpfloat (a->allowed, ==, 2 * 0.5 + 3e-5);
  g_assert_false (b->accepted);
  g_assert_cmpint (b->deciding, ==, 2);
  g_assert_false (none->applies);
  g_assert_nonnull (strstr (none->reason, "gold"));
}

static void
test_norms (void)
{
  /* ||(3, 4)|| is 5 and ||(6, 8)|| 10; a candidate of zeros is approximated by nothing. */
  const double c[] = {6.06, 8.08}, r[] = {6, 8}, zero[] = {0, 0};
  g_autoptr (AssayFieldVerdict) norm = judge ("global_norm", ASSAY_DTYPE_FLOAT64, 2, c, r, NULL);
  g_assert_cmpfloat_with_epsilon (norm->error, 0.1, 1e-12);
  g_assert_cmpfloat_with_epsilon (norm->allowed, 0.1, 1e-12);
  g_autoptr (AssayFieldVerdict) eigen =
      judge ("eigen.isApprox", ASSAY_DTYPE_FLOAT64, 2, zero, r, NULL);
  g_assert_cmpfloat (eigen->allowed, ==, 0);
  g_assert_false (eigen->accepted);
  /* rms of (3, 4, 0, 0) is 2.5; one error of 0.02 against it is 0.008, and 0.004 in the mean. */
  const double s[] = {3, 4, 0.02, 0}, t[] = {3, 4, 0, 0};
  g_autoptr (AssayFieldVerdict) rms =
      judge ("triton_kernels.assert_close", ASSAY_DTYPE_FLOAT64, 4, s, t, NULL);
  g_assert_true (rms->accepted);
  g_assert_cmpfloat_with_epsilon (rms->error, 0.008, 1e-12);
  const double u[] = {3, 4, 0.04, 0};
  g_autoptr (AssayFieldVerdict) over =
      judge ("triton_kernels.assert_close", ASSAY_DTYPE_FLOAT64, 4, u, t, NULL);
  g_assert_false (over->accepted);
  g_assert_cmpfloat_with_epsilon (over->error, 0.008, 1e-12);
  g_autoptr (AssayFieldVerdict) scaled = judge ("rms_scaled", ASSAY_DTYPE_FLOAT64, 4, u, t, NULL);
  g_assert_cmpfloat_with_epsilon (scaled->allowed, 0.025, 1e-12);
  /* One large value, and every error below a hundredth of it passes. */
  const double v[] = {1000, 9}, w[] = {1000, 0};
  g_autoptr (AssayFieldVerdict) old = judge ("triton.allclose", ASSAY_DTYPE_FLOAT32, 2, v, w, NULL);
  g_assert_true (old->accepted);
}

static void
test_every_rule_is_named_and_sourced (void)
{
  for (guint i = 0; i < rules->rules->len; i++)
    {
      const AssayFieldRule *rule = g_ptr_array_index (rules->rules, i);
      g_assert_true (assay_field_rules_find (rules, rule->name) == rule);
      g_assert_cmpuint (strlen (rule->source), >, 8);
      const double one = 1;
      g_autoptr (AssayFieldVerdict) same =
          judge (rule->name, ASSAY_DTYPE_FLOAT32, 1, &one, &one, &one);
      g_assert_true (same->applies);
      g_assert_true (same->accepted);
      const double other = -1e30;
      g_autoptr (AssayFieldVerdict) wrong =
          judge (rule->name, ASSAY_DTYPE_FLOAT32, 1, &other, &one, &one);
      /* Where the candidate scales its own tolerance by more than one, nothing would be refused. */
      g_assert_false (wrong->accepted);
      g_assert_cmpfloat (wrong->passing_share, ==, 0);
    }
}

static const char *const IN_LIBRARIES[] = {"torch.assert_close",
                                           "torch.allclose",
                                           "numpy.allclose",
                                           "numpy.allclose-swapped",
                                           "numpy.assert_allclose",
                                           "numpy.assert_array_almost_equal",
                                           "numpy.assert_array_almost_equal_nulp",
                                           "numpy.assert_array_max_ulp",
                                           "jax.assert_allclose",
                                           "jax.gradients",
                                           "jax.check_close",
                                           "triton.assert_close",
                                           "cutlass.relatively_equal",
                                           "transformer_engine.python",
                                           "transformer_engine.cpp",
                                           "kernelbench",
                                           "kernelbench.v0",
                                           "sol_execbench",
                                           "polygraphy"};

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_autoptr (GError) error = NULL;
  g_autofree char *path =
      g_build_filename (g_getenv ("ASSAY_SOURCE_DIR"), "data", "tolerance-rules.json", NULL);
  rules = assay_field_rules_load (path, &error);
  g_assert_no_error (error);
  for (gsize i = 0; i < G_N_ELEMENTS (IN_LIBRARIES); i++)
    {
      g_autofree char *name = g_strdup_printf ("/field-rules/library/%s", IN_LIBRARIES[i]);
      g_test_add_data_func (name, IN_LIBRARIES[i], test_libraries_agree);
    }
  g_test_add_func ("/field-rules/operand-order", test_operand_order);
  g_test_add_func ("/field-rules/wrapping", test_wrapping_integers);
  g_test_add_func ("/field-rules/baseline", test_baseline);
  g_test_add_func ("/field-rules/norms", test_norms);
  g_test_add_func ("/field-rules/every-rule", test_every_rule_is_named_and_sourced);
  int status = g_test_run ();
  assay_field_rules_free (rules);
  return status;
}
