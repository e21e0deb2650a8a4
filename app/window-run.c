/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/window-private.h"

#include "engine/base/error.h"

static void enable_run_actions (AssayWindow *self);

/* --- devices --------------------------------------------------------------------------------- */

static void
device_setup (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer in_popover)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 1);
  GtkWidget *name = gtk_label_new (NULL), *reason = gtk_label_new (NULL);

  gtk_label_set_xalign (GTK_LABEL (name), 0);
  gtk_label_set_ellipsize (GTK_LABEL (name), PANGO_ELLIPSIZE_END);
  if (in_popover != NULL)
    gtk_label_set_width_chars (GTK_LABEL (name), 40);
  gtk_label_set_xalign (GTK_LABEL (reason), 0);
  gtk_label_set_wrap (GTK_LABEL (reason), TRUE);
  gtk_label_set_max_width_chars (GTK_LABEL (reason), 44);
  gtk_widget_add_css_class (reason, "dim");
  gtk_widget_add_css_class (reason, "small");
  gtk_widget_set_vexpand (name, TRUE);
  gtk_box_append (GTK_BOX (box), name);
  gtk_box_append (GTK_BOX (box), reason);
  gtk_list_item_set_child (item, box);
}

static void
device_bind (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer in_popover)
{
  AssayDeviceItem *device = gtk_list_item_get_item (item);
  GtkWidget *box = gtk_list_item_get_child (item);
  GtkWidget *name = gtk_widget_get_first_child (box), *reason = gtk_widget_get_last_child (box);
  gboolean available = assay_device_item_get_available (device);
  /* In the header the identifier says it shortest: "virtual sm_80". */
  g_autofree char *text = g_strdup (in_popover != NULL ? assay_device_item_get_name (device)
                                                       : assay_device_item_get_id (device));
  g_autofree char *detail = NULL;

  if (in_popover == NULL)
    g_strdelimit (text, ":", ' ');
  detail = available ? g_strdup (assay_device_item_get_id (device))
                     : g_strdup (assay_device_item_get_reason (device));
  gtk_label_set_text (GTK_LABEL (name), text);
  gtk_label_set_text (GTK_LABEL (reason), detail);
  gtk_widget_set_visible (reason, in_popover != NULL);
  gtk_list_item_set_activatable (item, available);
  gtk_list_item_set_selectable (item, available);
  gtk_widget_set_sensitive (name, available);
}

static GtkListItemFactory *
device_factory (gboolean in_popover)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();

  g_signal_connect (factory, "setup", G_CALLBACK (device_setup), GINT_TO_POINTER (in_popover));
  g_signal_connect (factory, "bind", G_CALLBACK (device_bind), GINT_TO_POINTER (in_popover));
  return factory;
}

/* The remembered device; else a real one; else the usual virtual one. */
static int
preference (AssayWindow *self, AssayDeviceItem *device)
{
  const char *id = assay_device_item_get_id (device);

  if (!assay_device_item_get_available (device))
    return 0;
  if (g_strcmp0 (id, assay_session_get_string (self->session, "device")) == 0)
    return 4;
  if (g_str_has_prefix (id, "cuda:"))
    return 3;
  return g_str_equal (id, "virtual:sm_80") ? 2 : 1;
}

/* None of those listed: the reasons, one a line, go with the notice. */
static void
tell_no_device (AssayWindow *self, gboolean none)
{
  GListModel *devices = gtk_drop_down_get_model (self->device);
  g_autoptr (GString) reasons = g_string_new (NULL);

  if (!none || g_list_model_get_n_items (devices) == 0)
    {
      assay_notice_box_remove (self->notices, "device");
      return;
    }
  for (guint i = 0; i < g_list_model_get_n_items (devices); i++)
    {
      g_autoptr (AssayDeviceItem) device = g_list_model_get_item (devices, i);

      g_string_append_printf (reasons, "%s: %s\n", assay_device_item_get_id (device),
                              assay_device_item_get_reason (device) != NULL
                                  ? assay_device_item_get_reason (device)
                                  : "no reason given");
    }
  assay_window_notify (
      self, ASSAY_NOTICE_WARNING, "device",
      "No device can be used, so nothing can be run; the detail says why for each.", reasons->str);
}

