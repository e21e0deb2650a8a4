/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "widgets/plot-widget-private.h"

#include "engine/plot/export.h"
#include "engine/plot/text.h"
#include "widgets/color-scheme.h"
#include "widgets/plot-painter.h"

#include <math.h>

#define MINIMUM_WIDTH 190
#define MINIMUM_HEIGHT 188
#define HEADER 30
#define EXPORT_WIDTH 720.0
#define EXPORT_HEIGHT 420.0

enum
{
  PROP_0,
  PROP_GROWN,
  N_PROPS
};

enum
{
  GROW,
  ATTACH,
  MESSAGE,
  POINT_MOVED,
  N_SIGNALS
};

static GParamSpec *properties[N_PROPS];
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (AssayPlotWidget, assay_plot_widget, GTK_TYPE_WIDGET)

void
assay_plot_widget_tell (AssayPlotWidget *self, const char *text)
{
  g_signal_emit (self, signals[MESSAGE], 0, text);
}

void
assay_plot_widget_emit_grow (AssayPlotWidget *self)
{
  g_signal_emit (self, signals[GROW], 0);
}

/* --- layout and cursor ----------------------------------------------------------------------- */

static AssayPlotStyle
style_now (AssayPlotWidget *self)
{
  AssayPlotStyle style =
      assay_plot_style (assay_color_scheme_is_dark () ? ASSAY_THEME_DARK : ASSAY_THEME_LIGHT);
  PangoContext *context = gtk_widget_get_pango_context (GTK_WIDGET (self));

  style.family = g_intern_string (
      pango_font_description_get_family (pango_context_get_font_description (context)));
  style.header_reserve = 58;
  return style;
}

static void
describe_cursor (AssayPlotWidget *self, const char *heading, const char *detail)
{
  g_autofree char *text = NULL;

  if (heading != NULL)
    text = g_strdup_printf ("%s: %s", heading, detail);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                  text != NULL ? text
                                  : self->scene != NULL && self->scene->description != NULL
                                      ? self->scene->description
                                      : "",
                                  -1);
}

static void
show_cursor (AssayPlotWidget *self)
{
  gint64 datum = self->hover >= 0 ? self->hover : self->cursor;
  g_autofree char *heading = NULL, *detail = NULL;
  AssayRect box, frame = {0};
  gint64 payload;

  if (self->layout == NULL || datum < 0 || datum >= assay_plot_layout_n_data (self->layout)
      || assay_plot_widget_shows_table (self)
      || !assay_plot_layout_datum (self->layout, (guint) datum, &box, &heading, &detail, &payload))
    {
      assay_plot_cursor_hide (self->cursor_layer);
      describe_cursor (self, NULL, NULL);
      return;
    }
  for (guint i = 0; i < self->layout->panels->len; i++)
    {
      const AssayRect *panel = &g_array_index (self->layout->panels, AssayPanelLayout, i).frame;

      if (box.x + box.width / 2 >= panel->x && box.x <= panel->x + panel->width)
        frame = *panel;
    }
  assay_plot_cursor_show (self->cursor_layer, &self->layout->style, &frame, &box, heading, detail);
  describe_cursor (self, heading, detail);
}

static void
show_point (AssayPlotWidget *self)
{
  const AssayPanelLayout *panel;
  AssayRect box = {0};

  if (!self->has_point || self->layout == NULL || self->layout->panels->len == 0
      || assay_plot_widget_shows_table (self))
    {
      assay_plot_cursor_set_point (self->cursor_layer, NULL, NULL, NULL);
      return;
    }
  panel = &g_array_index (self->layout->panels, AssayPanelLayout, 0);
  box.x = assay_panel_layout_x (panel, self->point_x);
  box.y = assay_panel_layout_y (panel, self->point_y);
  assay_plot_cursor_set_point (self->cursor_layer, &self->layout->style, &panel->frame, &box);
}

void
assay_plot_widget_set_point (AssayPlotWidget *self, double x, double y)
{
  g_return_if_fail (ASSAY_IS_PLOT_WIDGET (self));
  self->has_point = isfinite (x) && isfinite (y);
  self->point_x = x;
  self->point_y = y;
  show_point (self);
}

gboolean
assay_plot_widget_get_point (AssayPlotWidget *self, double *x, double *y)
{
  *x = self->point_x;
  *y = self->point_y;
  return self->has_point;
}

