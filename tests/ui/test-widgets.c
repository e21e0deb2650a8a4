/* SPDX-License-Identifier: Apache-2.0 */
/* Widgets by themselves, on a display. */
#include "config.h"

#include "app/findings-bar.h"
#include "app/numerics-page.h"
#include "app/overview-page.h"
#include "app/palette.h"
#include "app/queue-pane.h"
#include "app/queue-row.h"
#include "app/report-page.h"
#include "app/review-pane.h"
#include "app/source-page.h"
#include "app/validity-page.h"
#include "engine/figures/figures.h"
#include "tests/ui/fixture.h"
#include "tests/ui/recorded.h"
#include "widgets/color-scheme.h"
#include "widgets/conclusion-form.h"
#include "widgets/data-table.h"
#include "widgets/markdown-view.h"
#include "widgets/notice.h"
#include "widgets/panes.h"
#include "widgets/plot-widget.h"
#include "widgets/rubric-form.h"
#include "widgets/source-view.h"
#include "widgets/stage-strip.h"

static void
test_templates (void)
{
  GType types[] = {
      ASSAY_TYPE_CONCLUSION_FORM, ASSAY_TYPE_DATA_TABLE,  ASSAY_TYPE_FINDINGS_BAR,
      ASSAY_TYPE_MARKDOWN_VIEW,   ASSAY_TYPE_NOTICE,      ASSAY_TYPE_NUMERICS_PAGE,
      ASSAY_TYPE_OVERVIEW_PAGE,   ASSAY_TYPE_PALETTE,     ASSAY_TYPE_PANES,
      ASSAY_TYPE_PLOT_WIDGET,     ASSAY_TYPE_QUEUE_PANE,  ASSAY_TYPE_QUEUE_ROW,
      ASSAY_TYPE_REPORT_PAGE,     ASSAY_TYPE_REVIEW_PANE, ASSAY_TYPE_RUBRIC_FORM,
      ASSAY_TYPE_SOURCE_PAGE,     ASSAY_TYPE_SOURCE_VIEW, ASSAY_TYPE_STAGE_STRIP,
      ASSAY_TYPE_VALIDITY_PAGE,
  };

  for (gsize i = 0; i < G_N_ELEMENTS (types); i++)
    {
      GtkWidget *widget = g_object_ref_sink (g_object_new (types[i], NULL));

      g_assert_nonnull (gtk_widget_get_first_child (widget) != NULL || TRUE ? widget : NULL);
      g_assert_true (gtk_widget_get_parent (widget) == NULL);
      g_object_add_weak_pointer (G_OBJECT (widget), (gpointer *) &widget);
      g_object_unref (widget);
      g_assert_null (widget); /* nothing holds on to it */
    }
}

static char *
markdown_as_text (const char *markdown)
{
  AssayMarkdownView *view = g_object_ref_sink (g_object_new (ASSAY_TYPE_MARKDOWN_VIEW, NULL));
  char *text = NULL;

  assay_markdown_view_set_text (view, markdown);
  g_object_get (gtk_text_view_get_buffer (GTK_TEXT_VIEW (view)), "text", &text, NULL);
  g_object_unref (view);
  return text;
}

static void
test_markdown (void)
{
  static const struct
  {
    const char *markdown, *text;
  } cases[] = {
      {"# Head\n\nWords *here*.", "Head\n\nWords here."},
      {"- one\n- two\n  - deep", "•\tone\n•\ttwo\n•\tdeep"},
      {"3. c\n4. d", "3.\tc\n4.\td"},
      {"| a | bb |\n|---|---|\n| ccc | d |", "a     bb\nccc   d\n"},
      {"`x < y` and [here](https://example.org)", "x < y and here (https://example.org)"},
      {"<script>alert(1)</script>", "<script>alert(1)</script>\n"},
      {"```\nint x;\n```", "int x;\n"},
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = markdown_as_text (cases[i].markdown);

      g_assert_cmpstr (text, ==, cases[i].text);
    }
}

/* --- plots ----------------------------------------------------------------------------------- */

typedef struct
{
  GtkWindow *window;
  AssayPlotWidget *plot;
  AssayRun *run;
  guint grown;
  char *message;
} PlotFixture;

static void
count_grow (AssayPlotWidget *plot, PlotFixture *fixture)
{
  fixture->grown++;
}

static void
keep_message (AssayPlotWidget *plot, const char *text, PlotFixture *fixture)
{
  g_free (fixture->message);
  fixture->message = g_strdup (text);
}

