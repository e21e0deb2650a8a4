/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "widgets/data-table.h"

/* --- a row, made when it is looked at -------------------------------------------------------- */

#define ASSAY_TYPE_DATA_ROW (assay_data_row_get_type ())
G_DECLARE_FINAL_TYPE (AssayDataRow, assay_data_row, ASSAY, DATA_ROW, GObject)

struct _AssayDataRow
{
  GObject parent;
  GPtrArray *rows;
  guint position;
};

G_DEFINE_FINAL_TYPE (AssayDataRow, assay_data_row, G_TYPE_OBJECT)

static const char *
row_cell (AssayDataRow *row, guint column)
{
  GStrv cells = g_ptr_array_index (row->rows, row->position);

  return column < g_strv_length (cells) ? cells[column] : "";
}

static void
assay_data_row_finalize (GObject *object)
{
  g_ptr_array_unref (ASSAY_DATA_ROW (object)->rows);
  G_OBJECT_CLASS (assay_data_row_parent_class)->finalize (object);
}

static void
assay_data_row_class_init (AssayDataRowClass *class)
{
  G_OBJECT_CLASS (class)->finalize = assay_data_row_finalize;
}

static void
assay_data_row_init (AssayDataRow *self)
{
}

/* --- the model ------------------------------------------------------------------------------- */

#define ASSAY_TYPE_DATA_ROWS (assay_data_rows_get_type ())
G_DECLARE_FINAL_TYPE (AssayDataRows, assay_data_rows, ASSAY, DATA_ROWS, GObject)

struct _AssayDataRows
{
  GObject parent;
  GPtrArray *rows;
};

static void list_model_init (GListModelInterface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (AssayDataRows, assay_data_rows, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, list_model_init))

static GType
rows_item_type (GListModel *model)
{
  return ASSAY_TYPE_DATA_ROW;
}

static guint
rows_n_items (GListModel *model)
{
  return ASSAY_DATA_ROWS (model)->rows->len;
}

static gpointer
rows_item (GListModel *model, guint position)
{
  AssayDataRows *self = ASSAY_DATA_ROWS (model);
  AssayDataRow *row;

  if (position >= self->rows->len)
    return NULL;
  row = g_object_new (ASSAY_TYPE_DATA_ROW, NULL);
  row->rows = g_ptr_array_ref (self->rows);
  row->position = position;
  return row;
}

static void
list_model_init (GListModelInterface *iface)
{
  iface->get_item_type = rows_item_type;
  iface->get_n_items = rows_n_items;
  iface->get_item = rows_item;
}

static void
assay_data_rows_finalize (GObject *object)
{
  g_ptr_array_unref (ASSAY_DATA_ROWS (object)->rows);
  G_OBJECT_CLASS (assay_data_rows_parent_class)->finalize (object);
}

static void
assay_data_rows_class_init (AssayDataRowsClass *class)
{
  G_OBJECT_CLASS (class)->finalize = assay_data_rows_finalize;
}

static void
assay_data_rows_init (AssayDataRows *self)
{
}

/* --- the widget ------------------------------------------------------------------------------ */

struct _AssayDataTable
{
  GtkWidget parent;
  GtkWidget *scroller;
  GtkColumnView *view;
  GtkSingleSelection *selection;
  GStrv columns;
  GPtrArray *rows;
};