void
assay_plot_widget_move_point (AssayPlotWidget *self, double x, double y)
{
  assay_plot_widget_set_point (self, x, y);
  g_signal_emit (self, signals[POINT_MOVED], 0, x, y);
}

static void paint (AssayPlotWidget *self);

static void
picture_ready (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (AssayPlotWidget) self = data;
  const AssayPlotLayout *layout = assay_plot_paint_layout (result);
  g_autoptr (GdkTexture) picture = assay_plot_paint_finish (result);

  self->painting = FALSE;
  if (self->layout == layout)
    self->painted = TRUE;
  /* While it is zoomed, what was asked for a moment ago is still worth seeing. */
  if (self->scene != NULL && self->scene == layout->scene)
    {
      g_set_object (&self->picture, picture);
      gtk_widget_queue_draw (GTK_WIDGET (self));
    }
  paint (self);
}

/* One picture at a time: what changes meanwhile is painted after it. */
static void
paint (AssayPlotWidget *self)
{
  if (self->layout == NULL || self->painted || self->painting
      || !gtk_widget_get_mapped (GTK_WIDGET (self)))
    return;
  self->painting = TRUE;
  assay_plot_paint_async (self->layout, gtk_widget_get_scale_factor (GTK_WIDGET (self)),
                          picture_ready, g_object_ref (self));
}

gboolean
assay_plot_widget_is_painted (AssayPlotWidget *self)
{
  g_return_val_if_fail (ASSAY_IS_PLOT_WIDGET (self), FALSE);
  return self->layout == NULL || self->painted;
}

static void
update_layout (AssayPlotWidget *self)
{
  int width = gtk_widget_get_width (GTK_WIDGET (self));
  int height = gtk_widget_get_height (GTK_WIDGET (self));
  AssayPlotStyle style;

  g_clear_pointer (&self->layout, assay_plot_layout_unref);
  if (self->scene != NULL && width >= MINIMUM_WIDTH / 2 && height >= MINIMUM_HEIGHT / 2)
    {
      style = style_now (self);
      self->layout = assay_plot_layout_new (self->scene, &style, width, height,
                                            self->zoomed ? &self->view : NULL);
    }
  self->painted = FALSE;
  show_cursor (self);
  show_point (self);
  paint (self);
}

void
assay_plot_widget_set_view (AssayPlotWidget *self, const AssayPlotView *view)
{
  if (view == NULL && !self->zoomed)
    return;
  self->zoomed = view != NULL;
  if (view != NULL)
    self->view = *view;
  update_layout (self);
}

void
assay_plot_widget_set_hover (AssayPlotWidget *self, gint64 datum)
{
  if (self->hover == datum)
    return;
  self->hover = datum;
  show_cursor (self);
}

void
assay_plot_widget_set_cursor (AssayPlotWidget *self, gint64 datum)
{
  g_return_if_fail (ASSAY_IS_PLOT_WIDGET (self));
  self->cursor = datum;
  show_cursor (self);
}

gint64
assay_plot_widget_get_cursor (AssayPlotWidget *self)
{
  return self->cursor;
}

gboolean
assay_plot_widget_is_zoomed (AssayPlotWidget *self)
{
  return self->zoomed;
}

gboolean
assay_plot_widget_shows_table (AssayPlotWidget *self)
{
  return self->table != NULL && gtk_widget_get_visible (GTK_WIDGET (self->table));
}

AssayPlotScene *
assay_plot_widget_get_scene (AssayPlotWidget *self)
{
  return self->scene;
}

static void
fill_table (AssayPlotWidget *self)
{
  if (self->scene != NULL && self->scene->columns != NULL)
    assay_data_table_set (self->table, (const char *const *) self->scene->columns,
                          self->scene->rows);
}

