/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/findings/derive.h"

#include <math.h>

/* Right on everything the task lists, wrong on what it allows besides. One finding for each output; the
 * first variation is the witness, since they are tried from the nearest to the furthest. */

static AssayFinding *
add_finding (AssayDeriving *deriving, const AssayOffList *witness, GString *where, guint count)
{
  AssayFinding *finding = assay_derive_add (deriving, "num.wrong-off-list");
  finding->where.workload = g_strdup (witness->workload);
  finding->where.output = g_strdup (witness->output);
  finding->count = count;
  g_autofree char *mismatches = assay_derive_count (witness->mismatches);
  g_autofree char *all = assay_derive_elements (witness->count);
  finding->detail = g_strdup_printf (
      "%s\n\nLike workload %s, but with %s: %s of %s miss the task's rule. The error is %.3g ulp "
      "RMS "
      "there; on the listed workloads it is at most %.3g, and the reference in the task's "
      "precision "
      "has %.3g there. Whether the specification means to allow this is for the reader: if it "
      "does, "
      "the candidate is wrong, and the workloads did not show it.%s%s",
      witness->verdict, witness->workload, witness->name, mismatches, all, witness->rms_ulp,
      witness->listed, witness->reference, where->len ? " Also wrong: " : "", where->str);
  g_autofree char *name = g_strdup_printf ("%s: %s", witness->kind, witness->name);
  assay_derive_evidence (finding, "probe", name, witness->name);
  return finding;
}

static void
add_output (AssayDeriving *deriving, const char *output)
{
  const GPtrArray *list = deriving->run->off_list;
  const AssayOffList *witness = NULL;
  g_autoptr (GString) others = g_string_new (NULL);
  guint count = 0;
  for (guint i = 0; i < list->len; i++)
    {
      const AssayOffList *entry = g_ptr_array_index (list, i);
      if (!entry->wrong || g_strcmp0 (entry->output, output) != 0)
        continue;
      count++;
      if (!witness)
        witness = entry;
    }
  if (!witness)
    return;
  for (guint i = 0; i < list->len; i++)
    {
      const AssayOffList *entry = g_ptr_array_index (list, i);
      if (entry->wrong && entry != witness && g_strcmp0 (entry->output, output) == 0)
        g_string_append_printf (others, "%s%s (%s)", others->len ? "; " : "", entry->name,
                                entry->workload);
    }
  AssayFinding *finding = add_finding (deriving, witness, others, count);
  gboolean benchmark = g_strcmp0 (witness->kind, "benchmark") == 0;
  assay_derive_finish (
      deriving, finding,
      benchmark ? g_strdup_printf (
          "Right on every checked workload, wrong on %s, which only the benchmark "
          "uses: %.3g ulp RMS in %s",
          witness->workload, witness->rms_ulp, output)
                : g_strdup_printf (
                    "Right on every listed workload, wrong on %s with %s: %.3g ulp RMS in %s",
                    witness->workload, witness->name, witness->rms_ulp, output),
      output);
}

void
assay_derive_off_list (AssayDeriving *deriving)
{
  for (guint i = 0; i < deriving->facts->task->outputs->len; i++)
    add_output (deriving, *(char **) g_ptr_array_index (deriving->facts->task->outputs, i));
}
