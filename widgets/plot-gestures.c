/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "widgets/plot-widget-private.h"

#include <math.h>

#define STEP 1.25         /* one notch of the wheel, one press of plus */
#define SMALLEST_BAND 8.0 /* px; a shorter drag is a click */
#define PAGE 10

/* --- the view, in positions 0 … 1 along the full axes ---------------------------------------- */

static const AssayPanelLayout *
panel_of (AssayPlotWidget *self, int panel)
{
  return &g_array_index (self->layout->panels, AssayPanelLayout, panel);
}

/* Heat maps zoom both ways; histograms keep their counts in sight. */
static gboolean
zooms_y (AssayPlotWidget *self, int panel)
{
  const AssayPanel *drawn = g_ptr_array_index (self->scene->panels, panel);

  for (guint i = 0; i < drawn->layers->len; i++)
    if (((AssayLayer *) g_ptr_array_index (drawn->layers, i))->kind == ASSAY_LAYER_HEAT)
      return TRUE;
  return FALSE;
}

/* The view that shows positions [left, right] of what panel `panel` shows now. */
static void
narrow (AssayPlotWidget *self, int panel, double left, double right, double low, double high)
{
  const AssayPanelLayout *shown = panel_of (self, panel);
  AssayPlotView view = {.panel = (guint) panel};

  view.x_min = assay_axis_value (&shown->x, left);
  view.x_max = assay_axis_value (&shown->x, right);
  view.y_min = assay_axis_value (&shown->y, low);
  view.y_max = assay_axis_value (&shown->y, high);
  if (view.y_min > view.y_max)
    {
      double swap = view.y_min;

      view.y_min = view.y_max;
      view.y_max = swap;
    }
  if (isfinite (view.x_min) && isfinite (view.x_max) && view.x_min < view.x_max)
    assay_plot_widget_set_view (self, &view);
}

static gboolean
can_zoom (AssayPlotWidget *self, int panel)
{
  return self->layout != NULL && panel >= 0 && panel < (int) self->layout->panels->len
         && panel_of (self, panel)->x.scale != ASSAY_SCALE_CATEGORY
         && !assay_plot_widget_shows_table (self);
}

/* Around position (x, y) of the panel; factor > 1 shows less. */
static void
zoom (AssayPlotWidget *self, int panel, double x, double y, double factor)
{
  gboolean both;

  if (!can_zoom (self, panel))
    return;
  both = zooms_y (self, panel);
  narrow (self, panel, x - x / factor, x + (1 - x) / factor, both ? y - y / factor : 0,
          both ? y + (1 - y) / factor : 1);
}

static int
panel_at (AssayPlotWidget *self, double x, double y)
{
  double value_x, value_y;

  if (self->layout == NULL)
    return -1;
  return assay_plot_layout_locate (self->layout, x, y, &value_x, &value_y);
}

/* --- pointer --------------------------------------------------------------------------------- */

static void
motion (AssayPlotWidget *self, double x, double y)
{
  self->pointer_x = x;
  self->pointer_y = y;
  if (self->layout != NULL && !assay_plot_widget_shows_table (self))
    assay_plot_widget_set_hover (self, assay_plot_layout_hit (self->layout, x, y));
}

static void
leave (AssayPlotWidget *self)
{
  assay_plot_widget_set_hover (self, -1);
}

/* Events of a wheel have no place of their own: it is the pointer's. */
static gboolean
scroll (AssayPlotWidget *self, double dx, double dy)
{
  int panel = panel_at (self, self->pointer_x, self->pointer_y);
  const AssayPanelLayout *shown;

  if (!can_zoom (self, panel))
    return FALSE;
  shown = panel_of (self, panel);
  zoom (self, panel, (self->pointer_x - shown->frame.x) / shown->frame.width,
        1 - (self->pointer_y - shown->frame.y) / shown->frame.height, pow (STEP, -dy));
  return TRUE;
}

/* The point under the pointer, inside the first panel. */
static void
point_to (AssayPlotWidget *self, double x, double y)
{
  const AssayPanelLayout *panel = panel_of (self, 0);
  double across = (x - panel->frame.x) / panel->frame.width;
  double up = 1 - (y - panel->frame.y) / panel->frame.height;

  assay_plot_widget_move_point (self, assay_axis_value (&panel->x, CLAMP (across, 0, 1)),
                                assay_axis_value (&panel->y, CLAMP (up, 0, 1)));
}

static void
drag_begin (AssayPlotWidget *self, double x, double y, GtkGestureDrag *drag)
{
  GdkModifierType state =
      gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (drag));
  const AssayPanelLayout *shown;

  gtk_widget_grab_focus (GTK_WIDGET (self));
  self->drag_panel = panel_at (self, x, y);
  if (!can_zoom (self, self->drag_panel))
    {
      gtk_gesture_set_state (GTK_GESTURE (drag), GTK_EVENT_SEQUENCE_DENIED);
      return;
    }
  self->drag_x = x;
  self->drag_y = y;
  self->drag_pans = (state & GDK_SHIFT_MASK) != 0
                    || gtk_gesture_single_get_current_button (GTK_GESTURE_SINGLE (drag)) == 2;
  if (self->has_point && !self->drag_pans)
    point_to (self, x, y);
  shown = panel_of (self, self->drag_panel);
  self->drag_view = (AssayPlotView) {(guint) self->drag_panel, shown->x.min, shown->x.max,
                                     shown->y.min, shown->y.max};
}

