/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "widgets/panes.h"

#define HANDLE 7 /* width of the invisible strip that takes the drag */
#define NARROWEST 180
#define WIDEST 560

typedef enum
{
  START,
  END,
  N_SIDES
} Side;

typedef struct
{
  GtkWidget *child;
  GtkWidget *handle;
  gboolean shown_wide, shown_folded;
  int width;
} Pane;

struct _AssayPanes
{
  GtkWidget parent;
  GtkWidget *center;
  Pane panes[N_SIDES];
  int fold_width;
  gboolean folded;
};

enum
{
  PROP_0,
  PROP_SHOW_START,
  PROP_SHOW_END,
  PROP_START_WIDTH,
  PROP_END_WIDTH,
  PROP_FOLD_WIDTH,
  PROP_FOLDED,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];
static GtkBuildableIface *parent_buildable;

static void buildable_init (GtkBuildableIface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (AssayPanes, assay_panes, GTK_TYPE_WIDGET,
                               G_IMPLEMENT_INTERFACE (GTK_TYPE_BUILDABLE, buildable_init))

static gboolean
shown (AssayPanes *self, Side side)
{
  const Pane *pane = &self->panes[side];

  return pane->child != NULL && (self->folded ? pane->shown_folded : pane->shown_wide);
}

static void
update_visibility (AssayPanes *self)
{
  for (Side side = START; side < N_SIDES; side++)
    {
      Pane *pane = &self->panes[side];

      if (pane->child != NULL)
        gtk_widget_set_child_visible (pane->child, shown (self, side));
      gtk_widget_set_child_visible (pane->handle, shown (self, side));
    }
  gtk_widget_queue_resize (GTK_WIDGET (self));
}

static void
set_shown (AssayPanes *self, Side side, gboolean show)
{
  Pane *pane = &self->panes[side];
  gboolean *flag = self->folded ? &pane->shown_folded : &pane->shown_wide;

  if (*flag == show)
    return;
  *flag = show;
  update_visibility (self);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_SHOW_START + side]);
}

gboolean
assay_panes_get_folded (AssayPanes *self)
{
  return self->folded;
}

gboolean
assay_panes_close_overlays (AssayPanes *self)
{
  gboolean any = FALSE;

  if (!self->folded)
    return FALSE;
  for (Side side = START; side < N_SIDES; side++)
    if (shown (self, side))
      {
        set_shown (self, side, FALSE);
        any = TRUE;
      }
  return any;
}

/* --- layout ---------------------------------------------------------------------------------- */

static void
assay_panes_measure (GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum,
                     int *natural, int *minimum_baseline, int *natural_baseline)
{
  AssayPanes *self = ASSAY_PANES (widget);
  int min = 0, nat = 0;

  if (self->center != NULL)
    gtk_widget_measure (self->center, orientation, -1, &min, &nat, NULL, NULL);
  if (orientation == GTK_ORIENTATION_VERTICAL)
    for (Side side = START; side < N_SIDES; side++)
      if (self->panes[side].child != NULL)
        {
          int pane_min, pane_nat;

          gtk_widget_measure (self->panes[side].child, orientation, self->panes[side].width,
                              &pane_min, &pane_nat, NULL, NULL);
          min = MAX (min, pane_min);
          nat = MAX (nat, pane_nat);
        }
  *minimum = min;
  *natural = MAX (nat, min);
}

static gboolean
folded_changed (gpointer data)
{
  AssayPanes *self = data;

  if (self->folded)
    gtk_widget_add_css_class (GTK_WIDGET (self), "folded");
  else
    gtk_widget_remove_css_class (GTK_WIDGET (self), "folded");
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_FOLDED]);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_SHOW_START]);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_SHOW_END]);
  return G_SOURCE_REMOVE;
}

static void
fold (AssayPanes *self, gboolean folded)
{
  if (self->folded == folded)
    return;
  self->folded = folded;
  for (Side side = START; side < N_SIDES; side++)
    {
      self->panes[side].shown_folded = FALSE;
      if (self->panes[side].child != NULL)
        gtk_widget_set_child_visible (self->panes[side].child, shown (self, side));
      gtk_widget_set_child_visible (self->panes[side].handle, shown (self, side));
    }
  /* Properties and classes change outside of allocation. */
  g_idle_add_full (G_PRIORITY_HIGH_IDLE, folded_changed, g_object_ref (self), g_object_unref);
}

