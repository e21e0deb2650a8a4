/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/error.h"
#include "engine/base/expression.h"
#include "engine/base/json-table.h"

#include <math.h>
#include <string.h>

static void
scanner_accepts_json_and_nothing_else (void)
{
  static const struct
  {
    const char *text;
    const char *message; /* NULL: accepted */
  } CASES[] = {
      {"{}", NULL},
      {" [1, -0.5e+3, true, null, \"\\u00e9\\n\"] ", NULL},
      {"{\"a\":{\"a\":1}}", NULL},
      {"", "the text ends"},
      {"{\"a\":1,}", "expected a key"},
      {"[1,]", "not a JSON value"},
      {"[1 2]", "expected ',' or ']'"},
      {"{\"a\" 1}", "expected ':'"},
      {"{\"a\":1,\"a\":2}", "same key twice"},
      {"01", "leading zero"},
      {"1.", "after the point"},
      {"1e", "exponent"},
      {"1e999", "beyond the range"},
      {"0x10", "text after the end"},
      {"'a'", "not a JSON value"},
      {"NaN", "not a JSON value"},
      {"\"\\x\"", "unknown escape"},
      {"\"\\u12g4\"", "four hexadecimal"},
      {"\"\\u0000\"", "NUL"},
      {"\"a\nb\"", "control character"},
      {"\"abc", "without an end"},
      {"{} {}", "text after the end"},
      {"12345678901234567890", "more than 18 digits"},
      {"\"\xff\"", "not valid UTF-8"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (CASES); i++)
    {
      g_autoptr (GError) error = NULL;
      gboolean good = assay_json_scan (CASES[i].text, strlen (CASES[i].text),
                                       &ASSAY_JSON_LIMITS_TASK, "case", &error);
      g_assert_cmpint (good, ==, CASES[i].message == NULL);
      if (CASES[i].message)
        g_assert_nonnull (strstr (error->message, CASES[i].message));
    }
}

static void
scanner_bounds_depth_items_and_bytes (void)
{
  AssayJsonLimits limits = {1000, 5, 10};
  g_autoptr (GError) error = NULL;
  g_autofree char *deep = g_strnfill (200000, '[');
  g_assert_false (assay_json_scan (deep, 900, &limits, NULL, &error));
  g_assert_error (error, ASSAY_ERROR, ASSAY_ERROR_LIMIT);
  g_clear_error (&error);
  g_assert_false (assay_json_scan ("[1,1,1,1,1,1,1,1,1,1,1]", 23, &limits, NULL, &error));
  g_assert_error (error, ASSAY_ERROR, ASSAY_ERROR_LIMIT);
  g_clear_error (&error);
  g_assert_false (assay_json_scan (deep, 200000, &limits, NULL, &error));
  g_assert_error (error, ASSAY_ERROR, ASSAY_ERROR_LIMIT);
}

static void
error_names_line_and_column (void)
{
  g_autoptr (GError) error = NULL;
  const char *text = "{\n  \"a\": 1,\n  \"b\": tru\n}";
  g_assert_null (assay_json_parse (text, -1, &ASSAY_JSON_LIMITS_TASK, "task.json", &error));
  g_assert_true (g_str_has_prefix (error->message, "task.json:3:8: "));
}

static void
doubles_are_shortest_and_read_back (void)
{
  static const struct
  {
    double value;
    const char *text;
  } CASES[] = {{0.1, "0.1"},
               {1e-4, "0.0001"},
               {1.0 / 3, "0.3333333333333333"},
               {5e-324, "5e-324"},
               {1.7976931348623157e308, "1.7976931348623157e+308"},
               {-0.0, "-0"},
               {INFINITY, "Infinity"},
               {-INFINITY, "-Infinity"}};
  for (gsize i = 0; i < G_N_ELEMENTS (CASES); i++)
    {
      g_autofree char *text = assay_double_to_string (CASES[i].value);
      g_assert_cmpstr (text, ==, CASES[i].text);
    }
  for (int i = 0; i < 20000; i++)
    {
      union
      {
        guint64 bits;
        double value;
      } u = {.bits = ((guint64) g_test_rand_int () << 32) ^ (guint32) g_test_rand_int ()};
      if (!isfinite (u.value))
        continue;
      g_autofree char *text = assay_double_to_string (u.value);
      g_assert_true (g_ascii_strtod (text, NULL) == u.value);
    }
}

static void
canonical_text_sorts_keys (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonNode) node = assay_json_parse ("{\"b\":[1,{\"d\":2.5,\"c\":\"\\t\"}],\"a\":{}}",
                                                -1, &ASSAY_JSON_LIMITS_TASK, NULL, &error);
  g_autofree char *text = assay_json_write (node);
  g_autofree char *line = assay_json_write_line (node);
  g_assert_cmpstr (text, ==,
                   "{\n  \"a\": {},\n  \"b\": [\n    1,\n    {\n      \"c\": \"\\t\",\n"
                   "      \"d\": 2.5\n    }\n  ]\n}\n");
  g_assert_cmpstr (line, ==, "{\"a\":{},\"b\":[1,{\"c\":\"\\t\",\"d\":2.5}]}");
}