static AssayRect
band_of (AssayPlotWidget *self, double dx, double dy)
{
  const AssayRect *frame = &panel_of (self, self->drag_panel)->frame;
  double x0 = CLAMP (fmin (self->drag_x, self->drag_x + dx), frame->x, frame->x + frame->width);
  double x1 = CLAMP (fmax (self->drag_x, self->drag_x + dx), frame->x, frame->x + frame->width);
  double y0 = CLAMP (fmin (self->drag_y, self->drag_y + dy), frame->y, frame->y + frame->height);
  double y1 = CLAMP (fmax (self->drag_y, self->drag_y + dy), frame->y, frame->y + frame->height);

  if (!zooms_y (self, self->drag_panel))
    {
      y0 = frame->y;
      y1 = frame->y + frame->height;
    }
  return (AssayRect) {x0, y0, x1 - x0, y1 - y0};
}

static void
pan (AssayPlotWidget *self, double dx, double dy)
{
  const AssayRect *frame = &panel_of (self, self->drag_panel)->frame;
  double left = -dx / frame->width, low = dy / frame->height;
  AssayAxis x = panel_of (self, self->drag_panel)->x, y = panel_of (self, self->drag_panel)->y;
  AssayPlotView view = self->drag_view;

  x.min = view.x_min;
  x.max = view.x_max;
  y.min = view.y_min;
  y.max = view.y_max;
  view.x_min = assay_axis_value (&x, left);
  view.x_max = assay_axis_value (&x, left + 1);
  if (zooms_y (self, self->drag_panel))
    {
      double a = assay_axis_value (&y, low), b = assay_axis_value (&y, low + 1);

      view.y_min = fmin (a, b);
      view.y_max = fmax (a, b);
    }
  if (self->zoomed)
    assay_plot_widget_set_view (self, &view);
}

static void
drag_update (AssayPlotWidget *self, double dx, double dy)
{
  AssayRect band;

  if (!can_zoom (self, self->drag_panel))
    return;
  if (self->drag_pans)
    {
      pan (self, dx, dy);
      return;
    }
  if (self->has_point)
    {
      point_to (self, self->drag_x + dx, self->drag_y + dy);
      return;
    }
  band = band_of (self, dx, dy);
  assay_plot_cursor_set_band (self->cursor_layer, band.width >= SMALLEST_BAND ? &band : NULL);
}

static void
drag_end (AssayPlotWidget *self, double dx, double dy)
{
  const AssayRect *frame;
  AssayRect band;

  assay_plot_cursor_set_band (self->cursor_layer, NULL);
  if (self->drag_pans || self->has_point || !can_zoom (self, self->drag_panel))
    return;
  band = band_of (self, dx, dy);
  frame = &panel_of (self, self->drag_panel)->frame;
  if (band.width < SMALLEST_BAND)
    {
      assay_plot_widget_set_cursor (
          self, assay_plot_layout_hit (self->layout, self->drag_x, self->drag_y));
      return;
    }
  narrow (self, self->drag_panel, (band.x - frame->x) / frame->width,
          (band.x + band.width - frame->x) / frame->width,
          1 - (band.y + band.height - frame->y) / frame->height,
          1 - (band.y - frame->y) / frame->height);
}

static void
pressed (AssayPlotWidget *self, int n_press)
{
  if (n_press == 2)
    assay_plot_widget_set_view (self, NULL);
}

/* --- keys ------------------------------------------------------------------------------------ */

/* By hundredths of the axes. */
static void
step_point (AssayPlotWidget *self, double across, double up)
{
  const AssayPanelLayout *panel = panel_of (self, 0);
  double x = assay_axis_position (&panel->x, self->point_x) + across / 100;
  double y = assay_axis_position (&panel->y, self->point_y) + up / 100;

  assay_plot_widget_move_point (self, assay_axis_value (&panel->x, CLAMP (x, 0, 1)),
                                assay_axis_value (&panel->y, CLAMP (y, 0, 1)));
}

static gboolean
step_up (GtkWidget *widget, GVariant *args, gpointer data)
{
  AssayPlotWidget *self = ASSAY_PLOT_WIDGET (widget);

  if (!self->has_point || self->layout == NULL)
    return FALSE;
  step_point (self, 0, g_variant_get_int32 (args));
  return TRUE;
}