void
assay_plot_widget_set_scene (AssayPlotWidget *self, AssayPlotScene *scene, const char *empty)
{
  gboolean same;

  g_return_if_fail (ASSAY_IS_PLOT_WIDGET (self));
  same = scene != NULL && self->scene != NULL && g_strcmp0 (scene->id, self->scene->id) == 0;
  if (scene != NULL)
    assay_plot_scene_ref (scene);
  g_clear_pointer (&self->layout, assay_plot_layout_unref);
  g_clear_pointer (&self->scene, assay_plot_scene_unref);
  self->scene = scene;
  self->hover = -1;
  if (!same)
    {
      self->cursor = -1;
      self->zoomed = FALSE;
      g_clear_object (&self->picture);
      gtk_widget_queue_draw (GTK_WIDGET (self));
    }
  gtk_label_set_text (GTK_LABEL (self->empty_label), empty != NULL ? empty : "");
  gtk_widget_set_visible (self->empty_label, scene == NULL);
  gtk_widget_set_visible (self->buttons, scene != NULL);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  scene != NULL ? scene->title : "no data yet", -1);
  if (self->table != NULL && scene == NULL)
    gtk_widget_set_visible (GTK_WIDGET (self->table), FALSE);
  else if (self->table != NULL)
    fill_table (self);
  update_layout (self);
}

/* --- actions --------------------------------------------------------------------------------- */

static void
toggle_table (GtkWidget *widget, const char *action, GVariant *parameter)
{
  AssayPlotWidget *self = ASSAY_PLOT_WIDGET (widget);

  if (self->scene == NULL)
    return;
  if (self->table == NULL)
    {
      self->table = g_object_new (ASSAY_TYPE_DATA_TABLE, "visible", FALSE, NULL);
      gtk_widget_set_parent (GTK_WIDGET (self->table), widget);
      fill_table (self);
    }
  gtk_widget_set_visible (GTK_WIDGET (self->table),
                          !gtk_widget_get_visible (GTK_WIDGET (self->table)));
  if (!gtk_widget_get_visible (GTK_WIDGET (self->table)))
    gtk_widget_grab_focus (widget);
  show_cursor (self);
  show_point (self);
  gtk_widget_queue_draw (widget);
}

static void
copy_data (GtkWidget *widget, const char *action, GVariant *parameter)
{
  AssayPlotWidget *self = ASSAY_PLOT_WIDGET (widget);
  g_autofree char *csv = NULL, *text = NULL;

  if (self->scene == NULL)
    return;
  csv = assay_plot_scene_csv (self->scene);
  gdk_clipboard_set_text (gtk_widget_get_clipboard (widget), csv);
  text = g_strdup_printf ("%s: %u rows copied as CSV", self->scene->title, self->scene->rows->len);
  assay_plot_widget_tell (self, text);
}

static void
attach (GtkWidget *widget, const char *action, GVariant *parameter)
{
  g_signal_emit (widget, signals[ATTACH], 0);
}

typedef struct
{
  AssayPlotScene *scene;
  char *path;
} Save;

static void
save_free (gpointer data)
{
  Save *save = data;

  assay_plot_scene_unref (save->scene);
  g_free (save->path);
  g_free (save);
}

static void
save_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Save *save = data;
  g_autoptr (GError) error = NULL;

  if (assay_plot_export (save->scene, save->path, EXPORT_WIDTH, EXPORT_HEIGHT, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, g_steal_pointer (&error));
}

static void
saved (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;
  Save *save = g_task_get_task_data (G_TASK (result));
  g_autofree char *text = NULL;

  if (g_task_propagate_boolean (G_TASK (result), &error))
    text = g_strdup_printf ("saved %s", save->path);
  else
    text = g_strdup_printf ("not saved: %s", error->message);
  assay_plot_widget_tell (ASSAY_PLOT_WIDGET (source), text);
}

void
assay_plot_widget_save (AssayPlotWidget *self, const char *path)
{
  g_autoptr (GTask) task = NULL;
  Save *save;

  g_return_if_fail (ASSAY_IS_PLOT_WIDGET (self));
  if (self->scene == NULL)
    return;
  task = g_task_new (self, NULL, saved, NULL);
  save = g_new0 (Save, 1);
  save->scene = assay_plot_scene_ref (self->scene);
  save->path = g_strdup (path);
  g_task_set_source_tag (task, assay_plot_widget_save);
  g_task_set_task_data (task, save, save_free);
  g_task_run_in_thread (task, save_thread);
}

static void
path_chosen (GtkNativeDialog *dialog, int response, AssayPlotWidget *self)
{
  if (response == GTK_RESPONSE_ACCEPT)
    {
      g_autoptr (GFile) file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog));
      g_autofree char *path = file != NULL ? g_file_get_path (file) : NULL;

      if (path != NULL)
        assay_plot_widget_save (self, path);
    }
  g_object_unref (dialog);
}

