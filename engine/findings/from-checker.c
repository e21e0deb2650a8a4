/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/findings/derive.h"

/* What the task's own checker said of planted answers: one yes or no for each. */

static GPtrArray *
names_of (const AssayAudit *audit, const char *output, gboolean right, gboolean accepted,
          gboolean trivial_alone)
{
  GPtrArray *names = g_ptr_array_new ();
  for (guint i = 0; i < audit->checker->len; i++)
    {
      const AssayProbe *probe = g_ptr_array_index (audit->checker, i);
      if (g_strcmp0 (probe->output, output) == 0 && (probe->kind == ASSAY_PROBE_HONEST) == right
          && probe->accepted == accepted && (!trivial_alone || probe->kind == ASSAY_PROBE_TRIVIAL))
        g_ptr_array_add (names, probe->name);
    }
  return names;
}

static guint
count_wrong (const AssayAudit *audit, const char *output)
{
  guint wrong = 0;
  for (guint i = 0; i < audit->checker->len; i++)
    {
      const AssayProbe *probe = g_ptr_array_index (audit->checker, i);
      wrong += g_strcmp0 (probe->output, output) == 0 && probe->kind != ASSAY_PROBE_HONEST;
    }
  return wrong;
}

static char *
join (const GPtrArray *names, guint most)
{
  GString *out = g_string_new (NULL);
  for (guint i = 0; i < names->len && i < most; i++)
    g_string_append_printf (out, "%s%s", i ? ", " : "", (char *) g_ptr_array_index (names, i));
  if (names->len > most)
    g_string_append (out, ", …");
  return g_string_free (out, FALSE);
}

static void
add (AssayDeriving *deriving, const char *rule, const char *output, const GPtrArray *names,
     char *title)
{
  const AssayProbe *first = g_ptr_array_index (deriving->run->audit->checker, 0);
  g_autofree char *all = join (names, names->len);
  AssayFinding *finding = assay_derive_add (deriving, rule);
  finding->where.workload = g_strdup (first->workload);
  finding->where.output = g_strdup (output);
  finding->count = names->len;
  finding->detail =
      g_strdup_printf ("The task's own checker was called with planted answers for %s "
                       "on workload `%s`, the other outputs as the reference has "
                       "them. %s: %s.",
                       output, first->workload,
                       g_str_has_suffix (rule, "refuses-right") ? "Refused" : "Accepted", all);
  assay_derive_evidence (finding, "probe", g_ptr_array_index (names, 0),
                         g_ptr_array_index (names, 0));
  assay_derive_finish (deriving, finding, title, output);
}

static void
add_output (AssayDeriving *deriving, const char *output)
{
  const AssayAudit *audit = deriving->run->audit;
  g_autoptr (GPtrArray) trivial = names_of (audit, output, FALSE, TRUE, TRUE);
  g_autoptr (GPtrArray) living = names_of (audit, output, FALSE, TRUE, FALSE);
  g_autoptr (GPtrArray) refused = names_of (audit, output, TRUE, FALSE, FALSE);
  const GPtrArray *worst = trivial->len ? trivial : living;
  if (worst->len)
    {
      g_autofree char *few = join (worst, 4);
      add (deriving, trivial->len ? "task.checker-vacuous" : "task.checker-blind", output, living,
           g_strdup_printf ("The task's checker accepts %u of %u wrong answers for %s: %s",
                            living->len, count_wrong (audit, output), output, few));
    }
  if (refused->len)
    {
      g_autofree char *few = join (refused, 4);
      add (deriving, "task.checker-refuses-right", output, refused,
           g_strdup_printf ("The task's checker refuses right answers for %s: %s", output, few));
    }
}

void
assay_derive_checker (AssayDeriving *deriving)
{
  const AssayAudit *audit = deriving->run->audit;
  if (!audit || audit->checker->len == 0)
    return;
  for (guint i = 0; i < deriving->facts->task->outputs->len; i++)
    add_output (deriving, *(char **) g_ptr_array_index (deriving->facts->task->outputs, i));
}
