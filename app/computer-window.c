/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/computer-window.h"

#include "engine/base/json.h"
#include "engine/record/check.h"
#include "widgets/badge.h"
#include "widgets/card.h"

struct _AssayComputerWindow
{
  GtkWindow parent;
  GtkBox *areas;
  GtkLabel *summary;
  GtkWidget *again, *copy, *spinner;
  AssayEngineClient *engine;
  GPtrArray *checks; /* AssayCheck * */
  GCancellable *cancellable;
  gboolean busy;
};

G_DEFINE_FINAL_TYPE (AssayComputerWindow, assay_computer_window, GTK_TYPE_WINDOW)

static const AssayBadge *
badge_of (int state)
{
  switch (state)
    {
    case ASSAY_CHECK_WORKS:
      return assay_badge_status (ASSAY_STATUS_PASSED);
    case ASSAY_CHECK_WARNS:
      return assay_badge_severity (ASSAY_SEVERITY_MAJOR);
    case ASSAY_CHECK_ABSENT:
      return assay_badge_status (ASSAY_STATUS_SKIPPED);
    default:
      return assay_badge_severity (ASSAY_SEVERITY_BLOCKER);
    }
}

static GtkGrid *
area_of (AssayComputerWindow *self, const char *area)
{
  GtkWidget *last = gtk_widget_get_last_child (GTK_WIDGET (self->areas));
  GtkWidget *card, *grid;

  if (last != NULL && g_strcmp0 (g_object_get_data (G_OBJECT (last), "area"), area) == 0)
    return g_object_get_data (G_OBJECT (last), "grid");
  card = g_object_new (ASSAY_TYPE_CARD, "title", area, NULL);
  grid = gtk_grid_new ();
  gtk_grid_set_column_spacing (GTK_GRID (grid), 10);
  gtk_grid_set_row_spacing (GTK_GRID (grid), 6);
  gtk_widget_set_margin_start (grid, 12);
  gtk_widget_set_margin_end (grid, 12);
  gtk_widget_set_margin_bottom (grid, 10);
  gtk_box_append (GTK_BOX (card), grid);
  g_object_set_data_full (G_OBJECT (card), "area", g_strdup (area), g_free);
  g_object_set_data (G_OBJECT (card), "grid", grid);
  gtk_box_append (self->areas, card);
  return GTK_GRID (grid);
}

static void
add_check (AssayComputerWindow *self, const AssayCheck *check)
{
  GtkGrid *grid = area_of (self, check->area);
  GtkWidget *image = assay_badge_image_new (badge_of (check->state));
  GtkWidget *name = assay_cell_new (check->name, NULL);
  GtkWidget *words = gtk_box_new (GTK_ORIENTATION_VERTICAL, 2);
  int row = GPOINTER_TO_INT (g_object_get_data (G_OBJECT (grid), "rows"));

  g_object_set_data (G_OBJECT (grid), "rows", GINT_TO_POINTER (row + 1));
  gtk_widget_set_tooltip_text (image, ASSAY_CHECK_STATES[check->state]);
  gtk_widget_set_valign (image, GTK_ALIGN_START);
  gtk_widget_set_margin_top (image, 2);
  gtk_widget_set_valign (name, GTK_ALIGN_START);
  gtk_widget_set_size_request (name, 150, -1);
  gtk_box_append (GTK_BOX (words), assay_words_new (check->text, NULL));
  if (check->advice != NULL)
    gtk_box_append (GTK_BOX (words), assay_words_new (check->advice, "dim-label"));
  gtk_widget_set_hexpand (words, TRUE);
  gtk_grid_attach (grid, image, 0, row, 1, 1);
  gtk_grid_attach (grid, name, 1, row, 1, 1);
  gtk_grid_attach (grid, words, 2, row, 1, 1);
}

static void
set_busy (AssayComputerWindow *self, gboolean busy)
{
  self->busy = busy;
  gtk_spinner_set_spinning (GTK_SPINNER (self->spinner), busy);
  gtk_widget_set_visible (self->spinner, busy);
  gtk_widget_set_sensitive (self->again, !busy);
  gtk_widget_set_sensitive (self->copy, !busy && self->checks->len > 0);
}

