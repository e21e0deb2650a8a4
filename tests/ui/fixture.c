/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/ui/fixture.h"
#include "tests/ui/glib-quarks.h"

#include "tests/ui/recorded.h"
#include "widgets/plot-widget.h"

#include <glib/gstdio.h>

#define PATIENCE_US (60 * G_USEC_PER_SEC)

char *
assay_ui_data (const char *relative)
{
  return g_build_filename (ASSAY_SOURCE_DIR, "tests", "ui", relative, NULL);
}

static void
remove_tree (const char *path)
{
  if (g_file_test (path, G_FILE_TEST_IS_DIR) && !g_file_test (path, G_FILE_TEST_IS_SYMLINK))
    {
      g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
      const char *name;

      while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
        {
          g_autofree char *child = g_build_filename (path, name, NULL);

          remove_tree (child);
        }
    }
  g_remove (path);
}

static void
copy_tree (const char *from, const char *to)
{
  g_autoptr (GDir) dir = g_dir_open (from, 0, NULL);
  const char *name;

  g_mkdir_with_parents (to, 0700);
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *source = g_build_filename (from, name, NULL);
      g_autofree char *target = g_build_filename (to, name, NULL);

      if (g_file_test (source, G_FILE_TEST_IS_DIR))
        copy_tree (source, target);
      else
        {
          g_autofree char *text = NULL;
          gsize length;

          g_assert_true (g_file_get_contents (source, &text, &length, NULL));
          g_assert_true (g_file_set_contents (target, text, (gssize) length, NULL));
        }
    }
}

static char *test_home;

static void
remove_home (void)
{
  remove_tree (test_home);
}

void
assay_ui_init (int *argc, char ***argv)
{
  static const char *const folders[] = {"XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME",
                                        "XDG_CACHE_HOME", NULL};

  assay_ui_keep_glib_quarks ();
  test_home = g_dir_make_tmp ("assay-ui-XXXXXX", NULL);
  g_assert_nonnull (test_home);
  for (int i = 0; folders[i] != NULL; i++)
    {
      g_autofree char *path = g_build_filename (test_home, folders[i], NULL);

      g_setenv (folders[i], path, TRUE);
    }
  g_setenv ("HOME", test_home, TRUE);
  g_setenv ("XDG_RUNTIME_DIR", test_home, TRUE);
  g_setenv ("GTK_USE_PORTAL", "0", TRUE);
  g_unsetenv ("DBUS_SESSION_BUS_ADDRESS");
  atexit (remove_home);
  g_test_init (argc, argv, NULL);
  if (!gtk_init_check ())
    {
      g_print ("1..0 # SKIP no display\n");
      exit (77);
    }
  g_object_set (gtk_settings_get_default (), "gtk-enable-animations", FALSE, "gtk-font-name",
                "Cantarell 11", NULL);
}

static void
give_recorded_runs (AssayUi *ui)
{
  g_autofree char *runs = g_build_filename (ui->workspace, "runs", NULL);

  assay_recorded_write (runs, "fast");
}

/* Each application of a test program starts as on the first day. */
static void
forget_session (void)
{
  g_autofree char *file = g_build_filename (g_get_user_state_dir (), "assay", "session.json", NULL);

  g_remove (file);
}

AssayUi *
assay_ui_start (const char *tasks, const char *engine)
{
  static guint count;
  AssayUi *ui = g_new0 (AssayUi, 1);
  g_autofree char *name = g_strdup_printf ("%u", ++count);
  g_autofree char *from = tasks != NULL ? g_strdup (tasks) : assay_ui_data ("tasks");
  g_autofree char *copies = NULL;
  AssaySession *session;
  g_autoptr (AssayTaskItem) first = NULL;

  ui->home = g_build_filename (test_home, name, NULL);
  forget_session ();
  ui->workspace = g_build_filename (ui->home, "workspace", NULL);
  copies = g_build_filename (ui->home, "tasks", NULL);
  copy_tree (from, copies);
  give_recorded_runs (ui);
  g_setenv ("ASSAY_ENGINE", engine != NULL ? engine : "/bin/false", TRUE);
  ui->application = assay_application_new_for (ui->workspace);
  g_assert_true (g_application_register (G_APPLICATION (ui->application), NULL, NULL));
  session = assay_application_get_session (ui->application);
  g_assert_true (assay_session_add_tasks_below (session, copies));
  ui->window = assay_window_new (GTK_APPLICATION (ui->application), session);
  gtk_window_set_default_size (GTK_WINDOW (ui->window), 1600, 1000);
  first = g_list_model_get_item (assay_session_get_tasks (session), 0);
  assay_window_open_task (ui->window, first);
  gtk_window_present (GTK_WINDOW (ui->window));
  assay_ui_settle (ui);
  return ui;
}

static gboolean
nothing_waits (gpointer data)
{
  return !g_main_context_pending (NULL);
}

void
assay_ui_free (AssayUi *ui)
{
  AssayEngineClient *engine =
      g_object_ref (assay_session_get_engine (assay_application_get_session (ui->application)));

  assay_engine_client_stop (engine);
  if (gtk_application_get_windows (GTK_APPLICATION (ui->application)) != NULL)
    gtk_window_destroy (GTK_WINDOW (ui->window));
  assay_ui_wait (nothing_waits, NULL, "the window to close");
  g_object_unref (engine);
  g_application_set_default (NULL);
  g_object_unref (ui->application);
  remove_tree (ui->home);
  g_free (ui->home);
  g_free (ui->workspace);
  g_free (ui);
}