typedef struct
{
  char *name;
  guint64 big;
} Item;

typedef struct
{
  int mode;
  double value;
  char *size;
  char **shape;
  GArray *counts;
  Item *item;
  GPtrArray *items;
} Sample;

static const char *const MODES[] = {"slow", "fast", NULL};
static const AssayJsonField ITEM_FIELDS[] = {ASSAY_JSON_FIELD (Item, big, "big", UINT),
                                             ASSAY_JSON_END};
static const AssayJsonTable ITEM_TABLE = {"item", sizeof (Item), ITEM_FIELDS, NULL};
static const AssayJsonField SAMPLE_FIELDS[] = {
    ASSAY_JSON_FIELD (Sample, mode, "mode", ENUM, .words = MODES, .flags = ASSAY_JSON_REQUIRED),
    ASSAY_JSON_FIELD (Sample, value, "value", DOUBLE),
    ASSAY_JSON_FIELD (Sample, size, "size", EXPR),
    ASSAY_JSON_FIELD (Sample, shape, "shape", EXPRS),
    ASSAY_JSON_FIELD (Sample, counts, "counts", UINTS),
    ASSAY_JSON_FIELD (Sample, item, "item", POINTER, .table = &ITEM_TABLE),
    ASSAY_JSON_FIELD (Sample, items, "items", MAP, .table = &ITEM_TABLE),
    ASSAY_JSON_END,
};
static const AssayJsonTable SAMPLE_TABLE = {"sample", sizeof (Sample), SAMPLE_FIELDS, NULL};

static JsonNode *
parse (const char *text)
{
  return assay_json_parse (text, -1, &ASSAY_JSON_LIMITS_TASK, NULL, NULL);
}