/* Counts by state, the worst first. */
static char *
summarise (GPtrArray *checks)
{
  static const char *const words[] = {"work", "with a warning", "absent",
                                      "missing that are needed"};
  static const int order[] = {ASSAY_CHECK_FAILS, ASSAY_CHECK_WARNS, ASSAY_CHECK_ABSENT,
                              ASSAY_CHECK_WORKS};
  g_autoptr (GString) text = g_string_new (NULL);
  guint counts[G_N_ELEMENTS (words)] = {0};

  for (guint i = 0; i < checks->len; i++)
    counts[((AssayCheck *) g_ptr_array_index (checks, i))->state]++;
  for (gsize i = 0; i < G_N_ELEMENTS (order); i++)
    if (counts[order[i]] > 0)
      g_string_append_printf (text, "%s%u %s", text->len > 0 ? " · " : "", counts[order[i]],
                              words[order[i]]);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
take_checks (AssayComputerWindow *self, JsonNode *node)
{
  JsonArray *list = JSON_NODE_HOLDS_OBJECT (node)
                        ? assay_json_array (json_node_get_object (node), "checks")
                        : NULL;
  g_autofree char *summary = NULL;

  for (guint i = 0; list != NULL && i < json_array_get_length (list); i++)
    {
      g_autoptr (GError) error = NULL;
      AssayCheck *check = assay_json_table_read (
          &ASSAY_CHECK_TABLE, json_array_get_element (list, i), "checks", NULL, &error);

      if (check == NULL)
        {
          g_warning ("the doctor's answer: %s", error->message);
          continue;
        }
      g_ptr_array_add (self->checks, check);
      add_check (self, check);
    }
  summary = summarise (self->checks);
  gtk_label_set_text (self->summary, summary);
}

static void
examined (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (AssayComputerWindow) self = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonNode) node =
      assay_engine_client_ask_finish (ASSAY_ENGINE_CLIENT (source), result, &error);

  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return;
  if (node != NULL)
    take_checks (self, node);
  else
    gtk_label_set_text (self->summary, error->message);
  set_busy (self, FALSE);
}

static void
examine (AssayComputerWindow *self)
{
  g_ptr_array_set_size (self->checks, 0);
  assay_clear_children (GTK_WIDGET (self->areas));
  gtk_label_set_text (self->summary, "Looking…");
  set_busy (self, TRUE);
  assay_engine_client_ask_async (self->engine, "GET", "/v1/doctor", NULL, self->cancellable,
                                 examined, g_object_ref (self));
}

static void
copy_text (AssayComputerWindow *self)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < self->checks->len; i++)
    {
      const AssayCheck *check = g_ptr_array_index (self->checks, i);

      g_string_append_printf (text, "%-7s %-18s %s%s%s\n", ASSAY_CHECK_STATES[check->state],
                              check->name, check->text, check->advice != NULL ? ". " : "",
                              check->advice != NULL ? check->advice : "");
    }
  gdk_clipboard_set_text (gtk_widget_get_clipboard (GTK_WIDGET (self)), text->str);
}

gboolean
assay_computer_window_is_busy (AssayComputerWindow *self)
{
  return self->busy;
}

static void
assay_computer_window_dispose (GObject *object)
{
  AssayComputerWindow *self = ASSAY_COMPUTER_WINDOW (object);

  g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->engine);
  G_OBJECT_CLASS (assay_computer_window_parent_class)->dispose (object);
}

static void
assay_computer_window_finalize (GObject *object)
{
  AssayComputerWindow *self = ASSAY_COMPUTER_WINDOW (object);

  g_clear_object (&self->cancellable);
  g_clear_pointer (&self->checks, g_ptr_array_unref);
  G_OBJECT_CLASS (assay_computer_window_parent_class)->finalize (object);
}

static void
assay_computer_window_class_init (AssayComputerWindowClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = assay_computer_window_dispose;
  G_OBJECT_CLASS (class)->finalize = assay_computer_window_finalize;
  g_type_ensure (ASSAY_TYPE_CARD);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/assay/Assay/ui/computer-window.ui");
  gtk_widget_class_bind_template_child (widget_class, AssayComputerWindow, areas);
  gtk_widget_class_bind_template_child (widget_class, AssayComputerWindow, summary);
  gtk_widget_class_bind_template_child (widget_class, AssayComputerWindow, again);
  gtk_widget_class_bind_template_child (widget_class, AssayComputerWindow, copy);
  gtk_widget_class_bind_template_child (widget_class, AssayComputerWindow, spinner);
  gtk_widget_class_bind_template_callback (widget_class, examine);
  gtk_widget_class_bind_template_callback (widget_class, copy_text);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_Escape, 0, "window.close", NULL);
}

static void
assay_computer_window_init (AssayComputerWindow *self)
{
  self->checks = g_ptr_array_new_with_free_func ((GDestroyNotify) assay_check_free);
  self->cancellable = g_cancellable_new ();
  gtk_widget_init_template (GTK_WIDGET (self));
}

GtkWidget *
assay_computer_window_new (AssayEngineClient *engine)
{
  AssayComputerWindow *self = g_object_new (ASSAY_TYPE_COMPUTER_WINDOW, NULL);

  self->engine = g_object_ref (engine);
  examine (self);
  return GTK_WIDGET (self);
}