static void
choose_device (AssayWindow *self)
{
  GListModel *devices = gtk_drop_down_get_model (self->device);
  guint best = GTK_INVALID_LIST_POSITION;
  int liking = 0;

  for (guint i = 0; i < g_list_model_get_n_items (devices); i++)
    {
      g_autoptr (AssayDeviceItem) device = g_list_model_get_item (devices, i);

      if (preference (self, device) > liking)
        {
          liking = preference (self, device);
          best = i;
        }
    }
  self->known_devices = g_list_model_get_n_items (devices);
  gtk_drop_down_set_selected (self->device, best);
  gtk_widget_set_visible (GTK_WIDGET (self->device), self->known_devices > 0);
  tell_no_device (self, best == GTK_INVALID_LIST_POSITION);
  enable_run_actions (self);
}

static void
device_chosen (AssayWindow *self)
{
  AssayDeviceItem *device = gtk_drop_down_get_selected_item (self->device);

  /* A list that has just come selects its first by itself; that is nobody's choice. */
  if (device == NULL
      || g_list_model_get_n_items (gtk_drop_down_get_model (self->device)) != self->known_devices)
    return;
  if (!assay_device_item_get_available (device))
    choose_device (self);
  else
    assay_session_set_string (self->session, "device", assay_device_item_get_id (device));
}

/* --- the strip ------------------------------------------------------------------------------- */

static void
enable_run_actions (AssayWindow *self)
{
  gboolean ready =
      assay_engine_client_get_state (assay_session_get_engine (self->session)) == ASSAY_ENGINE_READY
      && gtk_drop_down_get_selected_item (self->device) != NULL;
  gboolean running = self->active_run != NULL || self->starting;
  gboolean task = assay_context_get_task (self->context) != NULL;

  assay_window_enable (self, "run", ready && !running && task);
  assay_window_enable (self, "run-candidate", ready && !running && task);
  assay_window_enable (self, "run-all", ready && !running && task);
  assay_window_enable (self, "stop", running);
}

static char *
finished_headline (AssayRunModel *run, const int *statuses, char **text)
{
  const AssayRun *record = assay_run_model_get (run);
  guint count[ASSAY_STATUS_CANCELLED + 1] = {0};
  const AssayStage *telling = NULL;

  for (int i = 0; i < ASSAY_N_STAGES; i++)
    count[statuses[i]]++;
  for (guint i = 0; i < record->stages->len; i++)
    {
      const AssayStage *stage = g_ptr_array_index (record->stages, i);

      if (stage->reason != NULL
          && (telling == NULL
              || (telling->status == ASSAY_STATUS_SKIPPED
                  && stage->status != ASSAY_STATUS_SKIPPED)))
        telling = stage;
    }
  if (telling != NULL)
    *text = g_strdup_printf ("%s %s: %s", telling->name, ASSAY_STATUSES[telling->status],
                             telling->reason);
  if (assay_run_model_is_lost (run))
    return g_strdup ("lost");
  if (count[ASSAY_STATUS_FAILED] + count[ASSAY_STATUS_ERROR] > 0)
    return g_strdup_printf ("%u of %d stages found faults",
                            count[ASSAY_STATUS_FAILED] + count[ASSAY_STATUS_ERROR], ASSAY_N_STAGES);
  if (count[ASSAY_STATUS_CANCELLED] > 0)
    return g_strdup ("cancelled");
  return g_strdup_printf ("%u stages passed", count[ASSAY_STATUS_PASSED]);
}

void
assay_window_update_strip (AssayWindow *self)
{
  AssayEngineClient *engine = assay_session_get_engine (self->session);
  AssayRunModel *run =
      self->active_run != NULL ? self->active_run : assay_context_get_run (self->context);
  int statuses[ASSAY_N_STAGES] = {0}, current = -1;
  double fraction = 0;
  const char *text = NULL;
  g_autofree char *headline = NULL, *words = NULL;

  if (run != NULL)
    {
      assay_run_model_get_stages (run, statuses);
      current = assay_run_model_get_current (run, &fraction, &text);
    }
  if (run == NULL)
    {
      headline = g_strdup (self->starting ? "starting" : "not run yet");
      words = g_strdup (assay_engine_client_get_state (engine) == ASSAY_ENGINE_READY
                            ? "F5 runs all checks"
                            : "waiting for the engine");
    }
  else if (current >= 0)
    {
      headline = g_strdup_printf ("%d/%d  %s", current + 1, ASSAY_N_STAGES, ASSAY_STAGES[current]);
      words = g_strdup (text);
    }
  else if (assay_run_model_is_running (run) || run == self->active_run)
    headline = g_strdup ("running");
  else
    headline = finished_headline (run, statuses, &words);
  assay_stage_strip_show (self->strip, statuses,
                          run != NULL && run == self->active_run ? MAX (current, 0) : -1, fraction,
                          headline, words);
  enable_run_actions (self);
}

