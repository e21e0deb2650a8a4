/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/palette.h"

#include "app/palette-entry.h"

struct _AssayPalette
{
  GtkWidget parent;
  GtkWidget *box;
  GtkEntry *entry;
  GtkListView *list;
  GtkLabel *none;
  GListStore *store;
  GtkCustomFilter *filter;
  GtkSingleSelection *selection;
  AssayContext *context;
  GListModel *tasks;
  GStrv words;
};

enum
{
  CLOSED,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (AssayPalette, assay_palette, GTK_TYPE_WIDGET)

static gboolean
shows (gpointer item, gpointer data)
{
  AssayPalette *self = data;

  return self->words == NULL
         || assay_palette_entry_matches (item, (const char *const *) self->words);
}

static void
scroll_to (AssayPalette *self, guint position)
{
  gtk_single_selection_set_selected (self->selection, position);
  gtk_widget_activate_action (GTK_WIDGET (self->list), "list.scroll-to-item", "u", position);
}

static void
text_changed (AssayPalette *self)
{
  g_strfreev (self->words);
  self->words = g_strsplit (gtk_editable_get_text (GTK_EDITABLE (self->entry)), " ", -1);
  gtk_filter_changed (GTK_FILTER (self->filter), GTK_FILTER_CHANGE_DIFFERENT);
  gtk_widget_set_visible (GTK_WIDGET (self->none), assay_palette_get_n_shown (self) == 0);
  if (assay_palette_get_n_shown (self) > 0)
    scroll_to (self, 0);
}

guint
assay_palette_get_n_shown (AssayPalette *self)
{
  return g_list_model_get_n_items (G_LIST_MODEL (self->selection));
}

static void
close_palette (AssayPalette *self)
{
  g_signal_emit (self, signals[CLOSED], 0);
}

static void
choose (AssayPalette *self, guint position)
{
  g_autoptr (AssayPaletteEntry) entry =
      g_list_model_get_item (G_LIST_MODEL (self->selection), position);

  if (entry == NULL)
    return;
  close_palette (self);
  gtk_widget_activate_action_variant (GTK_WIDGET (self), assay_palette_entry_get_action (entry),
                                      assay_palette_entry_get_target (entry));
}

static void
entry_activated (AssayPalette *self)
{
  choose (self, gtk_single_selection_get_selected (self->selection));
}

static gboolean
key_pressed (AssayPalette *self, guint key, guint code, GdkModifierType state)
{
  guint count = assay_palette_get_n_shown (self);
  guint selected = gtk_single_selection_get_selected (self->selection);

  if (key == GDK_KEY_Escape)
    close_palette (self);
  else if (key == GDK_KEY_Down && selected + 1 < count)
    scroll_to (self, selected + 1);
  else if (key == GDK_KEY_Up && selected > 0 && selected < count)
    scroll_to (self, selected - 1);
  else
    return key == GDK_KEY_Down || key == GDK_KEY_Up;
  return TRUE;
}

static void
row_setup (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data)
{
  GtkWidget *row = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  GtkWidget *kind = gtk_label_new (NULL), *title = gtk_label_new (NULL),
            *keys = gtk_label_new (NULL);

  gtk_label_set_width_chars (GTK_LABEL (kind), 10);
  gtk_label_set_xalign (GTK_LABEL (kind), 0);
  gtk_widget_add_css_class (kind, "dim");
  gtk_widget_add_css_class (kind, "small");
  gtk_label_set_xalign (GTK_LABEL (title), 0);
  gtk_label_set_ellipsize (GTK_LABEL (title), PANGO_ELLIPSIZE_END);
  gtk_widget_set_hexpand (title, TRUE);
  gtk_widget_add_css_class (keys, "keycap");
  gtk_widget_set_valign (keys, GTK_ALIGN_CENTER);
  gtk_box_append (GTK_BOX (row), kind);
  gtk_box_append (GTK_BOX (row), title);
  gtk_box_append (GTK_BOX (row), keys);
  gtk_list_item_set_child (item, row);
}

static void
row_bind (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data)
{
  AssayPaletteEntry *entry = gtk_list_item_get_item (item);
  GtkWidget *kind = gtk_widget_get_first_child (gtk_list_item_get_child (item));
  GtkWidget *title = gtk_widget_get_next_sibling (kind);
  GtkWidget *keys = gtk_widget_get_next_sibling (title);
  g_autofree char *label = NULL;
  GdkModifierType state;
  guint key;

  gtk_label_set_text (GTK_LABEL (kind), assay_palette_entry_get_kind (entry));
  gtk_label_set_text (GTK_LABEL (title), assay_palette_entry_get_title (entry));
  gtk_widget_set_visible (keys, assay_palette_entry_get_keys (entry) != NULL);
  if (assay_palette_entry_get_keys (entry) != NULL
      && gtk_accelerator_parse (assay_palette_entry_get_keys (entry), &key, &state))
    label = gtk_accelerator_get_label (key, state);
  gtk_label_set_text (GTK_LABEL (keys), label != NULL ? label : "");
}

void
assay_palette_set_sources (AssayPalette *self, AssayContext *context, GListModel *tasks)
{
  g_return_if_fail (ASSAY_IS_PALETTE (self));
  g_set_object (&self->context, context);
  g_set_object (&self->tasks, tasks);
}

void
assay_palette_open (AssayPalette *self)
{
  g_autoptr (GPtrArray) entries = NULL;

  g_return_if_fail (ASSAY_IS_PALETTE (self) && self->context != NULL);
  entries = assay_palette_entries (self->context, self->tasks);
  g_list_store_splice (self->store, 0, g_list_model_get_n_items (G_LIST_MODEL (self->store)),
                       entries->pdata, entries->len);
  gtk_editable_set_text (GTK_EDITABLE (self->entry), "");
  text_changed (self);
  gtk_widget_grab_focus (GTK_WIDGET (self->entry));
}

static void
assay_palette_dispose (GObject *object)
{
  AssayPalette *self = ASSAY_PALETTE (object);

  g_clear_pointer (&self->box, gtk_widget_unparent);
  g_clear_object (&self->selection);
  g_clear_object (&self->store);
  g_clear_object (&self->filter);
  g_clear_object (&self->context);
  g_clear_object (&self->tasks);
  g_clear_pointer (&self->words, g_strfreev);
  G_OBJECT_CLASS (assay_palette_parent_class)->dispose (object);
}

static void
assay_palette_class_init (AssayPaletteClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = assay_palette_dispose;
  signals[CLOSED] = g_signal_new ("closed", G_TYPE_FROM_CLASS (class), G_SIGNAL_RUN_LAST, 0, NULL,
                                  NULL, NULL, G_TYPE_NONE, 0);
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_template_from_resource (widget_class, "/org/assay/Assay/ui/palette.ui");
  gtk_widget_class_bind_template_child (widget_class, AssayPalette, box);
  gtk_widget_class_bind_template_child (widget_class, AssayPalette, entry);
  gtk_widget_class_bind_template_child (widget_class, AssayPalette, list);
  gtk_widget_class_bind_template_child (widget_class, AssayPalette, none);
  gtk_widget_class_bind_template_callback (widget_class, text_changed);
  gtk_widget_class_bind_template_callback (widget_class, entry_activated);
  gtk_widget_class_bind_template_callback (widget_class, choose);
}

static void
assay_palette_init (AssayPalette *self)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  GtkEventController *keys = gtk_event_controller_key_new ();

  self->store = g_list_store_new (ASSAY_TYPE_PALETTE_ENTRY);
  self->filter = gtk_custom_filter_new (shows, self, NULL);
  self->selection = gtk_single_selection_new (G_LIST_MODEL (gtk_filter_list_model_new (
      G_LIST_MODEL (g_object_ref (self->store)), GTK_FILTER (g_object_ref (self->filter)))));
  gtk_widget_init_template (GTK_WIDGET (self));
  gtk_widget_add_css_class (GTK_WIDGET (self), "palette");
  g_signal_connect (factory, "setup", G_CALLBACK (row_setup), NULL);
  g_signal_connect (factory, "bind", G_CALLBACK (row_bind), NULL);
  gtk_list_view_set_factory (self->list, factory);
  gtk_list_view_set_model (self->list, GTK_SELECTION_MODEL (self->selection));
  g_object_unref (factory);
  gtk_event_controller_set_propagation_phase (keys, GTK_PHASE_CAPTURE);
  g_signal_connect_object (keys, "key-pressed", G_CALLBACK (key_pressed), self, G_CONNECT_SWAPPED);
  gtk_widget_add_controller (GTK_WIDGET (self), keys);
}
