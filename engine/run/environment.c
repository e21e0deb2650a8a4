/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run/environment.h"

#include "config.h"
#include "engine/sandbox/preflight.h"
#include "engine/sandbox/tree.h"

#include <string.h>
#include <sys/utsname.h>

/* The first "key : value" line of /proc/cpuinfo and its kin; also "KEY=value" of os-release. */
static char *
value_from (const char *path, const char *key, char separator)
{
  g_autofree char *text = NULL;
  if (!g_file_get_contents (path, &text, NULL, NULL))
    return NULL;
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i]; i++)
    {
      char *at = strchr (lines[i], separator);
      if (!at || !g_str_has_prefix (lines[i], key))
        continue;
      g_autofree char *value = g_strdup (at + 1);
      g_strstrip (g_strdelimit (value, "\"", ' '));
      return g_steal_pointer (&value);
    }
  return NULL;
}

void
assay_environment_describe (AssayEnvironment *environment, AssaySandboxTier tier,
                            const char *toolkit_root)
{
  struct utsname name;
  g_autofree char *system = value_from ("/etc/os-release", "PRETTY_NAME", '=');
  JsonObject *versions = json_object_new ();
  uname (&name);
  environment->host = g_strdup (name.nodename);
  environment->cpu = value_from ("/proc/cpuinfo", "model name", ':');
  environment->os =
      g_strdup_printf ("%s, %s %s", system ? system : name.sysname, name.sysname, name.release);
  environment->sandbox = g_strdup (assay_sandbox_tier_describe (tier));
  environment->memory_limit =
      g_strdup_printf ("%s, %" G_GUINT64_FORMAT " MiB a worker", assay_group_describe (),
                       ASSAY_SANDBOX_LIMITS_DEFAULT.memory_bytes / (1024 * 1024));
  json_object_set_string_member (versions, "assay", ASSAY_VERSION);
  if (toolkit_root)
    json_object_set_string_member (versions, "toolkit", toolkit_root);
  environment->versions = json_node_new (JSON_NODE_OBJECT);
  json_node_take_object (environment->versions, versions);
}

char *
assay_time_now (void)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  return g_date_time_format (now, "%Y-%m-%dT%H:%M:%SZ");
}

char *
assay_run_id_new (void)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autofree char *time = g_date_time_format (now, "%Y%m%d-%H%M%S");
  return g_strdup_printf ("%s-%04x", time, g_random_int () & 0xffff);
}