static gboolean
step_cursor (GtkWidget *widget, GVariant *args, gpointer data)
{
  AssayPlotWidget *self = ASSAY_PLOT_WIDGET (widget);
  gint64 step = g_variant_get_int32 (args);
  gint64 count;

  if (self->layout == NULL || assay_plot_widget_shows_table (self))
    return FALSE;
  if (self->has_point && ABS (step) <= PAGE)
    {
      step_point (self, (double) step, 0);
      return TRUE;
    }
  count = assay_plot_layout_n_data (self->layout);
  if (count == 0)
    return FALSE;
  assay_plot_widget_set_hover (self, -1);
  if (self->cursor < 0)
    assay_plot_widget_set_cursor (self, step > 0 ? 0 : count - 1);
  else
    assay_plot_widget_set_cursor (self, CLAMP (self->cursor + step, 0, count - 1));
  return TRUE;
}

/* The widest panel with an axis of numbers. */
static int
main_panel (AssayPlotWidget *self)
{
  int widest = 0;

  for (guint i = 0; self->layout != NULL && i < self->layout->panels->len; i++)
    if (!can_zoom (self, widest)
        || (can_zoom (self, (int) i)
            && panel_of (self, (int) i)->frame.width > panel_of (self, widest)->frame.width))
      widest = (int) i;
  return widest;
}

static gboolean
zoom_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  AssayPlotWidget *self = ASSAY_PLOT_WIDGET (widget);
  double factor = g_variant_get_double (args);

  if (factor == 0.0)
    assay_plot_widget_set_view (self, NULL);
  else
    zoom (self, self->zoomed ? (int) self->view.panel : main_panel (self), 0.5, 0.5, factor);
  return TRUE;
}

static gboolean
enter_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  assay_plot_widget_emit_grow (ASSAY_PLOT_WIDGET (widget));
  return TRUE;
}

/* Back one step: table, zoom, cursor, size; then the window's own Escape. */
static gboolean
escape_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  AssayPlotWidget *self = ASSAY_PLOT_WIDGET (widget);

  if (assay_plot_widget_shows_table (self))
    gtk_widget_activate_action (widget, "plot.table", NULL);
  else if (self->zoomed)
    assay_plot_widget_set_view (self, NULL);
  else if (self->cursor >= 0)
    assay_plot_widget_set_cursor (self, -1);
  else if (self->grown)
    assay_plot_widget_emit_grow (self);
  else
    return FALSE;
  return TRUE;
}

static const struct
{
  guint key;
  GdkModifierType state;
  int step;
} steps[] = {
    {GDK_KEY_Right, 0, 1},
    {GDK_KEY_Left, 0, -1},
    {GDK_KEY_Right, GDK_SHIFT_MASK, PAGE},
    {GDK_KEY_Left, GDK_SHIFT_MASK, -PAGE},
    {GDK_KEY_Home, 0, G_MININT32 / 2},
    {GDK_KEY_End, 0, G_MAXINT32 / 2},
};

void
assay_plot_gestures_class_init (GtkWidgetClass *widget_class)
{
  for (gsize i = 0; i < G_N_ELEMENTS (steps); i++)
    gtk_widget_class_add_binding (widget_class, steps[i].key, steps[i].state, step_cursor, "i",
                                  steps[i].step);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Up, 0, step_up, "i", 1);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Down, 0, step_up, "i", -1);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_plus, 0, zoom_key, "d", STEP);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_plus, GDK_SHIFT_MASK, zoom_key, "d", STEP);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_KP_Add, 0, zoom_key, "d", STEP);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_minus, 0, zoom_key, "d", 1 / STEP);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_KP_Subtract, 0, zoom_key, "d", 1 / STEP);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_f, 0, zoom_key, "d", 0.0);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Return, 0, enter_key, NULL);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_KP_Enter, 0, enter_key, NULL);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Escape, 0, escape_key, NULL);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_t, 0, "plot.table", NULL);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_c, 0, "plot.copy", NULL);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_c, GDK_CONTROL_MASK, "plot.copy",
                                       NULL);
}

void
assay_plot_gestures_init (AssayPlotWidget *self)
{
  GtkEventController *pointer = gtk_event_controller_motion_new ();
  GtkEventController *wheel =
      gtk_event_controller_scroll_new (GTK_EVENT_CONTROLLER_SCROLL_VERTICAL);
  GtkGesture *drag = gtk_gesture_drag_new (), *click = gtk_gesture_click_new ();

  g_signal_connect_object (pointer, "motion", G_CALLBACK (motion), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (pointer, "leave", G_CALLBACK (leave), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (wheel, "scroll", G_CALLBACK (scroll), self, G_CONNECT_SWAPPED);
  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (drag), 0);
  g_signal_connect_object (drag, "drag-begin", G_CALLBACK (drag_begin), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (drag, "drag-update", G_CALLBACK (drag_update), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (drag, "drag-end", G_CALLBACK (drag_end), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (click, "pressed", G_CALLBACK (pressed), self, G_CONNECT_SWAPPED);
  gtk_widget_add_controller (GTK_WIDGET (self), pointer);
  gtk_widget_add_controller (GTK_WIDGET (self), wheel);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (drag));
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (click));
}