enum
{
  ACTIVATED,
  SELECTED,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (AssayDataTable, assay_data_table, GTK_TYPE_WIDGET)

static gboolean
is_number (const char *text)
{
  char *end = NULL;

  g_ascii_strtod (text, &end);
  return end != text;
}

/* Numbers, indices and bit patterns line up at the right, in monospace. */
static gboolean
is_figure (const char *text)
{
  return is_number (text) || text[0] == '['
         || (*text != '\0' && strspn (text, "0123456789abcdef") == strlen (text));
}

static int
compare_cells (gconstpointer a, gconstpointer b, gpointer column)
{
  const char *left = row_cell ((AssayDataRow *) a, GPOINTER_TO_UINT (column));
  const char *right = row_cell ((AssayDataRow *) b, GPOINTER_TO_UINT (column));
  double x, y;

  if (!is_number (left) || !is_number (right))
    return g_strcmp0 (left, right);
  x = g_ascii_strtod (left, NULL);
  y = g_ascii_strtod (right, NULL);
  return x < y ? -1 : x > y ? 1 : 0;
}

static void
cell_setup (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer numeric)
{
  GtkWidget *label = gtk_label_new (NULL);

  gtk_label_set_xalign (GTK_LABEL (label), numeric != NULL ? 1 : 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_widget_add_css_class (label, numeric != NULL ? "mono" : "cell");
  gtk_list_item_set_child (item, label);
}

#define NUMBER_CHARS 13

static void
cell_bind (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer column)
{
  const char *text = row_cell (gtk_list_item_get_item (item), GPOINTER_TO_UINT (column));

  GtkLabel *label = GTK_LABEL (gtk_list_item_get_child (item));

  gtk_label_set_text (label, text);
  /* A number is not read with its end cut off. */
  gtk_label_set_width_chars (label, (int) MIN (g_utf8_strlen (text, -1), NUMBER_CHARS));
}

static GtkColumnViewColumn *
column_new (const char *title, guint index, gboolean numeric)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  GtkColumnViewColumn *column;
  g_autoptr (GtkSorter) sorter =
      GTK_SORTER (gtk_custom_sorter_new (compare_cells, GUINT_TO_POINTER (index), NULL));

  g_signal_connect (factory, "setup", G_CALLBACK (cell_setup), GINT_TO_POINTER (numeric));
  g_signal_connect (factory, "bind", G_CALLBACK (cell_bind), GUINT_TO_POINTER (index));
  column = gtk_column_view_column_new (title, factory);
  gtk_column_view_column_set_sorter (column, sorter);
  gtk_column_view_column_set_resizable (column, TRUE);
  gtk_column_view_column_set_expand (column, TRUE);
  return column;
}

static void
set_columns (AssayDataTable *self, const char *const *columns)
{
  GListModel *known = gtk_column_view_get_columns (self->view);
  const GStrv first = self->rows->len > 0 ? g_ptr_array_index (self->rows, 0) : NULL;

  if (self->columns != NULL && first != NULL
      && g_strv_equal ((const char *const *) self->columns, columns)
      && g_list_model_get_n_items (known) > 0)
    return;
  g_strfreev (self->columns);
  self->columns = g_strdupv ((GStrv) columns);
  while (g_list_model_get_n_items (known) > 0)
    {
      g_autoptr (GtkColumnViewColumn) column = g_list_model_get_item (known, 0);

      gtk_column_view_remove_column (self->view, column);
    }
  for (guint i = 0; columns[i] != NULL; i++)
    {
      gboolean numeric = first != NULL && i < g_strv_length (first) && is_figure (first[i]);
      g_autoptr (GtkColumnViewColumn) column = column_new (columns[i], i, numeric);

      gtk_column_view_append_column (self->view, column);
    }
}

static gboolean
same_rows (const GPtrArray *a, const GPtrArray *b)
{
  if (a == NULL || a->len != b->len)
    return FALSE;
  for (guint i = 0; i < a->len; i++)
    if (!g_strv_equal (g_ptr_array_index (a, i), g_ptr_array_index (b, i)))
      return FALSE;
  return TRUE;
}

static void
selection_moved (AssayDataTable *self)
{
  AssayDataRow *row = gtk_single_selection_get_selected_item (self->selection);

  if (row != NULL)
    g_signal_emit (self, signals[SELECTED], 0, row->position);
}

void
assay_data_table_set (AssayDataTable *self, const char *const *columns, GPtrArray *rows)
{
  AssayDataRows *model;
  GtkSortListModel *sorted;

  g_return_if_fail (ASSAY_IS_DATA_TABLE (self) && columns != NULL && rows != NULL);
  /* Lines that say the same stay as they are, with what is selected in them. */
  if (self->columns != NULL && g_strv_equal ((const char *const *) self->columns, columns)
      && same_rows (self->rows, rows))
    return;
  g_ptr_array_ref (rows);
  g_clear_pointer (&self->rows, g_ptr_array_unref);
  self->rows = rows;
  set_columns (self, columns);
  model = g_object_new (ASSAY_TYPE_DATA_ROWS, NULL);
  model->rows = g_ptr_array_ref (rows);
  sorted = gtk_sort_list_model_new (G_LIST_MODEL (model),
                                    gtk_column_view_get_sorter (self->view) != NULL
                                        ? g_object_ref (gtk_column_view_get_sorter (self->view))
                                        : NULL);
  gtk_sort_list_model_set_incremental (sorted, TRUE);
  g_clear_object (&self->selection);
  self->selection = gtk_single_selection_new (G_LIST_MODEL (sorted));
  gtk_single_selection_set_autoselect (self->selection, FALSE);
  g_signal_connect_object (self->selection, "notify::selected-item", G_CALLBACK (selection_moved),
                           self, G_CONNECT_SWAPPED);
  gtk_column_view_set_model (self->view, GTK_SELECTION_MODEL (self->selection));
}

guint
assay_data_table_get_n_rows (AssayDataTable *self)
{
  return self->rows != NULL ? self->rows->len : 0;
}

static void
append_row (GString *text, GStrv cells)
{
  g_autofree char *line = g_strjoinv ("\t", cells);

  g_string_append_printf (text, "%s\n", line);
}

char *
assay_data_table_text (AssayDataTable *self, gboolean selected_only)
{
  g_autoptr (GString) text = g_string_new (NULL);
  AssayDataRow *selected =
      self->selection != NULL ? gtk_single_selection_get_selected_item (self->selection) : NULL;

  if (self->columns != NULL)
    append_row (text, self->columns);
  if (selected_only && selected != NULL)
    append_row (text, g_ptr_array_index (selected->rows, selected->position));
  for (guint i = 0; !selected_only && i < assay_data_table_get_n_rows (self); i++)
    append_row (text, g_ptr_array_index (self->rows, i));
  return g_string_free (g_steal_pointer (&text), FALSE);
}

void
assay_data_table_select (AssayDataTable *self, guint row)
{
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (self->selection)); i++)
    {
      g_autoptr (AssayDataRow) item = g_list_model_get_item (G_LIST_MODEL (self->selection), i);

      if (item->position == row)
        gtk_single_selection_set_selected (self->selection, i);
    }
}