static int
pane_width (AssayPanes *self, Side side)
{
  Pane *pane = &self->panes[side];
  int minimum;

  if (pane->child == NULL || !shown (self, side))
    return 0;
  gtk_widget_measure (pane->child, GTK_ORIENTATION_HORIZONTAL, -1, &minimum, NULL, NULL, NULL);
  return MAX (minimum, pane->width);
}

static void
place (GtkWidget *child, int x, int width, int height)
{
  gtk_widget_size_allocate (child, &(GtkAllocation) {x, 0, width, height}, -1);
}

/* Too narrow for what is to stand side by side. */
static gboolean
must_fold (AssayPanes *self, int width)
{
  int needed = 0;

  if (self->center != NULL)
    gtk_widget_measure (self->center, GTK_ORIENTATION_HORIZONTAL, -1, &needed, NULL, NULL, NULL);
  for (Side side = START; side < N_SIDES; side++)
    if (self->panes[side].child != NULL && self->panes[side].shown_wide)
      needed += self->panes[side].width;
  return width < self->fold_width || width < needed;
}

static void
assay_panes_size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  AssayPanes *self = ASSAY_PANES (widget);
  int start, end, left, right;

  fold (self, must_fold (self, width));
  start = pane_width (self, START);
  end = pane_width (self, END);
  left = self->folded ? 0 : start;
  right = self->folded ? 0 : end;
  if (self->center != NULL)
    place (self->center, left, MAX (width - left - right, 0), height);
  if (start > 0)
    {
      place (self->panes[START].child, 0, start, height);
      place (self->panes[START].handle, start - HANDLE / 2, HANDLE, height);
    }
  if (end > 0)
    {
      place (self->panes[END].child, width - end, end, height);
      place (self->panes[END].handle, width - end - HANDLE / 2, HANDLE, height);
    }
}

/* --- dragging a width ------------------------------------------------------------------------ */

static void
drag_update (GtkGestureDrag *gesture, double dx, double dy, Pane *pane)
{
  GtkWidget *handle = gtk_event_controller_get_widget (GTK_EVENT_CONTROLLER (gesture));
  AssayPanes *self = ASSAY_PANES (gtk_widget_get_parent (handle));
  Side side = pane == &self->panes[START] ? START : END;
  int moved = (int) (side == START ? dx : -dx);

  /* The handle moves with the pane, so every offset is from where it stands now. */
  pane->width = CLAMP (pane->width + moved, NARROWEST, WIDEST);
  gtk_widget_queue_allocate (GTK_WIDGET (self));
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_START_WIDTH + side]);
}

static GtkWidget *
handle_new (AssayPanes *self, Pane *pane)
{
  GtkWidget *handle = g_object_new (GTK_TYPE_BOX, "name", "handle", NULL);
  GtkGesture *drag = gtk_gesture_drag_new ();

  gtk_widget_set_cursor_from_name (handle, "col-resize");
  g_signal_connect (drag, "drag-update", G_CALLBACK (drag_update), pane);
  gtk_widget_add_controller (handle, GTK_EVENT_CONTROLLER (drag));
  gtk_widget_set_parent (handle, GTK_WIDGET (self));
  gtk_widget_set_child_visible (handle, FALSE);
  return handle;
}

/* --- children from templates ----------------------------------------------------------------- */

static void
add_child (GtkBuildable *buildable, GtkBuilder *builder, GObject *child, const char *type)
{
  AssayPanes *self = ASSAY_PANES (buildable);

  if (!GTK_IS_WIDGET (child))
    {
      parent_buildable->add_child (buildable, builder, child, type);
      return;
    }
  if (g_strcmp0 (type, "start") == 0 || g_strcmp0 (type, "end") == 0)
    {
      Side side = g_strcmp0 (type, "start") == 0 ? START : END;

      self->panes[side].child = GTK_WIDGET (child);
      gtk_widget_add_css_class (GTK_WIDGET (child), type);
      gtk_widget_insert_before (GTK_WIDGET (child), GTK_WIDGET (self), self->panes[START].handle);
      gtk_widget_set_child_visible (self->panes[side].handle, TRUE);
    }
  else
    {
      self->center = GTK_WIDGET (child);
      gtk_widget_insert_after (GTK_WIDGET (child), GTK_WIDGET (self), NULL);
    }
}

