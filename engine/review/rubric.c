/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/review/rubric.h"

#include "engine/base/error.h"

#define RUBRIC_VERSION 1

#define FIELD(Type, member, kind, ...) ASSAY_JSON_FIELD (Type, member, #member, kind, __VA_ARGS__)

#define F(member, kind, ...) FIELD (AssayScaleWords, member, kind, __VA_ARGS__)
static const AssayJsonField SCALE_FIELDS[] = {
    F (min, INT, .flags = ASSAY_JSON_REQUIRED),
    F (max, INT, .flags = ASSAY_JSON_REQUIRED),
    F (labels, STRV),
    ASSAY_JSON_END,
};
#undef F
static const AssayJsonTable SCALE_TABLE = {"scale", sizeof (AssayScaleWords), SCALE_FIELDS, NULL};

#define F(member, kind, ...) FIELD (AssayAxisWords, member, kind, __VA_ARGS__)
static const AssayJsonField AXIS_FIELDS[] = {
    F (id, STRING, .flags = ASSAY_JSON_REQUIRED),
    F (title, STRING, .flags = ASSAY_JSON_REQUIRED),
    F (verdicts, STRV, .flags = ASSAY_JSON_REQUIRED),
    ASSAY_JSON_END,
};
#undef F
static const AssayJsonTable AXIS_TABLE = {"axis", sizeof (AssayAxisWords), AXIS_FIELDS, NULL};

#define F(member, kind, ...) FIELD (AssayEvidenceRule, member, kind, __VA_ARGS__)
static const AssayJsonField EVIDENCE_FIELDS[] = {
    F (required_at_or_below, INT),
    F (kinds, STRV),
    ASSAY_JSON_END,
};
#undef F
static void
never_required (gpointer self)
{
  ((AssayEvidenceRule *) self)->required_at_or_below = G_MININT64;
}
static const AssayJsonTable EVIDENCE_TABLE = {"evidence", sizeof (AssayEvidenceRule),
                                              EVIDENCE_FIELDS, never_required};

#define F(member, kind, ...) FIELD (AssayCommentRule, member, kind, __VA_ARGS__)
static const AssayJsonField COMMENT_FIELDS[] = {
    F (required_at_or_below, INT),
    F (fields, STRV),
    ASSAY_JSON_END,
};
#undef F
static void
no_comment_required (gpointer self)
{
  ((AssayCommentRule *) self)->required_at_or_below = G_MININT64;
}
static const AssayJsonTable COMMENT_TABLE = {"comment", sizeof (AssayCommentRule), COMMENT_FIELDS,
                                             no_comment_required};

#define F(member, kind, ...) FIELD (AssayCriterion, member, kind, __VA_ARGS__)
static const AssayJsonField CRITERION_FIELDS[] = {
    F (id, STRING, .flags = ASSAY_JSON_REQUIRED),
    F (title, STRING, .flags = ASSAY_JSON_REQUIRED),
    F (question, STRING, .flags = ASSAY_JSON_REQUIRED),
    F (axis, STRING, .flags = ASSAY_JSON_REQUIRED),
    F (weight, DOUBLE),
    F (blocking, BOOLEAN),
    F (categories, STRV),
    F (anchors, NODE, .flags = ASSAY_JSON_REQUIRED),
    F (example_good, STRING),
    F (example_bad, STRING),
    F (evidence, STRUCT, .table = &EVIDENCE_TABLE),
    F (comment, STRUCT, .table = &COMMENT_TABLE),
    F (rules, STRV),
    ASSAY_JSON_END,
};
#undef F
static void
one_weight (gpointer self)
{
  ((AssayCriterion *) self)->weight = 1.0;
}
static const AssayJsonTable CRITERION_TABLE = {"criterion", sizeof (AssayCriterion),
                                               CRITERION_FIELDS, one_weight};

#define F(member, kind, ...) FIELD (AssayRubric, member, kind, __VA_ARGS__)
static const AssayJsonField RUBRIC_FIELDS[] = {
    F (format, STRING, .flags = ASSAY_JSON_REQUIRED),
    F (version, INT, .flags = ASSAY_JSON_REQUIRED),
    F (id, STRING, .flags = ASSAY_JSON_REQUIRED),
    F (revision, INT, .flags = ASSAY_JSON_REQUIRED),
    F (title, STRING, .flags = ASSAY_JSON_REQUIRED),
    F (categories, STRV),
    F (scale, STRUCT, .table = &SCALE_TABLE, .flags = ASSAY_JSON_REQUIRED),
    F (axes, LIST, .table = &AXIS_TABLE, .flags = ASSAY_JSON_REQUIRED),
    F (criteria, LIST, .table = &CRITERION_TABLE, .flags = ASSAY_JSON_REQUIRED),
    ASSAY_JSON_END,
};
#undef F
const AssayJsonTable ASSAY_RUBRIC_TABLE = {"rubric", sizeof (AssayRubric), RUBRIC_FIELDS, NULL};