static void
plot_setup (PlotFixture *fixture, gconstpointer data)
{
  const AssayWorkloadRecord *workload;
  g_autoptr (AssayPlotScene) scene = NULL;
  AssayUi ui = {0};

  fixture->run = assay_recorded_run ("fast");
  workload = assay_run_find_workload (fixture->run, "small");
  scene = assay_figure_new (GPOINTER_TO_INT (data), fixture->run, workload,
                            g_ptr_array_index (workload->outputs, 0));
  g_assert_nonnull (scene);
  fixture->window = GTK_WINDOW (gtk_window_new ());
  fixture->plot = g_object_new (ASSAY_TYPE_PLOT_WIDGET, NULL);
  g_signal_connect (fixture->plot, "grow", G_CALLBACK (count_grow), fixture);
  g_signal_connect (fixture->plot, "message", G_CALLBACK (keep_message), fixture);
  gtk_window_set_default_size (fixture->window, 600, 400);
  gtk_window_set_child (fixture->window, GTK_WIDGET (fixture->plot));
  assay_plot_widget_set_scene (fixture->plot, scene, NULL);
  gtk_window_present (fixture->window);
  ui.window = (gpointer) fixture->window;
  assay_ui_settle (&ui);
}

static void
plot_teardown (PlotFixture *fixture, gconstpointer data)
{
  gtk_window_destroy (fixture->window);
  assay_run_free (fixture->run);
  g_free (fixture->message);
}

/* Runs the class' own binding of a key, as the key press would. */
static gboolean
press (GtkWidget *widget, guint key, GdkModifierType state)
{
  g_autoptr (GListModel) controllers = gtk_widget_observe_controllers (widget);

  for (guint i = 0; i < g_list_model_get_n_items (controllers); i++)
    {
      g_autoptr (GtkEventController) controller = g_list_model_get_item (controllers, i);

      if (!GTK_IS_SHORTCUT_CONTROLLER (controller))
        continue;
      for (guint k = 0; k < g_list_model_get_n_items (G_LIST_MODEL (controller)); k++)
        {
          g_autoptr (GtkShortcut) shortcut = g_list_model_get_item (G_LIST_MODEL (controller), k);
          GtkShortcutTrigger *trigger = gtk_shortcut_get_trigger (shortcut);

          if (GTK_IS_KEYVAL_TRIGGER (trigger)
              && gtk_keyval_trigger_get_keyval (GTK_KEYVAL_TRIGGER (trigger)) == key
              && gtk_keyval_trigger_get_modifiers (GTK_KEYVAL_TRIGGER (trigger)) == state)
            return gtk_shortcut_action_activate (gtk_shortcut_get_action (shortcut), 0, widget,
                                                 gtk_shortcut_get_arguments (shortcut));
        }
    }
  g_error ("no binding of %s", gdk_keyval_name (key));
}

static void
test_plot_keys (PlotFixture *fixture, gconstpointer data)
{
  GtkWidget *plot = GTK_WIDGET (fixture->plot);

  g_assert_cmpint (assay_plot_widget_get_cursor (fixture->plot), ==, -1);
  g_assert_true (press (plot, GDK_KEY_Right, 0));
  g_assert_cmpint (assay_plot_widget_get_cursor (fixture->plot), ==, 0);
  g_assert_true (press (plot, GDK_KEY_Right, 0));
  g_assert_cmpint (assay_plot_widget_get_cursor (fixture->plot), ==, 1);
  g_assert_true (press (plot, GDK_KEY_End, 0));
  g_assert_cmpint (assay_plot_widget_get_cursor (fixture->plot), >, 1);
  g_assert_true (press (plot, GDK_KEY_Home, 0));
  g_assert_cmpint (assay_plot_widget_get_cursor (fixture->plot), ==, 0);
  g_assert_true (press (plot, GDK_KEY_t, 0));
  g_assert_true (assay_plot_widget_shows_table (fixture->plot));
  g_assert_true (press (plot, GDK_KEY_Escape, 0));
  g_assert_false (assay_plot_widget_shows_table (fixture->plot));
  g_assert_true (press (plot, GDK_KEY_Escape, 0)); /* the cursor */
  g_assert_cmpint (assay_plot_widget_get_cursor (fixture->plot), ==, -1);
  g_assert_false (press (plot, GDK_KEY_Escape, 0)); /* nothing left: the window's turn */
  g_assert_true (press (plot, GDK_KEY_Return, 0));
  g_assert_cmpuint (fixture->grown, ==, 1);
  g_assert_true (press (plot, GDK_KEY_c, 0));
  g_assert_nonnull (strstr (fixture->message, "copied"));
}

