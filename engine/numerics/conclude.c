/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/numerics/probes.h"

static gboolean
is_wrong (const AssayProbe *probe)
{
  return probe->kind == ASSAY_PROBE_TRIVIAL || probe->kind == ASSAY_PROBE_DOWNGRADE
         || probe->kind == ASSAY_PROBE_MUTANT;
}

/* A wrong answer gets through the task when every workload that judged it accepted it; a right one is
 * refused when a single workload refuses it. */
static gboolean
gets_through (const AssayAudit *audit, const AssayProbe *probe)
{
  for (guint i = 0; i < audit->probes->len; i++)
    {
      const AssayProbe *other = g_ptr_array_index (audit->probes, i);
      if (!other->accepted && g_strcmp0 (other->name, probe->name) == 0
          && g_strcmp0 (other->output, probe->output) == 0)
        return FALSE;
    }
  return TRUE;
}

/* The names of the probes in question, each once, in order. */
static char *
witnesses (const AssayAudit *audit, gboolean wrong, guint *count)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  for (guint i = 0; i < audit->probes->len; i++)
    {
      const AssayProbe *probe = g_ptr_array_index (audit->probes, i);
      if (is_wrong (probe) != wrong || gets_through (audit, probe) != wrong)
        continue;
      if (!g_ptr_array_find_with_equal_func (names, probe->name, g_str_equal, NULL))
        g_ptr_array_add (names, probe->name);
    }
  *count = names->len;
  g_ptr_array_add (names, NULL);
  return g_strjoinv (", ", (char **) names->pdata);
}

static AssayFamily *
family_of (AssayAudit *audit, const AssayProbe *probe)
{
  gboolean right = !is_wrong (probe);
  for (guint i = 0; i < audit->families->len; i++)
    {
      AssayFamily *known = g_ptr_array_index (audit->families, i);
      if (known->right == right && g_strcmp0 (known->name, probe->family) == 0)
        return known;
    }
  AssayFamily *family = assay_json_table_new (&ASSAY_FAMILY_TABLE);
  family->name = g_strdup (probe->family);
  family->right = right;
  g_ptr_array_add (audit->families, family);
  return family;
}

/* Every planted answer once an output, whatever the number of workloads. */
static void
count_families (AssayAudit *audit)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < audit->probes->len; i++)
    {
      const AssayProbe *probe = g_ptr_array_index (audit->probes, i);
      if (!probe->family
          || !g_hash_table_add (seen, g_strconcat (probe->output, "/", probe->name, NULL)))
        continue;
      AssayFamily *family = family_of (audit, probe);
      family->planted++;
      family->refused += !gets_through (audit, probe);
    }
}

/* " Kill rate 19 of 21, false rejects 0 of 9." */
static char *
rates (const AssayAudit *audit)
{
  gint64 planted[2] = {0}, refused[2] = {0};
  for (guint i = 0; i < audit->families->len; i++)
    {
      const AssayFamily *family = g_ptr_array_index (audit->families, i);
      if (g_strcmp0 (family->name, "reference") == 0)
        continue; /* judged by itself, as on the page */
      planted[family->right != 0] += family->planted;
      refused[family->right != 0] += family->refused;
    }
  return g_strdup_printf (" Kill rate %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
                          ", false rejects %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT ".",
                          refused[0], planted[0], refused[1], planted[1]);
}

void
assay_audit_conclude (AssayAudit *audit)
{
  guint loose = 0, tight = 0, planted = 0;
  g_autofree char *accepted = witnesses (audit, TRUE, &loose);
  g_autofree char *refused = witnesses (audit, FALSE, &tight);
  for (guint i = 0; i < audit->families->len; i++)
    assay_json_table_free (&ASSAY_FAMILY_TABLE, g_ptr_array_index (audit->families, i));
  g_ptr_array_set_size (audit->families, 0);
  count_families (audit);
  g_autofree char *rate = rates (audit);
  for (guint i = 0; i < audit->families->len; i++)
    {
      const AssayFamily *family = g_ptr_array_index (audit->families, i);
      planted += family->right ? 0 : (guint) family->planted;
    }
  g_free (audit->grade);
  g_free (audit->summary);
  if (audit->probes->len == 0)
    {
      audit->grade = g_strdup ("unknown");
      audit->summary = g_strdup ("No planted answer could be judged.");
      return;
    }
  audit->grade = g_strdup (loose ? "too_loose" : tight ? "too_tight" : "sound");
  if (loose && tight)
    audit->summary =
        g_strdup_printf ("Too loose: accepts %s. Also too tight: refuses %s, which are right.%s",
                         accepted, refused, rate);
  else if (loose)
    audit->summary = g_strdup_printf ("Too loose: accepts %s.%s", accepted, rate);
  else if (tight)
    audit->summary = g_strdup_printf ("Too tight: refuses %s, which are right.%s", refused, rate);
  else
    audit->summary = g_strdup_printf (
        "Sound: refuses all %u planted wrong answers and accepts the right ones.%s", planted, rate);
}
