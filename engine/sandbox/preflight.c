/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sandbox/preflight.h"

#include "engine/base/error.h"
#include "engine/sandbox/orphans.h"
#include "engine/sandbox/process.h"

#include <string.h>

typedef struct
{
  const char *pattern, *reason, *advice;
} Explanation;

#define APPARMOR                                                                                   \
  "install the package apparmor-profiles, copy its extra-profiles/bwrap-userns-restrict to "       \
  "/etc/apparmor.d/ and run: apparmor_parser -r /etc/apparmor.d/bwrap-userns-restrict"

static const Explanation EXPLANATIONS[] = {
    {"max_*_namespaces exceeded", "this system, or a sandbox around it, allows no more namespaces",
     "raise user.max_user_namespaces, or leave the surrounding sandbox"},
    {"setting up uid map: Permission denied",
     "AppArmor keeps unprivileged programs from user namespaces", APPARMOR},
    {"Failed RTM_NEWADDR: Operation not permitted",
     "AppArmor keeps unprivileged programs from user namespaces", APPARMOR},
    {"No permissions to create new namespace", "this system does not let users create namespaces",
     "set kernel.unprivileged_userns_clone=1, or install bubblewrap setuid"},
    {"Creating new namespace failed", "this system does not let users create namespaces", NULL},
    {"Can't mount proc", "a container around this program hides parts of /proc",
     "run the container with an unmasked /proc, or the engine outside of it"},
    {"Unknown option", "this bubblewrap is older than 0.8", "install bubblewrap 0.8 or newer"},
    {"prctl(PR_SET_SECCOMP)", "this kernel has no system call filters", NULL},
};

const char *
assay_sandbox_explain (const char *complaint, const char **advice)
{
  for (gsize i = 0; i < G_N_ELEMENTS (EXPLANATIONS); i++)
    if (strstr (complaint, EXPLANATIONS[i].pattern))
      {
        *advice = EXPLANATIONS[i].advice;
        return EXPLANATIONS[i].reason;
      }
  *advice = NULL;
  return NULL;
}

const char *
assay_sandbox_bwrap_path (void)
{
  static gsize once;
  static char *path;
  if (g_once_init_enter (&once))
    {
      const char *named = g_getenv ("ASSAY_BWRAP");
      path = named ? g_find_program_in_path (named) : g_find_program_in_path ("bwrap");
      g_once_init_leave (&once, 1);
    }
  return path;
}

static void
try_bubblewrap (AssaySandboxPreflight *result)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AssaySandboxSpec) spec = assay_sandbox_spec_new ("/usr/bin/true");
  assay_sandbox_spec_limits (spec)->wall_seconds = 20;
  g_autoptr (AssaySandboxProcess) process =
      assay_sandbox_process_start (spec, ASSAY_TIER_BUBBLEWRAP, &error);
  g_autoptr (AssaySandboxEnd) end =
      process ? assay_sandbox_process_pump (process, NULL, NULL, NULL, &error) : NULL;
  if (!end)
    {
      result->reason = g_strdup (error->message);
      return;
    }
  result->works = end->kind == ASSAY_END_EXITED && end->code == 0;
  if (result->works)
    return;
  const char *advice = NULL;
  const char *known = assay_sandbox_explain (end->err, &advice);
  g_autofree char *how = assay_sandbox_end_describe (end);
  g_autofree char *said = g_strstrip (g_strdup (end->err));
  result->reason = known ? g_strdup_printf ("%s (%s)", known, said)
                         : g_strdup_printf ("bubblewrap fails: %s (%s)", said, how);
  result->advice = g_strdup (advice);
}

const AssaySandboxPreflight *
assay_sandbox_preflight (void)
{
  static gsize once;
  static AssaySandboxPreflight result;
  if (g_once_init_enter (&once))
    {
      result.tier = g_strdup ("bubblewrap, seccomp");
      assay_orphans_sweep ();
      if (assay_sandbox_bwrap_path ())
        try_bubblewrap (&result);
      else
        {
          result.reason = g_strdup ("bubblewrap (bwrap) is not installed");
          result.advice = g_strdup ("install the package bubblewrap");
        }
      g_once_init_leave (&once, 1);
    }
  return &result;
}

gboolean
assay_sandbox_choose (gboolean consent_unsandboxed, AssaySandboxTier *tier, GError **error)
{
  const AssaySandboxPreflight *preflight = assay_sandbox_preflight ();
  if (preflight->works || consent_unsandboxed)
    {
      *tier = preflight->works ? ASSAY_TIER_BUBBLEWRAP : ASSAY_TIER_NONE;
      return TRUE;
    }
  g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_DENIED,
               "foreign code is not run without a sandbox, and there is none: %s%s%s",
               preflight->reason, preflight->advice ? "; to have one, " : "",
               preflight->advice ? preflight->advice : "");
  return FALSE;
}

const char *
assay_sandbox_tier_describe (AssaySandboxTier tier)
{
  return tier == ASSAY_TIER_BUBBLEWRAP ? "bubblewrap, seccomp"
                                       : "none: the reviewer consented to run unprotected";
}
