/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cli/command.h"

#include "engine/base/blocked.h"
#include "engine/base/error.h"
#include "engine/device/installation.h"
#include "engine/numerics/compare.h"
#include "engine/numerics/field-rules.h"
#include "engine/task/task.h"

#include <math.h>
#include <stdio.h>

typedef struct
{
  char *gold, *rule, *json, *tensor, *blocks;
  double atol, rtol, ratio;
  gint64 ulp;
  gboolean equal_nan, all_rules;
} Options;

static gboolean
is_own_rule (const char *rule)
{
  return !rule || g_strv_contains (ASSAY_TOLERANCE_RULES, rule);
}

static gboolean
make_tolerance (const Options *options, AssayTolerance *tolerance, GError **error)
{
  const char *rule = options->rule ? options->rule : "allclose";
  tolerance->rule = -1;
  for (int i = 0; ASSAY_TOLERANCE_RULES[i]; i++)
    if (g_str_equal (ASSAY_TOLERANCE_RULES[i], rule))
      tolerance->rule = i;
  tolerance->atol = options->atol;
  tolerance->rtol = options->rtol;
  tolerance->ulp = (guint64) MAX (options->ulp, 0);
  tolerance->matched_ratio = options->ratio;
  tolerance->equal_nan = options->equal_nan;
  if (options->ulp < 0)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
                   "tolerance.ulp: expected 0 or more, found %" G_GINT64_FORMAT, options->ulp);
      return FALSE;
    }
  return assay_tolerance_in_range (tolerance, "tolerance", error);
}

static AssayFieldRules *
load_rules (GError **error)
{
  g_autofree char *path = assay_data_path ("tolerance-rules.json", error);
  return path ? assay_field_rules_load (path, error) : NULL;
}

static void
print_verdict (const AssayFieldRule *rule, const AssayFieldVerdict *verdict)
{
  g_autofree char *deciding = NULL;
  if (!verdict->applies)
    {
      printf ("%-36s –         %s\n", rule->name, verdict->reason);
      return;
    }
  if (verdict->deciding >= 0)
    deciding = g_strdup_printf ("element %" G_GINT64_FORMAT ": %.6g, %.6g allowed",
                                verdict->deciding, verdict->error, verdict->allowed);
  else if (verdict->error > 0)
    deciding = g_strdup_printf ("the whole: %.6g, %.6g allowed", verdict->error, verdict->allowed);
  printf ("%-36s %-9s %8.4f %%  %s\n", rule->name, verdict->accepted ? "accepted" : "refused",
          100 * verdict->passing_share, deciding ? deciding : "nothing differs");
}

/* One rule of the field, or all of them side by side; the exit status is that of the one. */
static int
compare_by_field (const AssayArray *candidate, const AssayArray *reference, const double *gold,
                  const Options *options, GError **error)
{
  g_autoptr (AssayFieldRules) rules = load_rules (error);
  if (!rules)
    return ASSAY_EXIT_IMPOSSIBLE;
  const AssayFieldRule *only =
      options->all_rules ? NULL : assay_field_rules_find (rules, options->rule);
  gboolean text = g_strcmp0 (options->json, "-") != 0, accepted = TRUE;
  g_autoptr (JsonNode) root = json_node_new (JSON_NODE_OBJECT);
  json_node_take_object (root, json_object_new ());
  JsonArray *list = json_array_new ();
  json_object_set_array_member (json_node_get_object (root), "rules", list);
  for (guint i = 0; i < rules->rules->len; i++)
    {
      const AssayFieldRule *rule = g_ptr_array_index (rules->rules, i);
      if (only && rule != only)
        continue;
      g_autoptr (AssayFieldVerdict) verdict =
          assay_field_rule_judge (rule, candidate, reference, gold);
      accepted = accepted && verdict->accepted;
      if (text)
        print_verdict (rule, verdict);
      if (text && only)
        printf ("%s\n%s\nsource: %s\n", rule->title, rule->text, rule->source);
      json_array_add_element (list, assay_json_table_write (&ASSAY_FIELD_VERDICT_TABLE, verdict));
    }
  if (options->json && !assay_command_write_json (root, options->json, error))
    return ASSAY_EXIT_IMPOSSIBLE;
  return options->all_rules || accepted ? ASSAY_EXIT_FINE : ASSAY_EXIT_FAULTS;
}

