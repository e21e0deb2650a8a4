/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/application.h"

#include "app/shortcuts.h"
#include "app/window.h"
#include "widgets/color-scheme.h"

#include <gtksourceview/gtksource.h>
#include <json-glib/json-glib.h>
#include <libsoup/soup.h>

struct _AssayApplication
{
  GtkApplication parent;
  AssaySession *session;
  char *workspace;
};

G_DEFINE_FINAL_TYPE (AssayApplication, assay_application, GTK_TYPE_APPLICATION)

static const char *const scheme_words[] = {"system", "light", "dark", NULL};

static void
show_scheme (GSimpleAction *action, GVariant *value, gpointer data)
{
  AssayApplication *self = data;
  const char *word = g_variant_get_string (value, NULL);
  int scheme = 0;

  for (int i = 0; scheme_words[i] != NULL; i++)
    if (g_str_equal (word, scheme_words[i]))
      scheme = i;
  assay_color_scheme_set ((AssayColorScheme) scheme);
  g_simple_action_set_state (action, g_variant_new_string (scheme_words[scheme]));
  assay_session_set_string (self->session, "color-scheme", scheme_words[scheme]);
}

static void
quit (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  GList *windows = g_list_copy (gtk_application_get_windows (data));

  for (GList *l = windows; l != NULL; l = l->next)
    gtk_window_close (l->data);
  g_list_free (windows);
}

static void
about (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  gtk_show_about_dialog (gtk_application_get_active_window (data), "program-name", "Assay",
                         "logo-icon-name", ASSAY_APP_ID, "version", ASSAY_VERSION, "comments",
                         "Measures GPU kernel tasks and guides their review.", "license-type",
                         GTK_LICENSE_APACHE_2_0, NULL);
}

static const GActionEntry entries[] = {
    {.name = "quit", .activate = quit},
    {.name = "about", .activate = about},
    {.name = "color-scheme",
     .parameter_type = "s",
     .state = "'system'",
     .activate = NULL,
     .change_state = show_scheme},
};

static AssayWindow *
ensure_window (AssayApplication *self)
{
  GtkWindow *window = gtk_application_get_active_window (GTK_APPLICATION (self));

  if (ASSAY_IS_WINDOW (window))
    return ASSAY_WINDOW (window);
  return assay_window_new (GTK_APPLICATION (self), self->session);
}

static char *
examples_folder (void)
{
  static const char *const places[] = {ASSAY_DATADIR "/tasks", ASSAY_SOURCE_DIR "/data/tasks",
                                       NULL};

  for (int i = 0; places[i] != NULL; i++)
    if (g_file_test (places[i], G_FILE_TEST_IS_DIR))
      return g_strdup (places[i]);
  return NULL;
}

/* What was open last time; the shipped examples on a first start. */
static void
open_usual (AssayApplication *self)
{
  g_auto (GStrv) last = assay_session_get_last_tasks (self->session);
  g_autofree char *examples = NULL, *story = NULL;

  for (int i = 0; last[i] != NULL; i++)
    assay_session_add_task (self->session, last[i]);
  if (last[0] != NULL)
    return;
  examples = examples_folder ();
  if (examples == NULL || !assay_session_add_tasks_below (self->session, examples))
    return;
  /* One with a story: its tolerance accepts an array of zeros. */
  story = g_build_filename (examples, "wide_softmax", NULL);
  if (assay_session_get_string (self->session, "current") == NULL)
    assay_session_set_string (self->session, "current", story);
}

static void
show_current (AssayApplication *self, AssayWindow *window)
{
  GListModel *tasks = assay_session_get_tasks (self->session);
  const char *current = assay_session_get_string (self->session, "current");
  g_autoptr (AssayTaskItem) chosen = g_list_model_get_item (tasks, 0);

  for (guint i = 0; i < g_list_model_get_n_items (tasks); i++)
    {
      g_autoptr (AssayTaskItem) item = g_list_model_get_item (tasks, i);

      if (g_strcmp0 (assay_task_item_get_folder (item), current) == 0)
        g_set_object (&chosen, item);
    }
  if (chosen != NULL)
    assay_window_open_task (window, chosen);
}

static void
assay_application_activate (GApplication *application)
{
  AssayApplication *self = ASSAY_APPLICATION (application);
  AssayWindow *window = ensure_window (self);

  if (g_list_model_get_n_items (assay_session_get_tasks (self->session)) == 0)
    open_usual (self);
  if (assay_context_get_task_item (assay_window_get_context (window)) == NULL)
    show_current (self, window);
  gtk_window_present (GTK_WINDOW (window));
}

static void
assay_application_open (GApplication *application, GFile **files, int n_files, const char *hint)
{
  AssayWindow *window = ensure_window (ASSAY_APPLICATION (application));

  gtk_window_present (GTK_WINDOW (window));
  for (int i = 0; i < n_files; i++)
    {
      g_autofree char *path = g_file_get_path (files[i]);

      if (path != NULL)
        gtk_widget_activate_action (GTK_WIDGET (window), "win.open-path", "s", path);
    }
}