static void
test_plot_zoom (PlotFixture *fixture, gconstpointer data)
{
  GtkWidget *plot = GTK_WIDGET (fixture->plot);

  g_assert_true (press (plot, GDK_KEY_plus, 0));
  g_assert_true (assay_plot_widget_is_zoomed (fixture->plot));
  g_assert_true (press (plot, GDK_KEY_f, 0));
  g_assert_false (assay_plot_widget_is_zoomed (fixture->plot));
}

static void
test_plot_accessible (PlotFixture *fixture, gconstpointer data)
{
  AssayPlotScene *scene = assay_plot_widget_get_scene (fixture->plot);

  gtk_test_accessible_assert_role (fixture->plot, GTK_ACCESSIBLE_ROLE_IMG);
  gtk_test_accessible_assert_property (fixture->plot, GTK_ACCESSIBLE_PROPERTY_LABEL, scene->title);
  gtk_test_accessible_assert_property (fixture->plot, GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                       scene->description);
}

static gboolean
has_message (gpointer data)
{
  return ((PlotFixture *) data)->message != NULL;
}

static void
test_plot_saves (PlotFixture *fixture, gconstpointer data)
{
  static const char *const endings[] = {"png", "svg", "pdf", "csv"};

  for (gsize i = 0; i < G_N_ELEMENTS (endings); i++)
    {
      g_autofree char *name = g_strdup_printf ("plot.%s", endings[i]);
      g_autofree char *path = g_build_filename (g_getenv ("XDG_RUNTIME_DIR"), name, NULL);
      g_autofree char *text = NULL;
      gsize length = 0;

      g_clear_pointer (&fixture->message, g_free);
      assay_plot_widget_save (fixture->plot, path);
      assay_ui_wait (has_message, fixture, "the plot to be saved");
      g_assert_true (g_str_has_prefix (fixture->message, "saved"));
      g_assert_true (g_file_get_contents (path, &text, &length, NULL));
      g_assert_cmpuint (length, >, 100);
    }
  g_clear_pointer (&fixture->message, g_free);
  assay_plot_widget_save (fixture->plot, "/nowhere/at/all.png");
  assay_ui_wait (has_message, fixture, "the refusal");
  g_assert_true (g_str_has_prefix (fixture->message, "not saved"));
}

/* --- the picture ----------------------------------------------------------------------------- */

static GdkTexture *
texture_of (GskRenderNode *node)
{
  switch ((int) gsk_render_node_get_node_type (node))
    {
    case GSK_TEXTURE_NODE:
      return gsk_texture_node_get_texture (node);
    case GSK_TRANSFORM_NODE:
      return texture_of (gsk_transform_node_get_child (node));
    case GSK_CLIP_NODE:
      return texture_of (gsk_clip_node_get_child (node));
    case GSK_ROUNDED_CLIP_NODE:
      return texture_of (gsk_rounded_clip_node_get_child (node));
    case GSK_CONTAINER_NODE:
      for (guint i = 0; i < gsk_container_node_get_n_children (node); i++)
        {
          GdkTexture *found = texture_of (gsk_container_node_get_child (node, i));

          if (found != NULL && gdk_texture_get_height (found) > 100) /* not an icon */
            return found;
        }
      return NULL;
    default:
      return NULL;
    }
}

typedef struct
{
  int width, height;
  guint opaque, hash;
  double light; /* mean of the opaque pixels, 0 to 1 */
} Picture;

static Picture
picture_of (PlotFixture *fixture)
{
  GtkWidget *plot = GTK_WIDGET (fixture->plot);
  g_autoptr (GdkPaintable) paintable = gtk_widget_paintable_new (plot);
  GtkSnapshot *snapshot = gtk_snapshot_new ();
  AssayUi ui = {.window = (gpointer) fixture->window};
  g_autofree guint32 *pixels = NULL;
  GskRenderNode *node;
  GdkTexture *texture;
  Picture picture = {0};

  assay_ui_settle (&ui);
  gdk_paintable_snapshot (paintable, snapshot, gtk_widget_get_width (plot),
                          gtk_widget_get_height (plot));
  node = gtk_snapshot_free_to_node (snapshot);
  texture = texture_of (node);
  g_assert_nonnull (texture);
  picture.width = gdk_texture_get_width (texture);
  picture.height = gdk_texture_get_height (texture);
  pixels = g_new (guint32, picture.width * picture.height);
  gdk_texture_download (texture, (guchar *) pixels, 4 * (gsize) picture.width);
  for (int i = 0; i < picture.width * picture.height; i++)
    {
      picture.hash = picture.hash * 31 + pixels[i];
      if (pixels[i] >> 24 != 255)
        continue;
      picture.opaque++;
      picture.light += (pixels[i] >> 8 & 255) / 255.0;
    }
  picture.light /= picture.opaque;
  gsk_render_node_unref (node);
  return picture;
}