static gboolean
check_rule_name (const Options *options, GError **error)
{
  if (options->all_rules || is_own_rule (options->rule))
    return TRUE;
  g_autoptr (AssayFieldRules) rules = load_rules (error);
  if (!rules)
    return FALSE;
  if (assay_field_rules_find (rules, options->rule))
    return TRUE;
  g_autoptr (GString) known = g_string_new (NULL);
  for (int i = 0; ASSAY_TOLERANCE_RULES[i]; i++)
    g_string_append_printf (known, "%s%s", i ? ", " : "", ASSAY_TOLERANCE_RULES[i]);
  for (guint i = 0; i < rules->rules->len; i++)
    g_string_append_printf (known, ", %s",
                            ((AssayFieldRule *) g_ptr_array_index (rules->rules, i))->name);
  g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID, "no rule \"%s\"; there are: %s",
               options->rule, known->str);
  return FALSE;
}

static double *
gold_values (const AssayArray *gold)
{
  gsize count = assay_array_components (gold);
  double *values = g_new (double, MAX (count, 1));
  for (gsize i = 0; i < count; i++)
    values[i] = assay_array_get (gold, i);
  return values;
}

static void
print_comparison (const AssayComparison *comparison, const AssayTolerance *tolerance)
{
  g_autofree char *rule = assay_tolerance_describe (tolerance);
  printf ("%s\n%s: %s\n\n", rule, comparison->accepted ? "accepted" : "refused",
          comparison->verdict);
  printf ("elements        %" G_GUINT64_FORMAT "\n", comparison->count);
  printf ("equal           %" G_GUINT64_FORMAT "\n", comparison->equal);
  printf ("mismatches      %" G_GUINT64_FORMAT "\n", comparison->mismatches);
  printf ("largest error   %.6g at %" G_GINT64_FORMAT " (%.9g against %.9g)\n",
          comparison->max_abs.value, comparison->max_abs.index, comparison->max_abs.candidate,
          comparison->max_abs.reference);
  printf ("relative        %.6g at %" G_GINT64_FORMAT "\n", comparison->max_rel.value,
          comparison->max_rel.index);
  printf ("ulp             %.6g real, %" G_GUINT64_FORMAT " by bits\n",
          comparison->max_ulp_real.value, comparison->max_ulp);
  printf ("rms error       %.6g\n", comparison->rms);
  printf ("mean, signed    %.6g\n", comparison->mean_signed);
  printf ("margin          %.6g (factor on the tolerance from which it is accepted)\n",
          comparison->margin);
}

/* ---- blocks with a common scale ---- */

static void
print_blocks (const AssayBlockDifference *d)
{
  printf ("\nblocks          %" G_GUINT64_FORMAT ", scales differ in %" G_GUINT64_FORMAT "\n",
          d->blocks, d->other_scale);
  printf ("under equal     %" G_GUINT64_FORMAT " elements, codes differ in %" G_GUINT64_FORMAT
          ", by at most %" G_GUINT64_FORMAT " steps at %" G_GUINT64_FORMAT "\n",
          d->elements, d->differ, d->max_steps, d->max_steps_at);
  printf ("of block amax   %.6g at %" G_GUINT64_FORMAT "\n", d->max_error_of_amax, d->max_error_at);
  printf ("NaN, one side   %" G_GUINT64_FORMAT "\n", d->nan_differs);
}

static void
set_count (JsonObject *object, const char *name, guint64 value)
{
  json_object_set_int_member (object, name, (gint64) value);
}

static JsonNode *
write_blocks (const AssayBlockDifference *d)
{
  JsonObject *object = json_object_new ();
  JsonNode *node = json_node_new (JSON_NODE_OBJECT);
  set_count (object, "blocks", d->blocks);
  set_count (object, "other_scale", d->other_scale);
  set_count (object, "elements", d->elements);
  set_count (object, "differ", d->differ);
  set_count (object, "max_steps", d->max_steps);
  set_count (object, "max_steps_at", d->max_steps_at);
  set_count (object, "nan_differs", d->nan_differs);
  json_object_set_double_member (object, "max_error_of_amax", d->max_error_of_amax);
  set_count (object, "max_error_at", d->max_error_at);
  json_node_take_object (node, object);
  return node;
}

