/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/window-private.h"

#include "app/shortcuts.h"
#include "widgets/color-scheme.h"
#include "widgets/tab-row.h"

#define SHORT_WINDOW 900 /* px; below it the findings fold to their one line */
#define COMPACT_WINDOW 1200

G_DEFINE_FINAL_TYPE (AssayWindow, assay_window, GTK_TYPE_APPLICATION_WINDOW)

AssayNotice *
assay_window_notify (AssayWindow *self, AssayNoticeKind kind, const char *topic, const char *text,
                     const char *detail)
{
  GtkWidget *notice = assay_notice_new (kind, topic, text, detail);

  assay_notice_box_add (self->notices, ASSAY_NOTICE (notice));
  return ASSAY_NOTICE (notice);
}

AssayContext *
assay_window_get_context (AssayWindow *self)
{
  return self->context;
}

const char *
assay_window_get_page (AssayWindow *self)
{
  return gtk_stack_get_visible_child_name (self->pages);
}

void
assay_window_show_page (AssayWindow *self, const char *page)
{
  g_return_if_fail (ASSAY_IS_WINDOW (self));
  if (page != NULL && gtk_stack_get_child_by_name (self->pages, page) != NULL)
    gtk_stack_set_visible_child_name (self->pages, page);
}

void
assay_window_open_task (AssayWindow *self, AssayTaskItem *task)
{
  g_return_if_fail (ASSAY_IS_WINDOW (self));
  if (assay_context_get_task_item (self->context) == task)
    return;
  assay_notice_box_remove (self->notices, "task");
  assay_context_set_task (self->context, task);
  assay_queue_pane_select (self->queue, task);
  if (assay_panes_get_folded (self->panes))
    assay_panes_close_overlays (self->panes);
  assay_session_set_string (self->session, "current", assay_task_item_get_folder (task));
}

void
assay_window_show_title (AssayWindow *self)
{
  AssayTaskItem *item = assay_context_get_task_item (self->context);
  AssayRunModel *run = assay_context_get_run (self->context);
  AssayDraft *draft = assay_context_get_draft (self->context);
  const char *candidate = assay_context_get_candidate (self->context);
  g_autoptr (GString) subtitle = g_string_new (NULL);
  g_autofree char *title = NULL;

  if (candidate != NULL)
    g_string_append_printf (subtitle, "candidate %s", candidate);
  if (run != NULL)
    g_string_append_printf (subtitle, " · run %.15s", assay_run_model_get_id (run));
  if (draft != NULL && assay_draft_get_saved_at (draft) != NULL)
    g_string_append_printf (subtitle, " · saved %s", assay_draft_get_saved_at (draft));
  gtk_label_set_text (self->task_title, item != NULL ? assay_task_item_get_id (item) : "No task");
  gtk_label_set_text (self->task_subtitle, subtitle->str);
  gtk_widget_set_visible (GTK_WIDGET (self->task_subtitle), subtitle->len > 0);
  title = item != NULL ? g_strdup_printf ("%s — Assay", assay_task_item_get_id (item))
                       : g_strdup ("Assay");
  gtk_window_set_title (GTK_WINDOW (self), title);
}

static void
task_changed (AssayWindow *self)
{
  AssayTaskItem *item = assay_context_get_task_item (self->context);

  gtk_stack_set_visible_child_name (self->content, item == NULL ? "empty" : "task");
  assay_window_show_title (self);
  if (item != NULL && assay_task_item_is_loaded (item) && assay_task_item_get_task (item) == NULL)
    {
      g_autofree char *text = g_strdup_printf (
          "%s cannot be read as a task. Check that task.json is there and is JSON, then open it "
          "again.",
          assay_task_item_get_folder (item));

      assay_window_notify (self, ASSAY_NOTICE_ERROR, "task", text,
                           assay_task_item_get_problem (item));
    }
}

static void
run_changed (AssayWindow *self, guint what)
{
  assay_window_show_title (self);
  if (what & (ASSAY_RUN_CHANGED_STATE | ASSAY_RUN_CHANGED_STAGES))
    assay_window_update_strip (self);
}

static void
page_changed (AssayWindow *self)
{
  const char *page = assay_window_get_page (self);
  GAction *action = g_action_map_lookup_action (G_ACTION_MAP (self), "page");

  if (self->context == NULL || page == NULL)
    return;
  assay_findings_bar_set_page (self->findings, page);
  if (action != NULL)
    g_simple_action_set_state (G_SIMPLE_ACTION (action), g_variant_new_string (page));
  assay_session_set_string (self->session, "page", page);
}