/* --- running --------------------------------------------------------------------------------- */

static void
forget_active (AssayWindow *self)
{
  if (self->active_run != NULL)
    g_clear_signal_handler (&self->active_handler, self->active_run);
  g_clear_object (&self->active_run);
}

static void
run_next (AssayWindow *self)
{
  g_autofree char *candidate = g_queue_pop_head (&self->waiting);

  if (candidate != NULL)
    assay_window_run_candidate (self, candidate, FALSE);
}

static void
active_changed (AssayWindow *self, guint what)
{
  if ((what & ASSAY_RUN_CHANGED_STATE) && !assay_run_model_is_running (self->active_run)
      && assay_run_model_get (self->active_run)->state != ASSAY_STATUS_PENDING)
    {
      gboolean cancelled = assay_run_model_get (self->active_run)->state == ASSAY_STATUS_CANCELLED;

      forget_active (self);
      if (cancelled)
        g_queue_clear_full (&self->waiting, g_free);
      run_next (self);
    }
  assay_window_update_strip (self);
}

static void
tell_run_error (AssayWindow *self, const GError *error)
{
  g_autofree char *text = g_strdup_printf ("The run did not start: %s", error->message);
  AssayNotice *notice = assay_window_notify (self, ASSAY_NOTICE_ERROR, "run", text, NULL);

  if (g_error_matches (error, ASSAY_ERROR, ASSAY_ERROR_DENIED))
    assay_notice_add_action (notice, "Run without a sandbox", "win.run-unsandboxed", NULL);
}

typedef struct
{
  AssayWindow *window;
  char *candidate;
} Start;

static void
run_started (GObject *source, GAsyncResult *result, gpointer data)
{
  Start *start = data;
  AssayWindow *self = start->window;
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayRunModel) run =
      assay_engine_client_run_finish (ASSAY_ENGINE_CLIENT (source), result, &error);

  self->starting = FALSE;
  if (self->session == NULL) /* closed meanwhile */
    run = NULL;
  else if (run == NULL)
    {
      g_queue_clear_full (&self->waiting, g_free);
      tell_run_error (self, error);
    }
  else
    {
      self->active_run = g_object_ref (run);
      g_free (self->active_candidate);
      self->active_candidate = g_strdup (start->candidate);
      self->active_handler = g_signal_connect_object (run, "changed", G_CALLBACK (active_changed),
                                                      self, G_CONNECT_SWAPPED);
      assay_task_item_set_run (self->active_task, start->candidate, run);
    }
  if (self->session != NULL)
    assay_window_update_strip (self);
  g_free (start->candidate);
  g_object_unref (start->window);
  g_free (start);
}

void
assay_window_run_candidate (AssayWindow *self, const char *candidate, gboolean unsandboxed)
{
  AssayDeviceItem *device = gtk_drop_down_get_selected_item (self->device);
  Start *start;

  if (self->active_run != NULL || self->starting)
    return;
  if (device == NULL)
    {
      assay_window_notify (self, ASSAY_NOTICE_WARNING, "run",
                           "No device can be used; the chooser beside Run says why.", NULL);
      return;
    }
  if (g_queue_is_empty (&self->waiting) || self->active_task == NULL)
    g_set_object (&self->active_task, assay_context_get_task_item (self->context));
  if (self->active_task == NULL || candidate == NULL)
    return;
  assay_notice_box_remove (self->notices, "run");
  assay_notice_box_remove (self->notices, "engine");
  start = g_new0 (Start, 1);
  start->window = g_object_ref (self);
  start->candidate = g_strdup (candidate);
  self->starting = TRUE;
  if (self->active_task == assay_context_get_task_item (self->context))
    assay_context_set_candidate (self->context, candidate);
  assay_engine_client_run_async (
      assay_session_get_engine (self->session), assay_task_item_get_folder (self->active_task),
      candidate, assay_device_item_get_id (device), unsandboxed, NULL, run_started, start);
  assay_window_update_strip (self);
}