static void
save_as (GtkWidget *widget, const char *action, GVariant *parameter)
{
  AssayPlotWidget *self = ASSAY_PLOT_WIDGET (widget);
  GtkFileChooserNative *dialog;
  g_autofree char *name = NULL;

  if (self->scene == NULL)
    return;
  dialog = gtk_file_chooser_native_new ("Save the plot", GTK_WINDOW (gtk_widget_get_root (widget)),
                                        GTK_FILE_CHOOSER_ACTION_SAVE, "Save", "Cancel");
  name = g_strdup_printf ("%s.%s", self->scene->id, g_variant_get_string (parameter, NULL));
  g_strdelimit (name, "/ ", '-');
  gtk_file_chooser_set_current_name (GTK_FILE_CHOOSER (dialog), name);
  g_signal_connect_object (dialog, "response", G_CALLBACK (path_chosen), self, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}

/* --- the widget ------------------------------------------------------------------------------ */

static void
assay_plot_widget_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  AssayPlotWidget *self = ASSAY_PLOT_WIDGET (widget);

  if (self->layout != NULL && assay_plot_widget_shows_table (self))
    {
      cairo_t *cr = gtk_snapshot_append_cairo (
          snapshot, &GRAPHENE_RECT_INIT (0, 0, (float) gtk_widget_get_width (widget), HEADER));

      assay_text_draw (cr, &self->layout->style, ASSAY_TEXT_TITLE,
                       assay_colour (self->layout->style.theme, ASSAY_ROLE_TEXT),
                       self->scene->title, 0, 4, 0, 0);
      cairo_destroy (cr);
    }
  else if (self->picture != NULL)
    {
      float scale = (float) gtk_widget_get_scale_factor (widget);

      gtk_snapshot_append_texture (
          snapshot, self->picture,
          &GRAPHENE_RECT_INIT (0, 0, (float) gdk_texture_get_width (self->picture) / scale,
                               (float) gdk_texture_get_height (self->picture) / scale));
    }
  GTK_WIDGET_CLASS (assay_plot_widget_parent_class)->snapshot (widget, snapshot);
}

static void
assay_plot_widget_map (GtkWidget *widget)
{
  GTK_WIDGET_CLASS (assay_plot_widget_parent_class)->map (widget);
  paint (ASSAY_PLOT_WIDGET (widget));
}

static void
assay_plot_widget_measure (GtkWidget *widget, GtkOrientation orientation, int for_size,
                           int *minimum, int *natural, int *minimum_baseline, int *natural_baseline)
{
  *minimum = orientation == GTK_ORIENTATION_HORIZONTAL ? MINIMUM_WIDTH : MINIMUM_HEIGHT;
  *natural = *minimum; /* it takes what there is */
}

static void
place (GtkWidget *child, int x, int y, int width, int height)
{
  int least_width, least_height;

  if (child == NULL || !gtk_widget_should_layout (child))
    return;
  gtk_widget_measure (child, GTK_ORIENTATION_HORIZONTAL, -1, &least_width, NULL, NULL, NULL);
  width = MAX (width, least_width);
  gtk_widget_measure (child, GTK_ORIENTATION_VERTICAL, width, &least_height, NULL, NULL, NULL);
  height = MAX (height, least_height);
  gtk_widget_size_allocate (child, &(GtkAllocation) {x, y, width, height}, -1);
}

static void
assay_plot_widget_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  AssayPlotWidget *self = ASSAY_PLOT_WIDGET (widget);
  int needed;

  gtk_widget_measure (self->buttons, GTK_ORIENTATION_HORIZONTAL, -1, &needed, NULL, NULL, NULL);
  place (self->buttons, width - needed + 4, -1, needed, 0);
  place (self->empty_label, 0, 0, width, height);
  place (GTK_WIDGET (self->cursor_layer), 0, 0, width, height);
  place (GTK_WIDGET (self->table), -9, HEADER, width + 16, height - HEADER + 5);
  if (self->layout == NULL || self->layout->width != width || self->layout->height != height)
    update_layout (self);
}

static void
assay_plot_widget_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  AssayPlotWidget *self = ASSAY_PLOT_WIDGET (object);

  if (id != PROP_GROWN)
    {
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      return;
    }
  self->grown = g_value_get_boolean (value);
  gtk_button_set_icon_name (GTK_BUTTON (self->grow),
                            self->grown ? "assay-shrink-symbolic" : "assay-grow-symbolic");
}