static void
task_chosen (AssayWindow *self, AssayTaskItem *task)
{
  assay_window_open_task (self, task);
}

static void
finding_activated (AssayWindow *self, AssayFindingItem *item)
{
  assay_window_show_finding (self, item);
}

static void
evidence_attached (AssayWindow *self, const AssayEvidence *evidence)
{
  assay_window_attach (self, evidence);
}

/* Back to where the reader was. */
static void
palette_closed (AssayWindow *self)
{
  gtk_widget_set_visible (GTK_WIDGET (self->palette), FALSE);
  if (self->focus_before != NULL)
    gtk_widget_grab_focus (self->focus_before);
  g_clear_weak_pointer (&self->focus_before);
}

static void
review_finding (AssayWindow *self, const char *id)
{
  assay_findings_bar_select (self->findings, id);
}

static void
review_evidence (AssayWindow *self, const AssayEvidence *evidence)
{
  assay_window_show_evidence (self, evidence);
}

static void
size_changed (AssayWindow *self)
{
  int width, height;

  gtk_window_get_default_size (GTK_WINDOW (self), &width, &height);
  assay_session_set_int (self->session, "width", width);
  assay_session_set_int (self->session, "height", height);
}

/* What changes with the size, once for each step across a limit. */
static void
adapt (AssayWindow *self, int width, int height)
{
  gboolean compact = width < COMPACT_WINDOW;

  assay_stage_strip_set_compact (self->strip, compact);
  gtk_widget_set_visible (self->brand, !compact);
  if (height < SHORT_WINDOW)
    g_object_set (self->findings, "expanded", FALSE, NULL);
}

static void
surface_layout (AssayWindow *self, int width, int height)
{
  static const int limits[] = {COMPACT_WINDOW, SHORT_WINDOW};
  int key = (width < limits[0]) | (height < limits[1]) << 1;
  int known = GPOINTER_TO_INT (g_object_get_data (G_OBJECT (self), "size-class")) - 1;

  if (key == known)
    return;
  g_object_set_data (G_OBJECT (self), "size-class", GINT_TO_POINTER (key + 1));
  adapt (self, width, height);
}

static void
assay_window_realize (GtkWidget *widget)
{
  GTK_WIDGET_CLASS (assay_window_parent_class)->realize (widget);
  g_signal_connect_object (gtk_native_get_surface (GTK_NATIVE (widget)), "layout",
                           G_CALLBACK (surface_layout), widget, G_CONNECT_SWAPPED);
}

static gboolean
close_overlays (GtkWidget *widget, GVariant *args, gpointer data)
{
  return assay_panes_close_overlays (ASSAY_WINDOW (widget)->panes);
}

static void
restore (AssayWindow *self)
{
  const char *page = assay_session_get_string (self->session, "page");

  gtk_window_set_default_size (GTK_WINDOW (self),
                               (int) assay_session_get_int (self->session, "width", 1440),
                               (int) assay_session_get_int (self->session, "height", 900));
  assay_window_show_page (self, page != NULL ? page : "overview");
}

AssayWindow *
assay_window_new (GtkApplication *application, AssaySession *session)
{
  AssayWindow *self = g_object_new (ASSAY_TYPE_WINDOW, "application", application, NULL);

  self->session = g_object_ref (session);
  assay_queue_pane_set_tasks (self->queue, assay_session_get_tasks (session));
  assay_palette_set_sources (self->palette, self->context, assay_session_get_tasks (session));
  assay_window_run_init (self);
  restore (self);
  g_signal_connect_object (self, "notify::default-width", G_CALLBACK (size_changed), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self, "notify::default-height", G_CALLBACK (size_changed), self,
                           G_CONNECT_SWAPPED);
  page_changed (self);
  task_changed (self);
  assay_window_update_strip (self);
  return self;
}

static gboolean
assay_window_close_request (GtkWindow *window)
{
  if (!assay_window_save_before_closing (ASSAY_WINDOW (window)))
    return TRUE;
  return GTK_WINDOW_CLASS (assay_window_parent_class)->close_request (window);
}

static void
assay_window_dispose (GObject *object)
{
  AssayWindow *self = ASSAY_WINDOW (object);

  if (self->session != NULL)
    assay_window_run_dispose (self);
  g_clear_weak_pointer (&self->focus_before);
  g_clear_object (&self->context);
  g_clear_object (&self->session);
  G_OBJECT_CLASS (assay_window_parent_class)->dispose (object);
}

