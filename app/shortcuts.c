/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/shortcuts.h"

/* clang-format off */
const AssayShortcut ASSAY_SHORTCUTS[] = {
  { "Run", "Run all checks", "win.run", "F5 <Control>r", ASSAY_KEYS_ACCEL, TRUE },
  { "Run", "Stop the run", "win.stop", "<Shift>F5", ASSAY_KEYS_ACCEL, TRUE },
  { "Run", "Compile for every architecture", "win.matrix", "<Control>m", ASSAY_KEYS_ACCEL, TRUE },

  { "Look", "Overview", "win.page::overview", "<Control>1", ASSAY_KEYS_ACCEL, TRUE },
  { "Look", "Validity", "win.page::validity", "<Control>2", ASSAY_KEYS_ACCEL, TRUE },
  { "Look", "Numerics", "win.page::numerics", "<Control>3", ASSAY_KEYS_ACCEL, TRUE },
  { "Look", "Source", "win.page::source", "<Control>4", ASSAY_KEYS_ACCEL, TRUE },
  { "Look", "Report", "win.page::report", "<Control>5", ASSAY_KEYS_ACCEL, TRUE },
  { "Look", "Previous task", "win.task-step(-1)", "<Control>Up", ASSAY_KEYS_ACCEL, TRUE },
  { "Look", "Next task", "win.task-step(1)", "<Control>Down", ASSAY_KEYS_ACCEL, TRUE },
  { "Look", "Next finding", "win.finding-step(1)", "<Alt>Down", ASSAY_KEYS_ACCEL, TRUE },
  { "Look", "Previous finding", "win.finding-step(-1)", "<Alt>Up", ASSAY_KEYS_ACCEL, TRUE },
  { "Look", "Find a command, task or finding", "win.palette", "<Control>k", ASSAY_KEYS_ACCEL, FALSE },

  { "Review", "Score 0", "win.score::0", "0 KP_0", ASSAY_KEYS_WINDOW, FALSE },
  { "Review", "Score 1", "win.score::1", "1 KP_1", ASSAY_KEYS_WINDOW, FALSE },
  { "Review", "Score 2", "win.score::2", "2 KP_2", ASSAY_KEYS_WINDOW, FALSE },
  { "Review", "Score 3", "win.score::3", "3 KP_3", ASSAY_KEYS_WINDOW, FALSE },
  { "Review", "Not applicable", "win.score::na", "n", ASSAY_KEYS_WINDOW, TRUE },
  { "Review", "Cannot judge", "win.score::cannot_judge", "j", ASSAY_KEYS_WINDOW, TRUE },
  { "Review", "Attach selection, finding or plot as evidence", "win.attach", "e", ASSAY_KEYS_WINDOW, TRUE },
  { "Review", "Next criterion", "win.criterion-step(1)", "<Control>Page_Down", ASSAY_KEYS_ACCEL, TRUE },
  { "Review", "Previous criterion", "win.criterion-step(-1)", "<Control>Page_Up", ASSAY_KEYS_ACCEL, TRUE },
  { "Review", "Undo", "win.undo", "<Control>z", ASSAY_KEYS_ACCEL, TRUE },
  { "Review", "Redo", "win.redo", "<Control><Shift>z", ASSAY_KEYS_ACCEL, TRUE },
  { "Review", "Save now", "win.save", "<Control>s", ASSAY_KEYS_ACCEL, TRUE },
  { "Review", "Export the report", "win.export", "<Control>e", ASSAY_KEYS_ACCEL, TRUE },

  { "Plot", "Next or previous datum", NULL, "Left Right", ASSAY_KEYS_PLOT, FALSE },
  { "Plot", "Grow to the whole page, then back", NULL, "Return Escape", ASSAY_KEYS_PLOT, FALSE },
  { "Plot", "Show the numbers as a table", NULL, "t", ASSAY_KEYS_PLOT, FALSE },
  { "Plot", "Copy the numbers", NULL, "c", ASSAY_KEYS_PLOT, FALSE },
  { "Plot", "Zoom in, out, fit", NULL, "plus minus f", ASSAY_KEYS_PLOT, FALSE },

  { "Window", "Open a task folder", "win.open", "<Control>o", ASSAY_KEYS_ACCEL, TRUE },
  { "Window", "Show or hide the queue", "win.show-queue", "F9", ASSAY_KEYS_ACCEL, TRUE },
  { "Window", "Show or hide the review", "win.show-review", "F10", ASSAY_KEYS_ACCEL, TRUE },
  { "Window", "Expand or fold the findings", "win.show-findings", "F8", ASSAY_KEYS_ACCEL, TRUE },
  { "Window", "Filter the queue", "win.filter", "<Control>f", ASSAY_KEYS_ACCEL, TRUE },
  { "Window", "This computer: what works, and why not", "win.computer", NULL, ASSAY_KEYS_ACCEL, TRUE },
  { "Window", "Light colours", "app.color-scheme::light", NULL, ASSAY_KEYS_ACCEL, TRUE },
  { "Window", "Dark colours", "app.color-scheme::dark", NULL, ASSAY_KEYS_ACCEL, TRUE },
  { "Window", "Colours as the desktop has them", "app.color-scheme::system", NULL, ASSAY_KEYS_ACCEL, TRUE },
  { "Window", "Keyboard shortcuts", "win.shortcuts", "<Control>question F1", ASSAY_KEYS_ACCEL, TRUE },
  { "Window", "Close the window", "window.close", "<Control>w", ASSAY_KEYS_ACCEL, FALSE },
  { "Window", "Quit", "app.quit", "<Control>q", ASSAY_KEYS_ACCEL, TRUE },
};
/* clang-format on */

