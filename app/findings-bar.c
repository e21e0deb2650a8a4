/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/findings-bar.h"

#include "app/finding-detail.h"
#include "app/finding-row.h"
#include "widgets/badge.h"
#include "widgets/card.h"

struct _AssayFindingsBar
{
  GtkWidget parent;
  GtkWidget *box;
  GtkBox *counts;
  GtkToggleButton *expander;
  GtkToggleButton *all;
  GtkWidget *body;
  GtkStack *stack;
  GtkListView *list;
  GtkRevealer *detail_revealer;
  AssayFindingDetail *detail;
  GtkLabel *empty;
  AssayContext *context;
  GListStore *none;
  GtkFilterListModel *filtered;
  GtkCustomFilter *filter;
  GtkSingleSelection *selection;
  char *page;
};

enum
{
  PROP_0,
  PROP_EXPANDED,
  N_PROPS
};

enum
{
  ACTIVATED,
  N_SIGNALS
};

static GParamSpec *properties[N_PROPS];
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (AssayFindingsBar, assay_findings_bar, GTK_TYPE_WIDGET)

static void draft_changed (AssayFindingsBar *self);

static gboolean
shows (gpointer item, gpointer data)
{
  AssayFindingsBar *self = data;

  return gtk_toggle_button_get_active (self->all) || self->page == NULL
         || assay_finding_concerns (assay_finding_item_get (item), self->page);
}

static void
show_counts (AssayFindingsBar *self)
{
  AssayRunModel *run = assay_context_get_run (self->context);
  guint counts[4] = {0};

  assay_clear_children (GTK_WIDGET (self->counts));
  if (run != NULL)
    assay_run_model_count (run, counts);
  for (int severity = 0; severity < 4; severity++)
    {
      const AssayBadge *badge = assay_badge_severity (severity);
      GtkWidget *box;
      g_autofree char *text = NULL;

      if (counts[severity] == 0)
        continue;
      box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 5);
      text = assay_severity_count (severity, counts[severity]);
      gtk_box_append (GTK_BOX (box), assay_badge_image_new (badge));
      gtk_box_append (GTK_BOX (box), gtk_label_new (text));
      gtk_box_append (self->counts, box);
    }
}

static void
show_empty (AssayFindingsBar *self)
{
  AssayRunModel *run = assay_context_get_run (self->context);
  guint shown = g_list_model_get_n_items (G_LIST_MODEL (self->selection));
  guint total = run != NULL ? g_list_model_get_n_items (assay_run_model_get_findings (run)) : 0;

  gtk_stack_set_visible_child_name (self->stack, shown > 0 ? "list" : "empty");
  if (run == NULL)
    gtk_label_set_text (self->empty,
                        "Findings of a run stand here, worst first. Start one with F5.");
  else if (assay_run_model_is_running (run) && total == 0)
    gtk_label_set_text (self->empty, "Nothing found so far; the run goes on.");
  else if (total == 0)
    gtk_label_set_text (self->empty, "The rules found nothing on this run.");
  else
    gtk_label_set_text (self->empty, "None concerns this page. \"all\" shows the others.");
}

static void
run_changed (AssayFindingsBar *self, guint what)
{
  AssayRunModel *run = assay_context_get_run (self->context);
  GListModel *findings =
      run != NULL ? assay_run_model_get_findings (run) : G_LIST_MODEL (self->none);

  if (gtk_filter_list_model_get_model (self->filtered) != findings)
    {
      gtk_filter_list_model_set_model (self->filtered, findings);
      gtk_revealer_set_reveal_child (self->detail_revealer, FALSE);
    }
  if (what & (ASSAY_RUN_CHANGED_FINDINGS | ASSAY_RUN_CHANGED_STATE))
    show_counts (self);
  if (what == ASSAY_RUN_CHANGED_ALL)
    draft_changed (self);
  show_empty (self);
}

static void
filter_changed (AssayFindingsBar *self)
{
  if (self->filter == NULL)
    return;
  gtk_filter_changed (GTK_FILTER (self->filter), GTK_FILTER_CHANGE_DIFFERENT);
  show_empty (self);
}

void
assay_findings_bar_set_page (AssayFindingsBar *self, const char *page)
{
  g_return_if_fail (ASSAY_IS_FINDINGS_BAR (self));
  g_free (self->page);
  self->page = g_strdup (page);
  filter_changed (self);
}

AssayFindingItem *
assay_findings_bar_get_selected (AssayFindingsBar *self)
{
  return gtk_single_selection_get_selected_item (self->selection);
}