static void
bind_children (GtkWidgetClass *widget_class)
{
  gtk_widget_class_bind_template_child (widget_class, AssayWindow, brand);
  gtk_widget_class_bind_template_child (widget_class, AssayWindow, task_title);
  gtk_widget_class_bind_template_child (widget_class, AssayWindow, task_subtitle);
  gtk_widget_class_bind_template_child (widget_class, AssayWindow, run_button);
  gtk_widget_class_bind_template_child (widget_class, AssayWindow, device);
  gtk_widget_class_bind_template_child (widget_class, AssayWindow, strip);
  gtk_widget_class_bind_template_child (widget_class, AssayWindow, notices);
  gtk_widget_class_bind_template_child (widget_class, AssayWindow, overlay);
  gtk_widget_class_bind_template_child (widget_class, AssayWindow, panes);
  gtk_widget_class_bind_template_child (widget_class, AssayWindow, queue);
  gtk_widget_class_bind_template_child (widget_class, AssayWindow, content);
  gtk_widget_class_bind_template_child (widget_class, AssayWindow, pages);
  gtk_widget_class_bind_template_child (widget_class, AssayWindow, overview);
  gtk_widget_class_bind_template_child (widget_class, AssayWindow, numerics);
  gtk_widget_class_bind_template_child (widget_class, AssayWindow, source);
  gtk_widget_class_bind_template_child (widget_class, AssayWindow, validity);
  gtk_widget_class_bind_template_child (widget_class, AssayWindow, report);
  gtk_widget_class_bind_template_child (widget_class, AssayWindow, review);
  gtk_widget_class_bind_template_child (widget_class, AssayWindow, findings);
  gtk_widget_class_bind_template_child (widget_class, AssayWindow, palette);
}

static void
assay_window_class_init (AssayWindowClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = assay_window_dispose;
  widget_class->realize = assay_window_realize;
  GTK_WINDOW_CLASS (class)->close_request = assay_window_close_request;
  g_type_ensure (ASSAY_TYPE_FINDINGS_BAR);
  g_type_ensure (ASSAY_TYPE_NUMERICS_PAGE);
  g_type_ensure (ASSAY_TYPE_OVERVIEW_PAGE);
  g_type_ensure (ASSAY_TYPE_PALETTE);
  g_type_ensure (ASSAY_TYPE_PANES);
  g_type_ensure (ASSAY_TYPE_QUEUE_PANE);
  g_type_ensure (ASSAY_TYPE_REPORT_PAGE);
  g_type_ensure (ASSAY_TYPE_REVIEW_PANE);
  g_type_ensure (ASSAY_TYPE_SOURCE_PAGE);
  g_type_ensure (ASSAY_TYPE_VALIDITY_PAGE);
  g_type_ensure (ASSAY_TYPE_STAGE_STRIP);
  g_type_ensure (ASSAY_TYPE_TAB_ROW);
  gtk_widget_class_set_template_from_resource (widget_class, "/org/assay/Assay/ui/window.ui");
  bind_children (widget_class);
  gtk_widget_class_bind_template_callback (widget_class, page_changed);
  gtk_widget_class_bind_template_callback (widget_class, task_chosen);
  gtk_widget_class_bind_template_callback (widget_class, finding_activated);
  gtk_widget_class_bind_template_callback (widget_class, evidence_attached);
  gtk_widget_class_bind_template_callback (widget_class, review_finding);
  gtk_widget_class_bind_template_callback (widget_class, palette_closed);
  gtk_widget_class_bind_template_callback (widget_class, review_evidence);
  gtk_widget_class_bind_template_callback (widget_class, assay_window_stop_run);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Escape, 0, close_overlays, NULL);
}

static void
assay_window_init (AssayWindow *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->context = assay_context_new ();
  assay_overview_page_set_context (self->overview, self->context);
  assay_numerics_page_set_context (self->numerics, self->context);
  assay_source_page_set_context (self->source, self->context);
  assay_validity_page_set_context (self->validity, self->context);
  assay_report_page_set_context (self->report, self->context);
  assay_review_pane_set_context (self->review, self->context);
  assay_findings_bar_set_context (self->findings, self->context);
  g_signal_connect_object (self->context, "task-changed", G_CALLBACK (task_changed), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->context, "candidate-changed", G_CALLBACK (assay_window_show_title),
                           self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->context, "run-changed", G_CALLBACK (run_changed), self,
                           G_CONNECT_SWAPPED);
  assay_window_actions_init (self);
  assay_window_review_init (self);
  gtk_widget_add_controller (GTK_WIDGET (self), assay_shortcuts_window_controller ());
}
