/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "widgets/tab-row.h"

struct _AssayTabRow
{
  GtkWidget parent;
  GtkStack *stack;
  GtkSelectionModel *pages;
  GPtrArray *tabs; /* GtkWidget *, same order as the pages */
  gboolean updating;
};

enum
{
  PROP_0,
  PROP_STACK,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];

G_DEFINE_FINAL_TYPE (AssayTabRow, assay_tab_row, GTK_TYPE_WIDGET)

static void
tab_toggled (AssayTabRow *self, GtkToggleButton *tab)
{
  guint position;

  if (self->updating)
    return;
  if (!gtk_toggle_button_get_active (tab))
    {
      /* The open page's tab stays down: a second click changes nothing. */
      self->updating = TRUE;
      gtk_toggle_button_set_active (tab, TRUE);
      self->updating = FALSE;
      return;
    }
  if (g_ptr_array_find (self->tabs, tab, &position))
    gtk_selection_model_select_item (self->pages, position, TRUE);
}

static void
show_selection (AssayTabRow *self)
{
  self->updating = TRUE;
  for (guint i = 0; i < self->tabs->len; i++)
    {
      gboolean selected = gtk_selection_model_is_selected (self->pages, i);
      GtkWidget *tab = g_ptr_array_index (self->tabs, i);

      gtk_toggle_button_set_active (GTK_TOGGLE_BUTTON (tab), selected);
      gtk_accessible_update_state (GTK_ACCESSIBLE (tab), GTK_ACCESSIBLE_STATE_SELECTED, selected,
                                   -1);
    }
  self->updating = FALSE;
}

static void
clear_tabs (AssayTabRow *self)
{
  for (guint i = 0; i < self->tabs->len; i++)
    gtk_widget_unparent (g_ptr_array_index (self->tabs, i));
  g_ptr_array_set_size (self->tabs, 0);
}

static void
rebuild (AssayTabRow *self)
{
  clear_tabs (self);
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (self->pages)); i++)
    {
      g_autoptr (GObject) page = g_list_model_get_item (G_LIST_MODEL (self->pages), i);
      GtkWidget *tab = g_object_new (GTK_TYPE_TOGGLE_BUTTON, "css-name", "button",
                                     "accessible-role", GTK_ACCESSIBLE_ROLE_TAB, NULL);

      gtk_widget_add_css_class (tab, "tab");
      g_object_bind_property (page, "title", tab, "label", G_BINDING_SYNC_CREATE);
      g_object_bind_property (page, "visible", tab, "visible", G_BINDING_SYNC_CREATE);
      g_signal_connect_object (tab, "toggled", G_CALLBACK (tab_toggled), self, G_CONNECT_SWAPPED);
      gtk_widget_set_parent (tab, GTK_WIDGET (self));
      g_ptr_array_add (self->tabs, tab);
    }
  show_selection (self);
}

static gboolean
assay_tab_row_focus (GtkWidget *widget, GtkDirectionType direction)
{
  AssayTabRow *self = ASSAY_TAB_ROW (widget);
  GtkWidget *focus = gtk_widget_get_focus_child (widget);
  gint step = direction == GTK_DIR_RIGHT ? 1 : direction == GTK_DIR_LEFT ? -1 : 0;
  guint position;

  if (focus != NULL && step != 0 && g_ptr_array_find (self->tabs, focus, &position))
    {
      for (gint next = (gint) position + step; next >= 0 && next < (gint) self->tabs->len;
           next += step)
        {
          GtkWidget *tab = g_ptr_array_index (self->tabs, next);

          if (gtk_widget_get_visible (tab))
            return gtk_widget_grab_focus (tab);
        }
      return FALSE;
    }
  if (focus == NULL)
    for (guint i = 0; i < self->tabs->len; i++)
      if (gtk_selection_model_is_selected (self->pages, i))
        return gtk_widget_grab_focus (g_ptr_array_index (self->tabs, i));
  return FALSE; /* Tab leaves the row */
}

static void
set_stack (AssayTabRow *self, GtkStack *stack)
{
  if (!g_set_object (&self->stack, stack) || stack == NULL)
    return;
  g_set_object (&self->pages, NULL);
  self->pages = gtk_stack_get_pages (stack);
  g_signal_connect_object (self->pages, "items-changed", G_CALLBACK (rebuild), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->pages, "selection-changed", G_CALLBACK (show_selection), self,
                           G_CONNECT_SWAPPED);
  rebuild (self);
}

static void
assay_tab_row_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  if (id == PROP_STACK)
    set_stack (ASSAY_TAB_ROW (object), g_value_get_object (value));
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
assay_tab_row_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  if (id == PROP_STACK)
    g_value_set_object (value, ASSAY_TAB_ROW (object)->stack);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
assay_tab_row_dispose (GObject *object)
{
  AssayTabRow *self = ASSAY_TAB_ROW (object);

  if (self->pages != NULL)
    g_signal_handlers_disconnect_by_data (self->pages, self);
  if (self->tabs != NULL)
    clear_tabs (self);
  g_clear_pointer (&self->tabs, g_ptr_array_unref);
  g_clear_object (&self->pages);
  g_clear_object (&self->stack);
  G_OBJECT_CLASS (assay_tab_row_parent_class)->dispose (object);
}

static void
assay_tab_row_class_init (AssayTabRowClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  object_class->dispose = assay_tab_row_dispose;
  object_class->set_property = assay_tab_row_set_property;
  object_class->get_property = assay_tab_row_get_property;
  widget_class->focus = assay_tab_row_focus;
  properties[PROP_STACK] = g_param_spec_object ("stack", NULL, NULL, GTK_TYPE_STACK,
                                                G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, properties);
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BOX_LAYOUT);
  gtk_widget_class_set_css_name (widget_class, "tabrow");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_TAB_LIST);
}

static void
assay_tab_row_init (AssayTabRow *self)
{
  self->tabs = g_ptr_array_new ();
  gtk_widget_add_css_class (GTK_WIDGET (self), "tab-row");
}