static void
activate (AssayFindingsBar *self, guint position, gboolean with_detail)
{
  g_autoptr (AssayFindingItem) item =
      g_list_model_get_item (G_LIST_MODEL (self->selection), position);

  if (item == NULL)
    return;
  assay_finding_detail_show (self->detail, assay_finding_item_get (item));
  if (with_detail)
    gtk_revealer_set_reveal_child (self->detail_revealer, TRUE);
  g_signal_emit (self, signals[ACTIVATED], 0, item);
}

static void
row_activated (AssayFindingsBar *self, guint position)
{
  activate (self, position, TRUE);
}

static void
selection_changed (AssayFindingsBar *self)
{
  AssayFindingItem *item = assay_findings_bar_get_selected (self);

  if (item != NULL)
    assay_finding_detail_show (self->detail, assay_finding_item_get (item));
}

static void
show_position (AssayFindingsBar *self, guint position)
{
  gtk_single_selection_set_selected (self->selection, position);
  gtk_widget_activate_action (GTK_WIDGET (self->list), "list.scroll-to-item", "u", position);
}

void
assay_findings_bar_step (AssayFindingsBar *self, int step)
{
  guint count = g_list_model_get_n_items (G_LIST_MODEL (self->selection));
  guint selected = gtk_single_selection_get_selected (self->selection);
  gint64 next = selected == GTK_INVALID_LIST_POSITION ? (step > 0 ? 0 : (gint64) count - 1)
                                                      : (gint64) selected + step;

  if (count == 0)
    return;
  next = (next + count) % count;
  show_position (self, (guint) next);
  activate (self, (guint) next, FALSE);
}

void
assay_findings_bar_select (AssayFindingsBar *self, const char *finding_id)
{
  gtk_toggle_button_set_active (self->all, TRUE);
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (self->selection)); i++)
    {
      g_autoptr (AssayFindingItem) item = g_list_model_get_item (G_LIST_MODEL (self->selection), i);

      if (g_strcmp0 (assay_finding_item_get (item)->id, finding_id) != 0)
        continue;
      g_object_set (self, "expanded", TRUE, NULL);
      show_position (self, i);
      activate (self, i, TRUE);
      return;
    }
}

static void
close_detail (AssayFindingsBar *self)
{
  gtk_revealer_set_reveal_child (self->detail_revealer, FALSE);
}

static void
row_setup (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data)
{
  gtk_list_item_set_child (item, g_object_new (ASSAY_TYPE_FINDING_ROW, NULL));
}

static void
row_bind (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data)
{
  assay_finding_row_set_item (ASSAY_FINDING_ROW (gtk_list_item_get_child (item)),
                              gtk_list_item_get_item (item));
}

static void
row_unbind (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data)
{
  assay_finding_row_set_item (ASSAY_FINDING_ROW (gtk_list_item_get_child (item)), NULL);
}

/* The reviewer's judgements, onto the lines. */
static void
draft_changed (AssayFindingsBar *self)
{
  AssayRunModel *run = assay_context_get_run (self->context);
  g_autoptr (GPtrArray) judged = assay_context_get_findings (self->context);
  GListModel *findings =
      run != NULL ? assay_run_model_get_findings (run) : G_LIST_MODEL (self->none);

  for (guint i = 0; i < g_list_model_get_n_items (findings); i++)
    {
      g_autoptr (AssayFindingItem) item = g_list_model_get_item (findings, i);

      for (guint k = 0; k < judged->len; k++)
        {
          const AssayFinding *finding = g_ptr_array_index (judged, k);

          if (g_strcmp0 (finding->id, assay_finding_item_get (item)->id) == 0)
            assay_finding_item_set_disposition (item, finding->disposition);
        }
    }
  selection_changed (self);
}

void
assay_findings_bar_set_context (AssayFindingsBar *self, AssayContext *context)
{
  g_return_if_fail (ASSAY_IS_FINDINGS_BAR (self));
  self->context = g_object_ref (context);
  g_signal_connect_object (context, "run-changed", G_CALLBACK (run_changed), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (context, "draft-changed", G_CALLBACK (draft_changed), self,
                           G_CONNECT_SWAPPED);
  run_changed (self, ASSAY_RUN_CHANGED_ALL);
}

static void
assay_findings_bar_set_property (GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  if (id == PROP_EXPANDED)
    gtk_toggle_button_set_active (ASSAY_FINDINGS_BAR (object)->expander,
                                  g_value_get_boolean (value));
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
assay_findings_bar_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  if (id == PROP_EXPANDED)
    g_value_set_boolean (value,
                         gtk_toggle_button_get_active (ASSAY_FINDINGS_BAR (object)->expander));
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
expander_toggled (AssayFindingsBar *self)
{
  gboolean expanded = gtk_toggle_button_get_active (self->expander);

  gtk_button_set_icon_name (GTK_BUTTON (self->expander),
                            expanded ? "pan-down-symbolic" : "pan-end-symbolic");
  gtk_widget_set_visible (self->body, expanded);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_EXPANDED]);
}