static void
assay_plot_widget_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  if (id == PROP_GROWN)
    g_value_set_boolean (value, ASSAY_PLOT_WIDGET (object)->grown);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
assay_plot_widget_dispose (GObject *object)
{
  AssayPlotWidget *self = ASSAY_PLOT_WIDGET (object);

  g_clear_pointer (&self->buttons, gtk_widget_unparent);
  g_clear_pointer (&self->empty_label, gtk_widget_unparent);
  if (self->cursor_layer != NULL)
    gtk_widget_unparent (GTK_WIDGET (self->cursor_layer));
  self->cursor_layer = NULL;
  if (self->table != NULL)
    gtk_widget_unparent (GTK_WIDGET (self->table));
  self->table = NULL;
  g_clear_pointer (&self->layout, assay_plot_layout_unref);
  g_clear_pointer (&self->scene, assay_plot_scene_unref);
  g_clear_object (&self->picture);
  G_OBJECT_CLASS (assay_plot_widget_parent_class)->dispose (object);
}

static void
install_actions (GtkWidgetClass *widget_class)
{
  gtk_widget_class_install_action (widget_class, "plot.table", NULL, toggle_table);
  gtk_widget_class_install_action (widget_class, "plot.copy", NULL, copy_data);
  gtk_widget_class_install_action (widget_class, "plot.attach", NULL, attach);
  gtk_widget_class_install_action (widget_class, "plot.save", "s", save_as);
}

static void
assay_plot_widget_class_init (AssayPlotWidgetClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  GType type = G_TYPE_FROM_CLASS (class);

  object_class->dispose = assay_plot_widget_dispose;
  object_class->set_property = assay_plot_widget_set_property;
  object_class->get_property = assay_plot_widget_get_property;
  widget_class->snapshot = assay_plot_widget_snapshot;
  widget_class->map = assay_plot_widget_map;
  widget_class->measure = assay_plot_widget_measure;
  widget_class->size_allocate = assay_plot_widget_size_allocate;
  properties[PROP_GROWN] =
      g_param_spec_boolean ("grown", NULL, NULL, FALSE, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, properties);
  signals[GROW] =
      g_signal_new ("grow", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[ATTACH] =
      g_signal_new ("attach", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[POINT_MOVED] = g_signal_new ("point-moved", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                       G_TYPE_NONE, 2, G_TYPE_DOUBLE, G_TYPE_DOUBLE);
  signals[MESSAGE] = g_signal_new ("message", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                   G_TYPE_NONE, 1, G_TYPE_STRING);
  gtk_widget_class_set_css_name (widget_class, "plotview");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
  gtk_widget_class_set_template_from_resource (widget_class, "/org/assay/Assay/ui/plot-widget.ui");
  gtk_widget_class_bind_template_child (widget_class, AssayPlotWidget, buttons);
  gtk_widget_class_bind_template_child (widget_class, AssayPlotWidget, grow);
  gtk_widget_class_bind_template_child (widget_class, AssayPlotWidget, empty_label);
  gtk_widget_class_bind_template_callback (widget_class, assay_plot_widget_emit_grow);
  install_actions (widget_class);
  assay_plot_gestures_class_init (widget_class);
}

static void
assay_plot_widget_init (AssayPlotWidget *self)
{
  self->cursor = self->hover = -1;
  gtk_widget_init_template (GTK_WIDGET (self));
  self->cursor_layer = g_object_new (ASSAY_TYPE_PLOT_CURSOR, NULL);
  gtk_widget_set_parent (GTK_WIDGET (self->cursor_layer), GTK_WIDGET (self));
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  gtk_widget_set_hexpand (GTK_WIDGET (self), TRUE);
  gtk_widget_set_vexpand (GTK_WIDGET (self), TRUE);
  gtk_widget_set_overflow (GTK_WIDGET (self), GTK_OVERFLOW_HIDDEN);
  gtk_widget_add_css_class (GTK_WIDGET (self), "card");
  assay_plot_gestures_init (self);
  g_signal_connect_object (gtk_settings_get_default (), "notify::gtk-application-prefer-dark-theme",
                           G_CALLBACK (update_layout), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (gtk_settings_get_default (), "notify::gtk-theme-name",
                           G_CALLBACK (update_layout), self, G_CONNECT_SWAPPED);
  g_signal_connect (self, "notify::scale-factor", G_CALLBACK (update_layout), NULL);
}