const guint ASSAY_N_SHORTCUTS = G_N_ELEMENTS (ASSAY_SHORTCUTS);

void
assay_shortcuts_set_accels (GtkApplication *application)
{
  for (guint i = 0; i < ASSAY_N_SHORTCUTS; i++)
    {
      const AssayShortcut *shortcut = &ASSAY_SHORTCUTS[i];
      g_auto (GStrv) keys = NULL;

      if (shortcut->scope != ASSAY_KEYS_ACCEL || shortcut->keys == NULL)
        continue;
      keys = g_strsplit (shortcut->keys, " ", -1);
      gtk_application_set_accels_for_action (application, shortcut->action,
                                             (const char *const *) keys);
    }
}

static GtkShortcut *
window_shortcut (const AssayShortcut *shortcut, const char *key)
{
  g_autofree char *name = NULL;
  g_autoptr (GVariant) target = NULL;
  GtkShortcut *made;

  if (!g_action_parse_detailed_name (shortcut->action, &name, &target, NULL))
    return NULL;
  made = gtk_shortcut_new (gtk_shortcut_trigger_parse_string (key), gtk_named_action_new (name));
  gtk_shortcut_set_arguments (made, target);
  return made;
}

GtkEventController *
assay_shortcuts_window_controller (void)
{
  GtkEventController *controller = gtk_shortcut_controller_new ();

  gtk_event_controller_set_propagation_phase (controller, GTK_PHASE_BUBBLE);
  for (guint i = 0; i < ASSAY_N_SHORTCUTS; i++)
    {
      g_auto (GStrv) keys = NULL;

      if (ASSAY_SHORTCUTS[i].scope != ASSAY_KEYS_WINDOW)
        continue;
      keys = g_strsplit (ASSAY_SHORTCUTS[i].keys, " ", -1);
      for (int k = 0; keys[k] != NULL; k++)
        gtk_shortcut_controller_add_shortcut (GTK_SHORTCUT_CONTROLLER (controller),
                                              window_shortcut (&ASSAY_SHORTCUTS[i], keys[k]));
    }
  return controller;
}

/* GtkShortcutsWindow has no constructor for its parts: it is built from the text a .ui file holds. */
static char *
shortcuts_ui (void)
{
  g_autoptr (GString) ui =
      g_string_new ("<interface><object class='GtkShortcutsWindow' id='window'>"
                    "<property name='modal'>0</property>"
                    "<child><object class='GtkShortcutsSection'>"
                    "<property name='section-name'>keys</property>"
                    "<property name='max-height'>14</property>");
  const char *group = NULL;

  for (guint i = 0; i < ASSAY_N_SHORTCUTS; i++)
    {
      const AssayShortcut *shortcut = &ASSAY_SHORTCUTS[i];
      g_autofree char *line = NULL;

      if (shortcut->keys == NULL)
        continue;
      if (g_strcmp0 (group, shortcut->group) != 0)
        {
          if (group != NULL)
            g_string_append (ui, "</object></child>");
          group = shortcut->group;
          g_string_append_printf (ui,
                                  "<child><object class='GtkShortcutsGroup'>"
                                  "<property name='title'>%s</property>",
                                  group);
        }
      line = g_markup_printf_escaped ("<child><object class='GtkShortcutsShortcut'>"
                                      "<property name='title'>%s</property>"
                                      "<property name='accelerator'>%s</property>"
                                      "</object></child>",
                                      shortcut->title, shortcut->keys);
      g_string_append (ui, line);
    }
  g_string_append (ui, "</object></child></object></child></object></interface>");
  return g_string_free (g_steal_pointer (&ui), FALSE);
}

GtkWidget *
assay_shortcuts_window_new (void)
{
  g_autofree char *ui = shortcuts_ui ();
  g_autoptr (GtkBuilder) builder = gtk_builder_new_from_string (ui, -1);

  return GTK_WIDGET (g_object_ref (gtk_builder_get_object (builder, "window")));
}