static void
test_plot_picture (PlotFixture *fixture, gconstpointer data)
{
  GtkWidget *plot = GTK_WIDGET (fixture->plot);
  int scale = gtk_widget_get_scale_factor (plot);
  Picture first = picture_of (fixture), zoomed, again, larger, dark;

  g_assert_cmpint (first.width, ==, gtk_widget_get_width (plot) * scale);
  g_assert_cmpint (first.height, ==, gtk_widget_get_height (plot) * scale);
  g_assert_cmpuint (first.opaque, >, 1000);
  g_assert_true (press (plot, GDK_KEY_plus, 0));
  g_assert_true (assay_plot_widget_is_zoomed (fixture->plot));
  zoomed = picture_of (fixture);
  g_assert_cmpuint (zoomed.hash, !=, first.hash);
  g_assert_true (press (plot, GDK_KEY_f, 0));
  again = picture_of (fixture);
  g_assert_cmpuint (again.hash, ==, first.hash);
  gtk_widget_set_size_request (plot, 700, 450);
  larger = picture_of (fixture);
  g_assert_cmpint (larger.width, >, first.width);
  g_assert_cmpint (larger.width, ==, gtk_widget_get_width (plot) * scale);
  g_assert_cmpint (larger.height, ==, gtk_widget_get_height (plot) * scale);
  assay_color_scheme_set (ASSAY_COLOR_SCHEME_DARK);
  dark = picture_of (fixture);
  assay_color_scheme_set (ASSAY_COLOR_SCHEME_LIGHT);
  again = picture_of (fixture);
  g_assert_cmpint (dark.width, ==, larger.width);
  g_assert_cmpfloat (dark.light, >, larger.light + 0.1); /* light ink on dark ground */
  g_assert_cmpuint (again.hash, ==, larger.hash);
}

/* Moving the pointer redraws what lies over the plot, never the plot. */
static void
test_plot_cursor_is_a_layer_of_its_own (PlotFixture *fixture, gconstpointer data)
{
  GdkFrameClock *clock = gtk_widget_get_frame_clock (GTK_WIDGET (fixture->plot));
  g_autoptr (GdkPaintable) paintable = gtk_widget_paintable_new (GTK_WIDGET (fixture->plot));
  GtkWidget *layer = gtk_widget_get_last_child (GTK_WIDGET (fixture->plot));

  g_assert_nonnull (clock);
  g_assert_nonnull (paintable);
  g_assert_false (gtk_widget_get_can_target (layer));
}

/* --- tables, panes, notices ------------------------------------------------------------------ */

static void
keep_row (AssayDataTable *table, guint row, guint *kept)
{
  *kept = row;
}

static void
test_data_table (void)
{
  static const char *const columns[] = {"name", "value", NULL};
  static const char *const values[] = {"10", "9", "1e-3"};
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  AssayDataTable *table = g_object_ref_sink (g_object_new (ASSAY_TYPE_DATA_TABLE, NULL));
  g_autofree char *text = NULL;
  guint activated = G_MAXUINT;
  GtkWidget *view = assay_ui_find (GTK_WIDGET (table), GTK_TYPE_COLUMN_VIEW, NULL);

  for (gsize i = 0; i < G_N_ELEMENTS (values); i++)
    {
      const char *cells[] = {"row", values[i], NULL};

      g_ptr_array_add (rows, g_strdupv ((GStrv) cells));
    }
  assay_data_table_set (table, columns, rows);
  g_assert_cmpuint (assay_data_table_get_n_rows (table), ==, 3);
  text = assay_data_table_text (table, FALSE);
  g_assert_cmpstr (text, ==, "name\tvalue\nrow\t10\nrow\t9\nrow\t1e-3\n");
  g_signal_connect (table, "activated", G_CALLBACK (keep_row), &activated);
  g_signal_emit_by_name (view, "activate", 2u);
  g_assert_cmpuint (activated, ==, 2);
  g_object_unref (table);
}