static void
tables_round_trip (void)
{
  static const char *const text =
      "{\"counts\":[1,\"18446744073709551615\"],\"item\":{\"big\":7},\"items\":{\"x\":{\"big\":"
      "\"9007199254740993\"},\"y\":{\"big\":0}},\"mode\":\"fast\",\"shape\":[\"rows\",4],"
      "\"size\":\"2*rows\",\"value\":\"-Infinity\"}";
  g_autoptr (JsonNode) node = parse (text);
  g_autoptr (GError) error = NULL;
  Sample *sample = assay_json_table_read (&SAMPLE_TABLE, node, "", NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (sample->mode, ==, 1);
  g_assert_true (isinf (sample->value) && sample->value < 0);
  g_assert_cmpstr (sample->shape[1], ==, "4");
  g_assert_true (g_array_index (sample->counts, guint64, 1) == G_MAXUINT64);
  Sample *copy = assay_json_table_copy (&SAMPLE_TABLE, sample);
  g_autoptr (JsonNode) again = assay_json_table_write (&SAMPLE_TABLE, copy);
  g_autofree char *line = assay_json_write_line (again);
  g_assert_cmpstr (line, ==, text);
  assay_json_table_free (&SAMPLE_TABLE, sample);
  assay_json_table_free (&SAMPLE_TABLE, copy);
}

static void
table_errors_name_key_expected_and_found (void)
{
  static const struct
  {
    const char *text, *message;
  } CASES[] = {
      {"{}", "mode: missing"},
      {"{\"mode\":\"medium\"}", "mode: expected one of slow, fast, found \"medium\""},
      {"{\"mode\":\"fast\",\"value\":\"abc\"}", "value: expected a number, found \"abc\""},
      {"{\"mode\":\"fast\",\"shape\":[1,[]]}", "shape[1]: expected an integer or an expression, "
                                               "found an array"},
      {"{\"mode\":\"fast\",\"counts\":[-1]}",
       "counts[0]: expected a number of that kind, found -1"},
      {"{\"mode\":\"fast\",\"items\":{\"x\":{\"big\":true}}}",
       "items.x.big: expected a non-negative integer, found true"},
      {"[]", "top level: expected an object, found an array"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (CASES); i++)
    {
      g_autoptr (JsonNode) node = parse (CASES[i].text);
      g_autoptr (GError) error = NULL;
      g_assert_null (assay_json_table_read (&SAMPLE_TABLE, node, "", NULL, &error));
      g_test_message ("%s", error->message);
      g_assert_true (g_str_has_prefix (error->message, CASES[i].message));
    }
}

static void
unknown_keys_are_warnings (void)
{
  g_autoptr (JsonNode) node = parse ("{\"mode\":\"fast\",\"item\":{\"bigg\":1}}");
  g_autoptr (GPtrArray) warnings = g_ptr_array_new_with_free_func (g_free);
  Sample *sample = assay_json_table_read (&SAMPLE_TABLE, node, "", warnings, NULL);
  g_assert_nonnull (sample);
  g_assert_cmpuint (warnings->len, ==, 1);
  g_assert_cmpstr (g_ptr_array_index (warnings, 0), ==, "item.bigg: unknown key, ignored");
  assay_json_table_free (&SAMPLE_TABLE, sample);
}

static gboolean
lookup (const char *name, gint64 *value, gpointer user_data)
{
  *value = 100;
  return g_str_equal (name, "rows");
}

static void
expressions_are_checked_arithmetic (void)
{
  static const struct
  {
    const char *text;
    gint64 value;
    const char *message;
  } CASES[] = {
      {"4*256", 1024, NULL},
      {" ( rows + 31 ) / 32 ", 4, NULL},
      {"ceil_div(rows, 32)", 4, NULL},
      {"ceil_div(-7, 2)", -3, NULL},
      {"min(rows,7)+max(2, 3)", 10, NULL},
      {"-7/2", -3, NULL},
      {"7%4-1", 2, NULL},
      {"2+3*4", 14, NULL},
      {"10-3-2", 5, NULL},
      {"rows >= 1 && rows % 4 == 0", 1, NULL},
      {"rows < 1 || rows != 100", 0, NULL},
      {"9223372036854775807", G_MAXINT64, NULL},
      {"9223372036854775807+1", 0, "does not fit 64 bits"},
      {"9223372036854775808", 0, "does not fit 64 bits"},
      {"rows/0", 0, "division by zero"},
      {"cols", 0, "no axis or scalar \"cols\""},
      {"1 +", 0, "ends early"},
      {"(1", 0, "expected ')'"},
      {"1 2", 0, "unexpected text"},
      {"1.5", 0, "only integers"},
      {"ceil_div(1,0)", 0, "positive divisor"},
      {"", 0, "ends early"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS (CASES); i++)
    {
      g_autoptr (GError) error = NULL;
      gint64 value = 0;
      gboolean good = assay_expression_evaluate (CASES[i].text, lookup, NULL, &value, &error);
      g_test_message ("%s: %s", CASES[i].text, error ? error->message : "good");
      g_assert_cmpint (good, ==, CASES[i].message == NULL);
      if (good)
        g_assert_cmpint (value, ==, CASES[i].value);
      else
        g_assert_nonnull (strstr (error->message, CASES[i].message));
    }
  g_autofree char *deep = g_strnfill (5000, '(');
  g_autoptr (GError) error = NULL;
  gint64 value = 0;
  g_assert_false (assay_expression_evaluate (deep, lookup, NULL, &value, &error));
  g_assert_nonnull (strstr (error->message, "too deeply"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/scanner-accepts-json-and-nothing-else",
                   scanner_accepts_json_and_nothing_else);
  g_test_add_func ("/base/scanner-bounds-depth-items-and-bytes",
                   scanner_bounds_depth_items_and_bytes);
  g_test_add_func ("/base/error-names-line-and-column", error_names_line_and_column);
  g_test_add_func ("/base/doubles-are-shortest-and-read-back", doubles_are_shortest_and_read_back);
  g_test_add_func ("/base/canonical-text-sorts-keys", canonical_text_sorts_keys);
  g_test_add_func ("/base/tables-round-trip", tables_round_trip);
  g_test_add_func ("/base/table-errors-name-key-expected-and-found",
                   table_errors_name_key_expected_and_found);
  g_test_add_func ("/base/unknown-keys-are-warnings", unknown_keys_are_warnings);
  g_test_add_func ("/base/expressions-are-checked-arithmetic", expressions_are_checked_arithmetic);
  return g_test_run ();
}