/* What --blocks or a description names; FALSE with an error where they disagree or name no format. */
static gboolean
find_blocks (const Options *options, const char *path, AssayBlockType *type, GError **error)
{
  *type = options->blocks ? assay_block_from_name (options->blocks) : assay_blocked_type_of (path);
  if (!options->blocks || *type != ASSAY_BLOCK_UNKNOWN)
    return TRUE;
  g_autoptr (GString) known = g_string_new (NULL);
  for (int i = 0; i < ASSAY_N_BLOCK_TYPES; i++)
    g_string_append_printf (known, "%s%s", i ? ", " : "",
                            assay_block_format ((AssayBlockType) i)->name);
  g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID, "no block format \"%s\"; there are: %s",
               options->blocks, known->str);
  return FALSE;
}

/* Values by the rule, in double, and what is said of codes and scales. */
static int
compare_blocks (const char *candidate_path, const char *reference_path, AssayBlockType type,
                const Options *options, const AssayTolerance *tolerance, GError **error)
{
  g_autoptr (AssayBlocked) candidate =
      assay_blocked_load (candidate_path, options->tensor, type, error);
  g_autoptr (AssayBlocked) reference =
      candidate ? assay_blocked_load (reference_path, options->tensor, type, error) : NULL;
  AssayBlockDifference difference;
  if (!reference || !assay_blocked_compare (candidate, reference, &difference, error))
    return ASSAY_EXIT_IMPOSSIBLE;
  g_autoptr (AssayArray) c = assay_blocked_decode (candidate, error);
  g_autoptr (AssayArray) r = c ? assay_blocked_decode (reference, error) : NULL;
  if (!r)
    return ASSAY_EXIT_IMPOSSIBLE;
  AssayCompareInput input = {.candidate = c, .reference = r, .tolerance = tolerance};
  g_autoptr (AssayComparison) comparison = assay_compare (&input, NULL, error);
  if (!comparison)
    return ASSAY_EXIT_IMPOSSIBLE;
  if (g_strcmp0 (options->json, "-") != 0)
    {
      print_comparison (comparison, tolerance);
      print_blocks (&difference);
    }
  g_autoptr (JsonNode) node = assay_json_table_write (&ASSAY_COMPARISON_TABLE, comparison);
  json_object_set_member (json_node_get_object (node), "blocks", write_blocks (&difference));
  if (options->json && !assay_command_write_json (node, options->json, error))
    return ASSAY_EXIT_IMPOSSIBLE;
  return comparison->accepted ? ASSAY_EXIT_FINE : ASSAY_EXIT_FAULTS;
}