static void
assay_application_startup (GApplication *application)
{
  AssayApplication *self = ASSAY_APPLICATION (application);
  const char *scheme;

  G_APPLICATION_CLASS (assay_application_parent_class)->startup (application);
  gtk_source_init ();
  assay_color_scheme_install (gdk_display_get_default ());
  gtk_window_set_default_icon_name (ASSAY_APP_ID);
  self->session = assay_session_new (self->workspace);
  g_action_map_add_action_entries (G_ACTION_MAP (self), entries, G_N_ELEMENTS (entries), self);
  assay_shortcuts_set_accels (GTK_APPLICATION (self));
  scheme = assay_session_get_string (self->session, "color-scheme");
  g_action_group_change_action_state (G_ACTION_GROUP (self), "color-scheme",
                                      g_variant_new_string (scheme != NULL ? scheme : "system"));
  assay_engine_client_start (assay_session_get_engine (self->session));
}

static void
assay_application_shutdown (GApplication *application)
{
  AssayApplication *self = ASSAY_APPLICATION (application);

  assay_session_flush (self->session);
  assay_engine_client_stop (assay_session_get_engine (self->session));
  G_APPLICATION_CLASS (assay_application_parent_class)->shutdown (application);
}

static void
print_versions (void)
{
  g_print ("Assay %s\nGTK %u.%u.%u, GtkSourceView %u.%u.%u, GLib %u.%u.%u, libsoup %u.%u.%u, "
           "json-glib %u.%u.%u\n",
           ASSAY_VERSION, gtk_get_major_version (), gtk_get_minor_version (),
           gtk_get_micro_version (), gtk_source_get_major_version (),
           gtk_source_get_minor_version (), gtk_source_get_micro_version (), glib_major_version,
           glib_minor_version, glib_micro_version, soup_get_major_version (),
           soup_get_minor_version (), soup_get_micro_version (), JSON_MAJOR_VERSION,
           JSON_MINOR_VERSION, JSON_MICRO_VERSION);
}

static int
assay_application_handle_local_options (GApplication *application, GVariantDict *options)
{
  AssayApplication *self = ASSAY_APPLICATION (application);
  const char *workspace;

  if (g_variant_dict_contains (options, "version"))
    {
      print_versions ();
      return 0;
    }
  if (g_variant_dict_lookup (options, "workspace", "^&ay", &workspace))
    {
      /* Another workspace is another session: it does not go to a window that is already there. */
      self->workspace = g_canonicalize_filename (workspace, NULL);
      g_application_set_flags (application,
                               g_application_get_flags (application) | G_APPLICATION_NON_UNIQUE);
    }
  return -1;
}

AssaySession *
assay_application_get_session (AssayApplication *self)
{
  return self->session;
}

AssayApplication *
assay_application_new (void)
{
  return g_object_new (ASSAY_TYPE_APPLICATION, "application-id", ASSAY_APP_ID, "flags",
                       G_APPLICATION_HANDLES_OPEN, "resource-base-path", "/org/assay/Assay", NULL);
}

AssayApplication *
assay_application_new_for (const char *workspace)
{
  AssayApplication *self = assay_application_new ();

  self->workspace = g_strdup (workspace);
  g_application_set_flags (G_APPLICATION (self),
                           G_APPLICATION_HANDLES_OPEN | G_APPLICATION_NON_UNIQUE);
  return self;
}

static void
assay_application_finalize (GObject *object)
{
  AssayApplication *self = ASSAY_APPLICATION (object);

  g_clear_object (&self->session);
  g_free (self->workspace);
  G_OBJECT_CLASS (assay_application_parent_class)->finalize (object);
}

static void
assay_application_class_init (AssayApplicationClass *class)
{
  GApplicationClass *application_class = G_APPLICATION_CLASS (class);

  G_OBJECT_CLASS (class)->finalize = assay_application_finalize;
  application_class->activate = assay_application_activate;
  application_class->open = assay_application_open;
  application_class->startup = assay_application_startup;
  application_class->shutdown = assay_application_shutdown;
  application_class->handle_local_options = assay_application_handle_local_options;
}

static void
assay_application_init (AssayApplication *self)
{
  static const GOptionEntry options[] = {
      {"workspace", 0, 0, G_OPTION_ARG_FILENAME, NULL,
       "Folder for runs and reviews (default: the user's data folder)", "DIR"},
      {"version", 0, 0, G_OPTION_ARG_NONE, NULL, "Versions of Assay and its libraries", NULL},
      {NULL}};

  g_application_add_main_option_entries (G_APPLICATION (self), options);
  g_application_set_option_context_parameter_string (G_APPLICATION (self), "[TASK…]");
  g_application_set_option_context_summary (
      G_APPLICATION (self),
      "Opens the workbench on task folders; on what was open last, or the examples, without any.");
}