void
assay_window_run_everything (AssayWindow *self)
{
  const AssayTask *task = assay_context_get_task (self->context);

  if (task == NULL || self->active_run != NULL || self->starting)
    return;
  g_set_object (&self->active_task, assay_context_get_task_item (self->context));
  for (guint i = 0; i < task->candidates->len; i++)
    {
      const AssayCandidate *candidate = g_ptr_array_index (task->candidates, i);

      g_queue_push_tail (&self->waiting, g_strdup (candidate->name));
    }
  run_next (self);
}

void
assay_window_stop_run (AssayWindow *self)
{
  g_queue_clear_full (&self->waiting, g_free);
  if (self->active_run != NULL)
    assay_engine_client_cancel_run (assay_session_get_engine (self->session), self->active_run);
}

/* --- the engine's health --------------------------------------------------------------------- */

static void
engine_state_changed (AssayWindow *self)
{
  AssayEngineClient *engine = assay_session_get_engine (self->session);
  AssayEngineState state = assay_engine_client_get_state (engine);

  if (state == ASSAY_ENGINE_FAILED)
    {
      AssayNotice *notice;

      assay_notice_box_remove (self->notices, "engine");
      notice = assay_window_notify (
          self, ASSAY_NOTICE_ERROR, "engine-failed",
          "The engine does not start, so nothing can be run; reading and reviewing work as before.",
          assay_engine_client_get_problem (engine));
      assay_notice_add_action (notice, "Try again", "win.restart-engine", NULL);
    }
  else if (state == ASSAY_ENGINE_READY)
    assay_notice_box_remove (self->notices, "engine-failed");
  assay_window_update_strip (self);
}

static void
engine_lost (AssayWindow *self, AssayRunModel *run, gboolean will_restart)
{
  g_autofree char *text = NULL;

  g_queue_clear_full (&self->waiting, g_free);
  if (run != NULL)
    text = g_strdup_printf (
        "The engine stopped while running %s, candidate %s%s; the run is marked lost; your review "
        "is intact.",
        self->active_task != NULL ? assay_task_item_get_id (self->active_task) : "a task",
        self->active_candidate != NULL ? self->active_candidate : "unknown",
        will_restart ? "; it is started again" : "");
  else
    text = g_strdup_printf ("The engine stopped%s; nothing was running; your review is intact.",
                            will_restart ? " and is started again" : "");
  assay_window_notify (self, ASSAY_NOTICE_WARNING, "engine", text, NULL);
  forget_active (self);
  assay_window_update_strip (self);
}

void
assay_window_run_init (AssayWindow *self)
{
  AssayEngineClient *engine = assay_session_get_engine (self->session);
  g_autoptr (GtkListItemFactory) shown = device_factory (FALSE), listed = device_factory (TRUE);

  g_queue_init (&self->waiting);
  gtk_drop_down_set_factory (self->device, shown);
  gtk_drop_down_set_list_factory (self->device, listed);
  gtk_drop_down_set_model (self->device, assay_engine_client_get_devices (engine));
  g_signal_connect_object (assay_engine_client_get_devices (engine), "items-changed",
                           G_CALLBACK (choose_device), self, G_CONNECT_SWAPPED);
  choose_device (self);
  g_signal_connect_object (self->device, "notify::selected", G_CALLBACK (device_chosen), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (engine, "notify::state", G_CALLBACK (engine_state_changed), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (engine, "lost", G_CALLBACK (engine_lost), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->context, "task-changed", G_CALLBACK (enable_run_actions), self,
                           G_CONNECT_SWAPPED);
  engine_state_changed (self);
}

void
assay_window_run_dispose (AssayWindow *self)
{
  forget_active (self);
  g_clear_pointer (&self->active_candidate, g_free);
  g_queue_clear_full (&self->waiting, g_free);
  g_clear_object (&self->active_task);
}