static gboolean
wake (gpointer data)
{
  return G_SOURCE_CONTINUE;
}

void
assay_ui_wait (AssayUiCondition condition, gpointer data, const char *what)
{
  gint64 until = g_get_monotonic_time () + PATIENCE_US;
  guint ticker = g_timeout_add (20, wake, NULL);

  while (!condition (data))
    {
      if (g_get_monotonic_time () > until)
        g_error ("waited in vain for %s", what);
      g_main_context_iteration (NULL, TRUE);
    }
  g_source_remove (ticker);
}

static gboolean
frame_drawn (GtkWidget *widget, GdkFrameClock *clock, gpointer frames)
{
  ++*(int *) frames;
  return G_SOURCE_CONTINUE;
}

static gboolean
three_frames (gpointer frames)
{
  return *(int *) frames >= 3;
}

static gboolean
all_painted (gpointer root)
{
  if (!gtk_widget_get_mapped (root))
    return TRUE;
  if (ASSAY_IS_PLOT_WIDGET (root) && !assay_plot_widget_is_painted (root))
    return FALSE;
  for (GtkWidget *child = gtk_widget_get_first_child (root); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    if (!all_painted (child))
      return FALSE;
  return TRUE;
}

void
assay_ui_settle (AssayUi *ui)
{
  int frames = 0;
  guint tick = gtk_widget_add_tick_callback (GTK_WIDGET (ui->window), frame_drawn, &frames, NULL);

  assay_ui_wait (three_frames, &frames, "frames");
  assay_ui_wait (all_painted, ui->window, "pictures");
  frames = 0;
  assay_ui_wait (three_frames, &frames, "frames with pictures");
  gtk_widget_remove_tick_callback (GTK_WIDGET (ui->window), tick);
}

static gboolean
is_named (GtkWidget *widget, const char *name)
{
  const char *id = gtk_buildable_get_buildable_id (GTK_BUILDABLE (widget));

  return name == NULL || g_strcmp0 (id, name) == 0
         || g_strcmp0 (gtk_widget_get_css_name (widget), name) == 0
         || gtk_widget_has_css_class (widget, name);
}

GtkWidget *
assay_ui_find (GtkWidget *root, GType type, const char *name)
{
  if (g_type_is_a (G_OBJECT_TYPE (root), type) && is_named (root, name))
    return root;
  for (GtkWidget *child = gtk_widget_get_first_child (root); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    {
      GtkWidget *found = assay_ui_find (child, type, name);

      if (found != NULL)
        return found;
    }
  return NULL;
}

static gboolean
holds_text (GtkWidget *widget, const char *text)
{
  if (GTK_IS_LABEL (widget))
    return strstr (gtk_label_get_text (GTK_LABEL (widget)), text) != NULL;
  if (GTK_IS_TEXT_VIEW (widget))
    {
      GtkTextBuffer *buffer = gtk_text_view_get_buffer (GTK_TEXT_VIEW (widget));
      g_autofree char *all = NULL;

      g_object_get (buffer, "text", &all, NULL);
      return strstr (all, text) != NULL;
    }
  return FALSE;
}

GtkWidget *
assay_ui_find_text (GtkWidget *root, const char *text)
{
  if (!gtk_widget_get_visible (root) || !gtk_widget_get_child_visible (root))
    return NULL;
  if (holds_text (root, text))
    return root;
  for (GtkWidget *child = gtk_widget_get_first_child (root); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    {
      GtkWidget *found = assay_ui_find_text (child, text);

      if (found != NULL)
        return found;
    }
  return NULL;
}

GtkWidget *
assay_ui_window (GType type)
{
  GListModel *windows = gtk_window_get_toplevels ();

  for (guint i = 0; i < g_list_model_get_n_items (windows); i++)
    {
      g_autoptr (GtkWidget) window = g_list_model_get_item (windows, i);

      if (G_TYPE_CHECK_INSTANCE_TYPE (window, type))
        return window;
    }
  return NULL;
}

void
assay_ui_activate (AssayUi *ui, const char *action, const char *format, ...)
{
  GVariant *target = NULL;
  va_list arguments;

  if (format != NULL)
    {
      va_start (arguments, format);
      target = g_variant_new_va (format, NULL, &arguments);
      va_end (arguments);
    }
  g_assert_true (gtk_widget_activate_action_variant (GTK_WIDGET (ui->window), action, target));
}

gboolean
assay_ui_shoot (AssayUi *ui, const char *path)
{
  assay_ui_settle (ui);
  return assay_ui_shoot_widget (GTK_WIDGET (ui->window), path);
}

gboolean
assay_ui_shoot_widget (GtkWidget *widget, const char *path)
{
  g_autoptr (GdkPaintable) paintable = NULL;
  g_autoptr (GdkTexture) texture = NULL;
  GtkSnapshot *snapshot = gtk_snapshot_new ();
  GskRenderNode *node;
  int width = gtk_widget_get_width (widget), height = gtk_widget_get_height (widget);

  paintable = gtk_widget_paintable_new (widget);
  gdk_paintable_snapshot (paintable, snapshot, width, height);
  node = gtk_snapshot_free_to_node (snapshot);
  if (node == NULL)
    return FALSE;
  texture = gsk_renderer_render_texture (gtk_native_get_renderer (GTK_NATIVE (widget)), node,
                                         &GRAPHENE_RECT_INIT (0, 0, (float) width, (float) height));
  gsk_render_node_unref (node);
  return gdk_texture_save_to_png (texture, path);
}