static int
compare (const char *candidate_path, const char *reference_path, const Options *options)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayTolerance) tolerance = assay_tolerance_new ();
  g_autoptr (AssayArray) candidate = NULL, reference = NULL, gold = NULL;
  g_autofree double *values = NULL;
  g_autoptr (AssayComparison) comparison = NULL;
  gboolean by_field = options->all_rules || !is_own_rule (options->rule);
  if (!check_rule_name (options, &error)
      || (!by_field && !make_tolerance (options, tolerance, &error)))
    return assay_command_fail ("compare", error);
  AssayBlockType blocks = ASSAY_BLOCK_UNKNOWN;
  if (!find_blocks (options, candidate_path, &blocks, &error))
    return assay_command_fail ("compare", error);
  if (blocks != ASSAY_BLOCK_UNKNOWN)
    {
      if (by_field || options->gold)
        g_set_error (
            &error, ASSAY_ERROR, ASSAY_ERROR_UNSUPPORTED,
            "blocks with a common scale are compared by a task's kind of rule, without gold");
      int status = error ? ASSAY_EXIT_IMPOSSIBLE
                         : compare_blocks (candidate_path, reference_path, blocks, options,
                                           tolerance, &error);
      return error ? assay_command_fail ("compare", error) : status;
    }
  candidate = assay_array_load (candidate_path, options->tensor, &error);
  if (candidate)
    reference = assay_array_load (reference_path, options->tensor, &error);
  if (reference && options->gold)
    gold = assay_array_load (options->gold, options->tensor, &error);
  if (gold && !assay_array_same_shape (gold, reference))
    g_set_error (&error, ASSAY_ERROR, ASSAY_ERROR_INVALID, "%s has another shape than %s",
                 options->gold, reference_path);
  if (error)
    return assay_command_fail ("compare", error);
  if (!assay_compare_same_form (candidate, reference, &error))
    return assay_command_fail ("compare", error);
  values = gold ? gold_values (gold) : NULL;
  if (by_field)
    {
      int status = compare_by_field (candidate, reference, values, options, &error);
      return error ? assay_command_fail ("compare", error) : status;
    }
  AssayCompareInput input = {
      .candidate = candidate,
      .reference = reference,
      .gold = values,
      .tolerance = tolerance,
  };
  comparison = assay_compare (&input, NULL, &error);
  if (!comparison)
    return assay_command_fail ("compare", error);
  if (g_strcmp0 (options->json, "-") != 0)
    print_comparison (comparison, tolerance);
  if (options->json)
    {
      g_autoptr (JsonNode) node = assay_json_table_write (&ASSAY_COMPARISON_TABLE, comparison);
      if (!assay_command_write_json (node, options->json, &error))
        return assay_command_fail ("compare", error);
    }
  return comparison->accepted ? ASSAY_EXIT_FINE : ASSAY_EXIT_FAULTS;
}

int
assay_command_compare (int argc, char **argv)
{
  Options options = {.ratio = 1.0};
  const GOptionEntry entries[] = {
      {"gold", 0, 0, G_OPTION_ARG_FILENAME, &options.gold, "values in higher precision", "FILE"},
      {"rule", 0, 0, G_OPTION_ARG_STRING, &options.rule,
       "allclose (default), either, global_norm, rms_scaled, ulp, exact, or another suite's own: "
       "see "
       "--all-rules",
       "RULE"},
      {"all-rules", 0, 0, G_OPTION_ARG_NONE, &options.all_rules,
       "what the rules of other test suites say, side by side", NULL},
      {"atol", 0, 0, G_OPTION_ARG_DOUBLE, &options.atol, "absolute tolerance (default 0)", "A"},
      {"rtol", 0, 0, G_OPTION_ARG_DOUBLE, &options.rtol, "relative tolerance (default 0)", "R"},
      {"ulp", 0, 0, G_OPTION_ARG_INT64, &options.ulp, "for rule ulp (default 0)", "N"},
      {"matched-ratio", 0, 0, G_OPTION_ARG_DOUBLE, &options.ratio,
       "share of elements that must match (default 1)", "SHARE"},
      {"equal-nan", 0, 0, G_OPTION_ARG_NONE, &options.equal_nan, "NaN equals NaN", NULL},
      {"tensor", 0, 0, G_OPTION_ARG_STRING, &options.tensor,
       "name within a .npz or .safetensors file", "NAME"},
      {"blocks", 0, 0, G_OPTION_ARG_STRING, &options.blocks,
       "mxfp8_e4m3, mxfp8_e5m2, mxfp6_e2m3, mxfp6_e3m2, mxfp4, mxint8 or nvfp4: codes are the "
       "tensor, "
       "scales NAME.scale beside it",
       "FORMAT"},
      {"json", 0, 0, G_OPTION_ARG_FILENAME, &options.json, "write the numbers there; - is stdout",
       "FILE"},
      {NULL},
  };
  g_autoptr (GOptionContext) context = g_option_context_new (
      "CANDIDATE REFERENCE – compare two arrays (.npy, .npz, .safetensors, raw)");
  g_option_context_add_main_entries (context, entries, NULL);
  int status = ASSAY_EXIT_IMPOSSIBLE;
  if (assay_command_parse (context, &argc, &argv))
    {
      if (argc == 3)
        status = compare (argv[1], argv[2], &options);
      else
        g_printerr ("assay-engine compare: expected two files\n");
    }
  g_free (options.gold);
  g_free (options.rule);
  g_free (options.json);
  g_free (options.tensor);
  g_free (options.blocks);
  return status;
}
