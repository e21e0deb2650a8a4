/* SPDX-License-Identifier: Apache-2.0 */
/* Writes pictures of every page, light and dark, for people to look at:
 * shoot OUT [TASKS] below Xvfb. */
#include "config.h"

#include "tests/ui/fixture.h"

static const char *const pages[] = {"overview", "validity", "numerics", "source", "report", NULL};
static const char *const schemes[] = {"light", "dark", NULL};

typedef struct
{
  gint64 until;
} Pause;

static gboolean
pause_over (gpointer data)
{
  return g_get_monotonic_time () > ((Pause *) data)->until;
}

/* Pictures are not a test: threads that load get the time they need. */
static void
rest (AssayUi *ui, int ms)
{
  Pause pause = {g_get_monotonic_time () + ms * 1000};

  assay_ui_wait (pause_over, &pause, "a rest");
  assay_ui_settle (ui);
}

static void
shoot (AssayUi *ui, const char *out, const char *page, const char *scheme, const char *size)
{
  g_autofree char *name = g_strdup_printf ("%s-%s%s.png", page, scheme, size);
  g_autofree char *path = g_build_filename (out, name, NULL);

  if (!assay_ui_shoot (ui, path))
    g_printerr ("no picture %s\n", path);
}

int
main (int argc, char **argv)
{
  g_autoptr (AssayUi) ui = NULL;

  assay_ui_init (&argc, &argv);
  if (argc < 2)
    {
      g_printerr ("usage: shoot OUT [TASKS]\n");
      return 2;
    }
  g_mkdir_with_parents (argv[1], 0755);
  ui = assay_ui_start (argc > 2 ? argv[2] : NULL, g_getenv ("ASSAY_SHOOT_ENGINE"));
  rest (ui, 1500);
  for (int s = 0; schemes[s] != NULL; s++)
    {
      g_action_group_change_action_state (G_ACTION_GROUP (ui->application), "color-scheme",
                                          g_variant_new_string (schemes[s]));
      for (int p = 0; pages[p] != NULL; p++)
        {
          assay_window_show_page (ui->window, pages[p]);
          if (g_strcmp0 (assay_window_get_page (ui->window), pages[p]) != 0)
            continue;
          rest (ui, 300);
          shoot (ui, argv[1], pages[p], schemes[s], "");
        }
    }
  gtk_window_set_default_size (GTK_WINDOW (ui->window), 1024, 700);
  rest (ui, 500);
  for (int p = 0; pages[p] != NULL; p++)
    {
      assay_window_show_page (ui->window, pages[p]);
      if (g_strcmp0 (assay_window_get_page (ui->window), pages[p]) != 0)
        continue;
      rest (ui, 300);
      shoot (ui, argv[1], pages[p], "dark", "-1024");
    }
  return 0;
}