static void
assay_findings_bar_dispose (GObject *object)
{
  AssayFindingsBar *self = ASSAY_FINDINGS_BAR (object);

  g_clear_pointer (&self->box, gtk_widget_unparent);
  g_clear_object (&self->selection);
  g_clear_object (&self->filtered);
  g_clear_object (&self->filter);
  g_clear_object (&self->none);
  g_clear_object (&self->context);
  g_clear_pointer (&self->page, g_free);
  G_OBJECT_CLASS (assay_findings_bar_parent_class)->dispose (object);
}

static void
assay_findings_bar_class_init (AssayFindingsBarClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  object_class->dispose = assay_findings_bar_dispose;
  object_class->set_property = assay_findings_bar_set_property;
  object_class->get_property = assay_findings_bar_get_property;
  properties[PROP_EXPANDED] =
      g_param_spec_boolean ("expanded", NULL, NULL, TRUE,
                            G_PARAM_READWRITE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, properties);
  signals[ACTIVATED] = g_signal_new ("activated", G_TYPE_FROM_CLASS (class), G_SIGNAL_RUN_LAST, 0,
                                     NULL, NULL, NULL, G_TYPE_NONE, 1, ASSAY_TYPE_FINDING_ITEM);
  g_type_ensure (ASSAY_TYPE_FINDING_DETAIL);
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_css_name (widget_class, "findingsbar");
  gtk_widget_class_set_template_from_resource (widget_class, "/org/assay/Assay/ui/findings-bar.ui");
  gtk_widget_class_bind_template_child (widget_class, AssayFindingsBar, box);
  gtk_widget_class_bind_template_child (widget_class, AssayFindingsBar, counts);
  gtk_widget_class_bind_template_child (widget_class, AssayFindingsBar, expander);
  gtk_widget_class_bind_template_child (widget_class, AssayFindingsBar, all);
  gtk_widget_class_bind_template_child (widget_class, AssayFindingsBar, body);
  gtk_widget_class_bind_template_child (widget_class, AssayFindingsBar, stack);
  gtk_widget_class_bind_template_child (widget_class, AssayFindingsBar, list);
  gtk_widget_class_bind_template_child (widget_class, AssayFindingsBar, detail_revealer);
  gtk_widget_class_bind_template_child (widget_class, AssayFindingsBar, detail);
  gtk_widget_class_bind_template_child (widget_class, AssayFindingsBar, empty);
  gtk_widget_class_bind_template_callback (widget_class, filter_changed);
  gtk_widget_class_bind_template_callback (widget_class, expander_toggled);
  gtk_widget_class_bind_template_callback (widget_class, row_activated);
  gtk_widget_class_bind_template_callback (widget_class, close_detail);
}

static void
assay_findings_bar_init (AssayFindingsBar *self)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();

  gtk_widget_init_template (GTK_WIDGET (self));
  gtk_widget_add_css_class (GTK_WIDGET (self), "findings-bar");
  self->none = g_list_store_new (ASSAY_TYPE_FINDING_ITEM);
  self->filter = gtk_custom_filter_new (shows, self, NULL);
  self->filtered = gtk_filter_list_model_new (G_LIST_MODEL (g_object_ref (self->none)),
                                              GTK_FILTER (g_object_ref (self->filter)));
  self->selection = gtk_single_selection_new (G_LIST_MODEL (g_object_ref (self->filtered)));
  gtk_single_selection_set_autoselect (self->selection, FALSE);
  gtk_single_selection_set_can_unselect (self->selection, TRUE);
  g_signal_connect_object (self->selection, "notify::selected-item", G_CALLBACK (selection_changed),
                           self, G_CONNECT_SWAPPED);
  gtk_list_view_set_model (self->list, GTK_SELECTION_MODEL (self->selection));
  g_signal_connect (factory, "setup", G_CALLBACK (row_setup), NULL);
  g_signal_connect (factory, "bind", G_CALLBACK (row_bind), NULL);
  g_signal_connect (factory, "unbind", G_CALLBACK (row_unbind), NULL);
  gtk_list_view_set_factory (self->list, factory);
  g_object_unref (factory);
}
