/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/findings/derive.h"

#include <string.h>

/* Which rules could not have fired, and why: a rule that did not look is not a rule that found nothing. */

typedef struct
{
  gboolean ran, compared, gold, cross_checked, audited, judged, repeated, compiled, virtual_gpu,
      off_list;
  const char *checks, *checker_reason;
} Done;

static Done
what_was_done (const AssayDeriving *deriving)
{
  const AssayRun *run = deriving->run;
  Done done = {
      .audited = run->audit && run->audit->probes->len > 0,
      .judged = run->audit && run->audit->checker->len > 0,
      .checker_reason = run->audit ? run->audit->checker_reason : NULL,
      .repeated = deriving->facts->repeats && deriving->facts->repeats->len > 0,
      .compiled = run->compile->len > 0,
      .off_list = run->off_list->len > 0,
      .virtual_gpu = g_strcmp0 (run->device.kind, "virtual") == 0,
      .checks = deriving->facts->checks,
  };
  for (guint i = 0; i < run->workloads->len; i++)
    {
      const AssayWorkloadRecord *workload = g_ptr_array_index (run->workloads, i);
      done.ran |= workload->launches->len > 0 || workload->outputs->len > 0
                  || workload->status == ASSAY_WORKLOAD_RUNTIME_ERROR;
      for (guint k = 0; k < workload->outputs->len; k++)
        {
          const AssayOutput *output = g_ptr_array_index (workload->outputs, k);
          done.compared |= output->comparison != NULL;
          done.gold |= output->gold != NULL;
          done.cross_checked |= output->cross_check != NULL;
        }
    }
  return done;
}

static gboolean
checked (const Done *done, const char *check)
{
  if (!done->virtual_gpu || !done->checks)
    return FALSE;
  g_auto (GStrv) list = g_strsplit (done->checks, ",", -1);
  return g_strv_contains ((const char *const *) list, "all")
         || g_strv_contains ((const char *const *) list, check);
}

/* NULL: it could look. */
static const char *
why_not (const Done *done, AssayRuleNeed need)
{
  switch (need)
    {
    case ASSAY_NEEDS_NOTHING:
      return NULL;
    case ASSAY_NEEDS_RUN:
      return done->ran ? NULL : "the candidate did not run";
    case ASSAY_NEEDS_COMPARE:
      return done->compared ? NULL : "no output was compared with a reference";
    case ASSAY_NEEDS_GOLD:
      return done->gold ? NULL : "there are no gold values";
    case ASSAY_NEEDS_AUDIT:
      return done->audited ? NULL : "no planted answers were judged";
    case ASSAY_NEEDS_REPEAT:
      return done->repeated ? NULL : "the candidate did not run a second time";
    case ASSAY_NEEDS_COMPILE:
      return done->compiled ? NULL : "nothing was compiled";
    case ASSAY_NEEDS_VGPU:
      return done->virtual_gpu && done->ran ? NULL : "nothing ran on the virtual GPU";
    case ASSAY_NEEDS_UNINIT:
      return checked (done, "uninit") ? NULL : "the check “uninit” did not run";
    case ASSAY_NEEDS_RACE:
      return checked (done, "race") ? NULL : "the check “race” did not run";
    case ASSAY_NEEDS_RACE_GLOBAL:
      return checked (done, "race-global") ? NULL : "the check “race-global” did not run";
    case ASSAY_NEEDS_SYNC:
      return checked (done, "sync") ? NULL : "the check “sync” did not run";
    case ASSAY_NEEDS_DEVICE:
      return "needs a real device and its clock";
    case ASSAY_NEEDS_PROFILE:
      return "needs counters that no rule reads yet in this version";
    case ASSAY_NEEDS_START:
      return "this version does not run the starting point beside the candidate";
    case ASSAY_NEEDS_CROSS_CHECK:
      return done->cross_checked ? NULL : "the task has no cross-check that ran";
    case ASSAY_NEEDS_OFF_LIST:
      return done->off_list ? NULL : "the candidate did not run on anything off the list";
    case ASSAY_NEEDS_CHECKER:
      return done->judged           ? NULL
             : done->checker_reason ? done->checker_reason
                                    : "the task has no checker of its own";
    case ASSAY_NEEDS_PROBE:
      return "needs probe runs that this version does not make";
    case ASSAY_NEEDS_FRAMEWORK:
      return "needs the worker of another framework";
    default:
      return "needs a human reader";
    }
}

void
assay_derive_skipped (AssayDeriving *deriving)
{
  Done done = what_was_done (deriving);
  for (gsize i = 0; i < ASSAY_N_RULES; i++)
    {
      const char *reason = why_not (&done, ASSAY_RULES[i].needs);
      if (!reason || assay_derive_has (deriving, ASSAY_RULES[i].id))
        continue;
      AssaySkippedRule *skipped = assay_json_table_new (&ASSAY_SKIPPED_RULE_TABLE);
      skipped->rule = g_strdup (ASSAY_RULES[i].id);
      skipped->reason = g_strdup (reason);
      g_ptr_array_add (deriving->run->skipped_rules, skipped);
    }
}