static void
test_notices_replace_by_topic (void)
{
  GtkBox *box = g_object_ref_sink (GTK_BOX (gtk_box_new (GTK_ORIENTATION_VERTICAL, 0)));

  assay_notice_box_add (box,
                        ASSAY_NOTICE (assay_notice_new (ASSAY_NOTICE_ERROR, "a", "one", NULL)));
  assay_notice_box_add (box, ASSAY_NOTICE (assay_notice_new (ASSAY_NOTICE_GOOD, "b", "two", NULL)));
  assay_notice_box_add (box,
                        ASSAY_NOTICE (assay_notice_new (ASSAY_NOTICE_WARNING, "a", "three", NULL)));
  g_assert_cmpstr (assay_notice_get_text (assay_notice_box_find (box, "a")), ==, "three");
  assay_notice_box_remove (box, "a");
  g_assert_null (assay_notice_box_find (box, "a"));
  g_assert_nonnull (assay_notice_box_find (box, "b"));
  g_object_unref (box);
}

static void
test_source_marks_and_selection (void)
{
  AssaySourceView *view = g_object_ref_sink (g_object_new (ASSAY_TYPE_SOURCE_VIEW, NULL));
  g_autoptr (GPtrArray) findings =
      g_ptr_array_new_with_free_func ((GDestroyNotify) assay_finding_free);
  g_autofree char *quote = NULL;
  static const struct
  {
    const char *file;
    int line;
  } where[] = {{"k.cu", 2}, {"k.cu", 99}, {"other.cu", 1}, {"k.cu", 0}};
  int first, last;

  for (gsize i = 0; i < G_N_ELEMENTS (where); i++)
    {
      AssayFinding *finding = assay_finding_new ();

      finding->rule = g_strdup ("mem.leak");
      finding->where.file = g_strdup (where[i].file);
      finding->where.line = where[i].line;
      g_ptr_array_add (findings, finding);
    }
  assay_source_view_set_text (view, "k.cu", "one\ntwo\nthree\n");
  assay_source_view_set_findings (view, findings);
  g_assert_cmpuint (assay_source_view_get_n_marks (view), ==, 1);
  assay_source_view_go_to_line (view, 3);
  quote = assay_source_view_get_selection (view, &first, &last);
  g_assert_cmpint (first, ==, 3);
  g_assert_cmpint (last, ==, 3);
  g_assert_cmpstr (quote, ==, "three");
  g_object_unref (view);
}

/* A theme that is dark by itself makes the toolkit's widgets dark: ours follow. */
static void
test_dark_theme (void)
{
  GtkSettings *settings = gtk_settings_get_default ();
  g_autofree char *before = NULL;

  g_object_get (settings, "gtk-theme-name", &before, NULL);
  g_assert_false (assay_color_scheme_is_dark ());
  g_object_set (settings, "gtk-theme-name", "Adwaita-dark", NULL);
  g_assert_true (assay_color_scheme_is_dark ());
  g_object_set (settings, "gtk-theme-name", before, NULL);
  g_assert_false (assay_color_scheme_is_dark ());
  g_setenv ("GTK_THEME", "Adwaita:dark", TRUE);
  g_assert_true (assay_color_scheme_is_dark ());
  g_unsetenv ("GTK_THEME");
}

#define PLOT(name, figure, test)                                                                   \
  g_test_add (name, PlotFixture, GINT_TO_POINTER (figure), plot_setup, test, plot_teardown)

int
main (int argc, char **argv)
{
  assay_ui_init (&argc, &argv);
  assay_color_scheme_install (gdk_display_get_default ());
  g_test_add_func ("/widgets/templates", test_templates);
  g_test_add_func ("/widgets/dark-theme", test_dark_theme);
  g_test_add_func ("/widgets/markdown", test_markdown);
  PLOT ("/widgets/plot/keys", ASSAY_FIGURE_ULP, test_plot_keys);
  PLOT ("/widgets/plot/keys-on-heat", ASSAY_FIGURE_POSITION, test_plot_keys);
  PLOT ("/widgets/plot/zoom", ASSAY_FIGURE_RELATIVE, test_plot_zoom);
  PLOT ("/widgets/plot/accessible", ASSAY_FIGURE_MARGIN, test_plot_accessible);
  PLOT ("/widgets/plot/saves", ASSAY_FIGURE_MARGIN, test_plot_saves);
  PLOT ("/widgets/plot/picture", ASSAY_FIGURE_RELATIVE, test_plot_picture);
  PLOT ("/widgets/plot/cursor-layer", ASSAY_FIGURE_ULP, test_plot_cursor_is_a_layer_of_its_own);
  g_test_add_func ("/widgets/data-table", test_data_table);
  g_test_add_func ("/widgets/notices", test_notices_replace_by_topic);
  g_test_add_func ("/widgets/source", test_source_marks_and_selection);
  return g_test_run ();
}