static gboolean
check_criterion (const AssayRubric *rubric, const AssayCriterion *criterion, guint i,
                 GHashTable *seen, GError **error)
{
  if (!g_hash_table_add (seen, criterion->id))
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID, "criteria[%u].id: \"%s\" stands twice",
                   i, criterion->id);
      return FALSE;
    }
  if (!assay_rubric_axis (rubric, criterion->axis))
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
                   "criteria[%u].axis: expected the id of one of axes, found \"%s\"", i,
                   criterion->axis);
      return FALSE;
    }
  for (gint64 level = rubric->scale.min; level <= rubric->scale.max; level++)
    if (!assay_criterion_anchor (criterion, level))
      {
        g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
                     "criteria[%u].anchors: no text for level %" G_GINT64_FORMAT, i, level);
        return FALSE;
      }
  return TRUE;
}

static gboolean
check (const AssayRubric *rubric, GError **error)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  if (!g_str_equal (rubric->format, "assay-rubric") || rubric->version > RUBRIC_VERSION)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_UNSUPPORTED,
                   "format \"%s\" version %" G_GINT64_FORMAT
                   "; this Assay reads \"assay-rubric\" up to version %d",
                   rubric->format, rubric->version, RUBRIC_VERSION);
      return FALSE;
    }
  if (rubric->scale.max <= rubric->scale.min || rubric->scale.max - rubric->scale.min > 10)
    {
      g_set_error_literal (error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
                           "scale: expected 2 to 11 levels, min below max");
      return FALSE;
    }
  for (guint i = 0; i < rubric->criteria->len; i++)
    if (!check_criterion (rubric, g_ptr_array_index (rubric->criteria, i), i, seen, error))
      return FALSE;
  return TRUE;
}

AssayRubric *
assay_rubric_load (const char *path, GError **error)
{
  g_autoptr (JsonNode) node = assay_json_load (path, &ASSAY_JSON_LIMITS_TASK, error);
  if (!node)
    return NULL;
  g_autoptr (AssayRubric) rubric =
      assay_json_table_read (&ASSAY_RUBRIC_TABLE, node, "", NULL, error);
  if (!rubric || !check (rubric, error))
    {
      g_prefix_error (error, "%s: ", path);
      return NULL;
    }
  g_autofree char *text = NULL;
  gsize length = 0;
  if (!g_file_get_contents (path, &text, &length, error))
    return NULL;
  rubric->sha256 = g_compute_checksum_for_data (G_CHECKSUM_SHA256, (guchar *) text, length);
  return g_steal_pointer (&rubric);
}

void
assay_rubric_free (AssayRubric *rubric)
{
  if (rubric)
    g_free (rubric->sha256);
  assay_json_table_free (&ASSAY_RUBRIC_TABLE, rubric);
}

const AssayCriterion *
assay_rubric_criterion (const AssayRubric *rubric, const char *id)
{
  for (guint i = 0; i < rubric->criteria->len; i++)
    {
      const AssayCriterion *criterion = g_ptr_array_index (rubric->criteria, i);
      if (g_strcmp0 (criterion->id, id) == 0)
        return criterion;
    }
  return NULL;
}

const AssayAxisWords *
assay_rubric_axis (const AssayRubric *rubric, const char *id)
{
  for (guint i = 0; i < rubric->axes->len; i++)
    {
      const AssayAxisWords *axis = g_ptr_array_index (rubric->axes, i);
      if (g_strcmp0 (axis->id, id) == 0)
        return axis;
    }
  return NULL;
}

const char *
assay_criterion_anchor (const AssayCriterion *criterion, gint64 level)
{
  g_autofree char *key = g_strdup_printf ("%" G_GINT64_FORMAT, level);
  if (!JSON_NODE_HOLDS_OBJECT (criterion->anchors))
    return NULL;
  return assay_json_string (json_node_get_object (criterion->anchors), key);
}

gboolean
assay_criterion_applies (const AssayCriterion *criterion, const char *category)
{
  return !criterion->categories || !criterion->categories[0]
         || (category && g_strv_contains ((const char *const *) criterion->categories, category));
}

gboolean
assay_criterion_hears (const AssayCriterion *criterion, const char *rule)
{
  return criterion->rules && g_strv_contains ((const char *const *) criterion->rules, rule);
}

gint64
assay_criterion_suggest (const AssayCriterion *criterion, const AssayRubric *rubric,
                         const GPtrArray *findings, GPtrArray *matched)
{
  gint64 level = -1;
  for (guint i = 0; findings && i < findings->len; i++)
    {
      AssayFinding *finding = g_ptr_array_index (findings, i);
      if (!assay_criterion_hears (criterion, finding->rule)
          || finding->severity == ASSAY_SEVERITY_INFO
          || finding->disposition == ASSAY_DISPOSITION_FALSE_POSITIVE
          || finding->disposition == ASSAY_DISPOSITION_DUPLICATE)
        continue;
      gint64 implied = MIN (rubric->scale.min + finding->severity, rubric->scale.max);
      level = level < 0 ? implied : MIN (level, implied);
      if (matched)
        g_ptr_array_add (matched, finding);
    }
  return level;
}
