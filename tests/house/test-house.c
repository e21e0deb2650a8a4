/* SPDX-License-Identifier: Apache-2.0 */
#include <gio/gio.h>
#include <string.h>

/* What a program or library loads, directly and through others. */
static char *
loaded_by (const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocess) ldd = g_subprocess_new (
      G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_MERGE, &error, "ldd", path, NULL);
  char *out = NULL;
  g_assert_no_error (error);
  g_assert_true (g_subprocess_communicate_utf8 (ldd, NULL, NULL, &out, NULL, &error));
  g_assert_no_error (error);
  return out;
}

static void
loads_no_toolkit (gconstpointer path)
{
  g_autofree char *libraries = loaded_by (path);
  g_assert_nonnull (strstr (libraries, "libc.so"));
  g_assert_null (strstr (libraries, "libgtk"));
  g_assert_null (strstr (libraries, "libX11"));
  g_assert_null (strstr (libraries, "libwayland"));
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
      g_test_message ("%s", *line);
      g_assert_true (known);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (int i = 1; i < argc; i++)
    {
      gboolean facade = strstr (argv[i], "libcuda") != NULL;
      g_autofree char *name = g_path_get_basename (argv[i]);
      g_autofree char *test = g_strdup_printf (
          "/house/%s/%s", name, facade ? "loads-only-the-c-library" : "loads-no-toolkit");
      g_test_add_data_func (test, argv[i], facade ? loads_only_the_c_library : loads_no_toolkit);
    }
  return g_test_run ();
}
