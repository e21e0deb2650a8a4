/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs load and what the libraries call: nothing below app/ and widgets/ needs GTK, and the
 * rooms that live inside foreign programs need no GLib.
 *
 *   house-test [--no-toolkit | --no-glib] FILE…   the mark says what holds for the files behind it
 */
#include <gio/gio.h>
#include <string.h>

static char *
output_of (const char *const *command)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocess) process = g_subprocess_newv (
      command, G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_SILENCE, &error);
  char *out = NULL;
  g_assert_no_error (error);
  g_assert_true (g_subprocess_communicate_utf8 (process, NULL, NULL, &out, NULL, &error));
  g_assert_no_error (error);
  g_assert_true (g_subprocess_get_successful (process));
  return out;
}

/* What a program or library loads, directly and through others. */
static char *
loaded_by (const char *path)
{
  return output_of ((const char *[]) {"ldd", path, NULL});
}

/* cairo may bring X11 along; a toolkit may not come. */
static void
loads_no_toolkit (gconstpointer path)
{
  static const char *const TOOLKIT[] = {"libgtk", "libgdk", "libwayland", "libepoxy"};
  g_autofree char *libraries = loaded_by (path);
  g_assert_nonnull (strstr (libraries, "libc.so"));
  for (gsize i = 0; i < G_N_ELEMENTS (TOOLKIT); i++)
    if (strstr (libraries, TOOLKIT[i]))
      g_error ("%s loads %s:\n%s", (const char *) path, TOOLKIT[i], libraries);
}

/* It lives inside foreign programs and must bring nothing along. */
static void
loads_only_the_c_library (gconstpointer path)
{
  static const char *const MAY[] = {"linux-vdso", "libc.so",   "libm.so", "libpthread",
                                    "libdl.so",   "ld-linux",  "libasan", "libubsan",
                                    "libgcc_s",   "libstdc++", "librt.so"};
  g_autofree char *libraries = loaded_by (path);
  g_auto (GStrv) lines = g_strsplit (g_strchomp (libraries), "\n", -1);
  for (char **line = lines; *line; line++)
    {
      gboolean known = FALSE;
      for (gsize i = 0; i < G_N_ELEMENTS (MAY); i++)
        known |= strstr (*line, MAY[i]) != NULL;
      if (!known)
        g_error ("%s loads%s", (const char *) path, *line);
    }
}

static void
calls_nothing_of (const char *library, const char *pattern)
{
  g_autofree char *calls =
      output_of ((const char *[]) {"nm", "--undefined-only", "--format=posix", library, NULL});
  g_autoptr (GRegex) regex = g_regex_new (pattern, G_REGEX_MULTILINE, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;
  g_assert_nonnull (strstr (calls, " U")); /* it calls something */
  if (g_regex_match (regex, calls, 0, &match))
    {
      g_autofree char *symbol = g_match_info_fetch (match, 0);
      g_error ("%s calls %s", library, symbol);
    }
}

static void
calls_no_toolkit (gconstpointer path)
{
  calls_nothing_of (path, "^(gtk|gdk|gsk)_\\w+");
}

static void
calls_no_glib (gconstpointer path)
{
  calls_nothing_of (path, "^(g|json|gtk|gdk|gsk|pango|cairo)_\\w+");
}

typedef struct
{
  const char *mark, *name;
  GTestDataFunc program, library;
} Rule;

static const Rule RULES[] = {
    {"--no-toolkit", "no-toolkit", loads_no_toolkit, calls_no_toolkit},
    {"--no-glib", "no-glib", loads_only_the_c_library, calls_no_glib},
};

int
main (int argc, char **argv)
{
  const Rule *rule = &RULES[0];
  g_test_init (&argc, &argv, NULL);
  for (int i = 1; i < argc; i++)
    {
      g_autofree char *name = g_path_get_basename (argv[i]);
      g_autofree char *test = NULL;
      gboolean mark = FALSE;
      for (gsize r = 0; r < G_N_ELEMENTS (RULES); r++)
        if (g_str_equal (argv[i], RULES[r].mark))
          {
            rule = &RULES[r];
            mark = TRUE;
          }
      if (mark)
        continue;
      test = g_strdup_printf ("/house/%s/%s", name, rule->name);
      g_test_add_data_func (test, argv[i],
                            g_str_has_suffix (name, ".a") ? rule->library : rule->program);
    }
  return g_test_run ();
}