static void
view_activated (AssayDataTable *self, guint position)
{
  g_autoptr (AssayDataRow) row = g_list_model_get_item (G_LIST_MODEL (self->selection), position);

  if (row != NULL)
    g_signal_emit (self, signals[ACTIVATED], 0, row->position);
}

static gboolean
copy (GtkWidget *widget, GVariant *args, gpointer data)
{
  g_autofree char *text = assay_data_table_text (
      ASSAY_DATA_TABLE (widget),
      gtk_single_selection_get_selected_item (ASSAY_DATA_TABLE (widget)->selection) != NULL);

  gdk_clipboard_set_text (gtk_widget_get_clipboard (widget), text);
  return TRUE;
}

static void
assay_data_table_dispose (GObject *object)
{
  AssayDataTable *self = ASSAY_DATA_TABLE (object);

  g_clear_pointer (&self->scroller, gtk_widget_unparent);
  g_clear_object (&self->selection);
  g_clear_pointer (&self->rows, g_ptr_array_unref);
  g_clear_pointer (&self->columns, g_strfreev);
  G_OBJECT_CLASS (assay_data_table_parent_class)->dispose (object);
}

static void
assay_data_table_class_init (AssayDataTableClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = assay_data_table_dispose;
  signals[SELECTED] = g_signal_new ("selected", G_TYPE_FROM_CLASS (class), G_SIGNAL_RUN_LAST, 0,
                                    NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_UINT);
  signals[ACTIVATED] = g_signal_new ("activated", G_TYPE_FROM_CLASS (class), G_SIGNAL_RUN_LAST, 0,
                                     NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_UINT);
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_c, GDK_CONTROL_MASK, copy, NULL);
}

static void
assay_data_table_init (AssayDataTable *self)
{
  self->scroller = gtk_scrolled_window_new ();
  self->view = GTK_COLUMN_VIEW (gtk_column_view_new (NULL));
  gtk_column_view_set_show_row_separators (self->view, TRUE);
  gtk_widget_add_css_class (GTK_WIDGET (self->view), "dense");
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (self->scroller), GTK_WIDGET (self->view));
  gtk_widget_set_parent (self->scroller, GTK_WIDGET (self));
  g_signal_connect_object (self->view, "activate", G_CALLBACK (view_activated), self,
                           G_CONNECT_SWAPPED);
}