static void
buildable_init (GtkBuildableIface *iface)
{
  parent_buildable = g_type_interface_peek_parent (iface);
  iface->add_child = add_child;
}

static void
assay_panes_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  AssayPanes *self = ASSAY_PANES (object);

  switch (id)
    {
    case PROP_SHOW_START:
    case PROP_SHOW_END:
      set_shown (self, (Side) (id - PROP_SHOW_START), g_value_get_boolean (value));
      break;
    case PROP_START_WIDTH:
    case PROP_END_WIDTH:
      self->panes[id - PROP_START_WIDTH].width = g_value_get_int (value);
      gtk_widget_queue_resize (GTK_WIDGET (self));
      break;
    case PROP_FOLD_WIDTH:
      self->fold_width = g_value_get_int (value);
      gtk_widget_queue_resize (GTK_WIDGET (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
assay_panes_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  AssayPanes *self = ASSAY_PANES (object);

  switch (id)
    {
    case PROP_SHOW_START:
    case PROP_SHOW_END:
      g_value_set_boolean (value, shown (self, (Side) (id - PROP_SHOW_START)));
      break;
    case PROP_START_WIDTH:
    case PROP_END_WIDTH:
      g_value_set_int (value, self->panes[id - PROP_START_WIDTH].width);
      break;
    case PROP_FOLD_WIDTH:
      g_value_set_int (value, self->fold_width);
      break;
    case PROP_FOLDED:
      g_value_set_boolean (value, self->folded);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
assay_panes_dispose (GObject *object)
{
  AssayPanes *self = ASSAY_PANES (object);

  for (Side side = START; side < N_SIDES; side++)
    {
      g_clear_pointer (&self->panes[side].child, gtk_widget_unparent);
      g_clear_pointer (&self->panes[side].handle, gtk_widget_unparent);
    }
  g_clear_pointer (&self->center, gtk_widget_unparent);
  G_OBJECT_CLASS (assay_panes_parent_class)->dispose (object);
}

static void
assay_panes_class_init (AssayPanesClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;

  object_class->dispose = assay_panes_dispose;
  object_class->set_property = assay_panes_set_property;
  object_class->get_property = assay_panes_get_property;
  widget_class->measure = assay_panes_measure;
  widget_class->size_allocate = assay_panes_size_allocate;
  properties[PROP_SHOW_START] = g_param_spec_boolean ("show-start", NULL, NULL, TRUE, flags);
  properties[PROP_SHOW_END] = g_param_spec_boolean ("show-end", NULL, NULL, TRUE, flags);
  properties[PROP_START_WIDTH] =
      g_param_spec_int ("start-width", NULL, NULL, NARROWEST, WIDEST, 232, flags);
  properties[PROP_END_WIDTH] =
      g_param_spec_int ("end-width", NULL, NULL, NARROWEST, WIDEST, 340, flags);
  properties[PROP_FOLD_WIDTH] =
      g_param_spec_int ("fold-width", NULL, NULL, 0, G_MAXINT, 1240, flags);
  properties[PROP_FOLDED] =
      g_param_spec_boolean ("folded", NULL, NULL, FALSE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, properties);
  gtk_widget_class_set_css_name (widget_class, "panes");
}

static void
assay_panes_init (AssayPanes *self)
{
  gtk_widget_add_css_class (GTK_WIDGET (self), "panes");
  gtk_widget_set_overflow (GTK_WIDGET (self), GTK_OVERFLOW_HIDDEN);
  self->fold_width = 1240;
  self->panes[START].width = 232;
  self->panes[END].width = 340;
  for (Side side = START; side < N_SIDES; side++)
    {
      self->panes[side].shown_wide = TRUE;
      self->panes[side].handle = handle_new (self, &self->panes[side]);
    }
}
