/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/window-private.h"

#include "app/report-job.h"

/* --- which review is open -------------------------------------------------------------------- */

static void
enable_review_actions (AssayWindow *self)
{
  AssayDraft *draft = assay_context_get_draft (self->context);
  AssayReviewEditor *editor = draft != NULL ? assay_draft_get_editor (draft) : NULL;
  gboolean writable = draft != NULL && !assay_draft_is_submitted (draft);

  assay_window_enable (self, "score", writable);
  assay_window_enable (self, "attach", writable);
  assay_window_enable (self, "judge", writable);
  assay_window_enable (self, "submit", writable && assay_draft_get_missing (draft)->len == 0);
  assay_window_enable (self, "criterion-step", draft != NULL);
  assay_window_enable (self, "undo", writable && assay_review_editor_can_undo (editor));
  assay_window_enable (self, "redo", writable && assay_review_editor_can_redo (editor));
  assay_window_enable (self, "save", writable);
  assay_window_enable (self, "export", draft != NULL);
  assay_window_enable (self, "export-as", draft != NULL);
  assay_window_enable (self, "export-path", draft != NULL);
}

typedef struct
{
  AssayWindow *window;
  AssayTaskItem *task;
  char *candidate;
} Wanted;

static void
draft_opened (GObject *source, GAsyncResult *result, gpointer data)
{
  Wanted *wanted = data;
  AssayWindow *self = wanted->window;
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayDraft) draft =
      assay_session_open_draft_finish (ASSAY_SESSION (source), result, &error);

  if (self->session == NULL) /* closed meanwhile */
    g_clear_object (&draft);
  else if (draft == NULL)
    assay_window_notify (self, ASSAY_NOTICE_ERROR, "draft", "The review cannot be opened.",
                         error->message);
  else if (assay_context_get_task_item (self->context) == wanted->task
           && g_strcmp0 (assay_context_get_candidate (self->context), wanted->candidate) == 0)
    assay_context_set_draft (self->context, draft);
  g_object_unref (wanted->window);
  g_object_unref (wanted->task);
  g_free (wanted->candidate);
  g_free (wanted);
}

static void
open_draft (AssayWindow *self)
{
  AssayTaskItem *task = assay_context_get_task_item (self->context);
  const char *candidate = assay_context_get_candidate (self->context), *problem = NULL;
  Wanted *wanted;

  assay_context_set_draft (self->context, NULL);
  if (self->session == NULL || candidate == NULL || assay_context_get_task (self->context) == NULL)
    return;
  if (assay_session_get_rubric (self->session, &problem) == NULL)
    {
      assay_window_notify (self, ASSAY_NOTICE_ERROR, "rubric",
                           "The rubric cannot be read, so nothing can be scored. Check the "
                           "installation.",
                           problem);
      return;
    }
  wanted = g_new0 (Wanted, 1);
  wanted->window = g_object_ref (self);
  wanted->task = g_object_ref (task);
  wanted->candidate = g_strdup (candidate);
  assay_session_open_draft_async (self->session, task, candidate, NULL, draft_opened, wanted);
}

/* --- saving ---------------------------------------------------------------------------------- */

static void
draft_saved (AssayWindow *self)
{
  AssayDraft *draft = assay_context_get_draft (self->context);
  const char *problem = draft != NULL ? assay_draft_get_problem (draft) : NULL;

  if (problem == NULL)
    assay_notice_box_remove (self->notices, "save");
  else
    assay_window_notify (self, ASSAY_NOTICE_ERROR, "save",
                         "The review could not be saved. Your words stay here and are saved again "
                         "every few seconds; free some space or make the folder writable.",
                         problem);
  assay_window_show_title (self);
}

static void
focus_left (AssayWindow *self)
{
  AssayDraft *draft = assay_context_get_draft (self->context);

  if (!gtk_window_is_active (GTK_WINDOW (self)) && draft != NULL)
    assay_draft_save (draft);
}

/* Nothing is lost by closing: what cannot be saved keeps the window open, until told otherwise. */
gboolean
assay_window_save_before_closing (AssayWindow *self)
{
  g_autoptr (GError) error = NULL;

  if (self->close_anyway || assay_session_save_drafts (self->session, &error))
    return TRUE;
  assay_notice_add_action (
      assay_window_notify (self, ASSAY_NOTICE_ERROR, "close",
                           "The review could not be saved, so the window stays open. Free some "
                           "space or make the folder writable, then close again.",
                           error->message),
      "Close and lose it", "win.close-anyway", NULL);
  return FALSE;
}

static void
close_anyway (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  ASSAY_WINDOW (data)->close_anyway = TRUE;
  gtk_window_close (data);
}

/* --- actions --------------------------------------------------------------------------------- */

static void
score (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  assay_review_pane_score (ASSAY_WINDOW (data)->review, g_variant_get_string (parameter, NULL));
}

static void
criterion_step (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  assay_review_pane_step (ASSAY_WINDOW (data)->review, g_variant_get_int32 (parameter));
}

static void
show_criterion (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  AssayWindow *self = data;
  const char *criterion = g_variant_get_string (parameter, NULL);

  g_object_set (self->panes, "show-end", TRUE, NULL);
  assay_review_pane_show_criterion (self->review, *criterion != '\0' ? criterion : NULL);
}

static AssayEvidence *
evidence_of_finding (AssayFindingItem *item)
{
  const AssayFinding *finding = assay_finding_item_get (item);
  AssayEvidence *evidence = assay_evidence_new ();

  evidence->kind = g_strdup ("finding");
  evidence->ref = g_strdup (finding->id);
  evidence->title = g_strdup (finding->rule);
  evidence->quote = g_strdup (finding->title);
  return evidence;
}

/* What the reviewer is looking at: the finding that has the focus, else the page's own thing. */
static AssayEvidence *
current_evidence (AssayWindow *self)
{
  const char *page = assay_window_get_page (self);
  GtkWidget *focus = gtk_window_get_focus (GTK_WINDOW (self));
  AssayFindingItem *finding = assay_findings_bar_get_selected (self->findings);
  AssayEvidence *evidence = NULL;

  if (finding != NULL && focus != NULL
      && gtk_widget_is_ancestor (focus, GTK_WIDGET (self->findings)))
    return evidence_of_finding (finding);
  if (g_str_equal (page, "numerics"))
    evidence = assay_numerics_page_get_evidence (self->numerics);
  else if (g_str_equal (page, "source"))
    evidence = assay_source_page_get_selection (self->source);
  else if (g_str_equal (page, "validity"))
    evidence = assay_validity_page_get_evidence (self->validity);
  if (evidence == NULL && finding != NULL)
    evidence = evidence_of_finding (finding);
  return evidence;
}

void
assay_window_attach (AssayWindow *self, const AssayEvidence *evidence)
{
  const char *criterion = assay_review_pane_get_criterion (self->review);
  const AssayRubric *rubric = assay_session_get_rubric (self->session, NULL);
  g_autofree char *text = NULL;

  if (!assay_review_pane_attach (self->review, evidence))
    {
      assay_window_notify (self, ASSAY_NOTICE_WARNING, "attach",
                           "Evidence belongs to a criterion: open one in the review first.", NULL);
      return;
    }
  assay_notice_box_remove (self->notices, "attach");
  text = g_strdup_printf ("%s attached to “%s”", evidence->title,
                          assay_rubric_criterion (rubric, criterion)->title);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->review),
                                  GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text, -1);
}

static void
attach (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  AssayWindow *self = data;
  AssayEvidence *evidence = current_evidence (self);

  if (evidence == NULL)
    {
      assay_window_notify (self, ASSAY_NOTICE_WARNING, "attach",
                           "Nothing to attach here: select lines in Source, a plot in Numerics or "
                           "a finding below, then press e.",
                           NULL);
      return;
    }
  assay_window_attach (self, evidence);
  assay_evidence_free (evidence);
}

static void
judge (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  AssayDraft *draft = assay_context_get_draft (ASSAY_WINDOW (data)->context);
  const char *id, *word;
  int disposition;

  g_variant_get (parameter, "(&s&s)", &id, &word);
  disposition = assay_word_index (ASSAY_DISPOSITIONS, word, -1);
  if (disposition >= 0)
    assay_review_editor_judge (assay_draft_get_editor (draft), id, (AssayDisposition) disposition,
                               NULL);
}

static void
undo (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  assay_review_editor_undo (
      assay_draft_get_editor (assay_context_get_draft (ASSAY_WINDOW (data)->context)));
}

static void
redo (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  assay_review_editor_redo (
      assay_draft_get_editor (assay_context_get_draft (ASSAY_WINDOW (data)->context)));
}

static void
save (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  assay_draft_save (assay_context_get_draft (ASSAY_WINDOW (data)->context));
}

static void
submit (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  AssayWindow *self = data;
  AssayDraft *draft = assay_context_get_draft (self->context);
  g_autoptr (GError) error = NULL;

  if (!assay_review_editor_submit (assay_draft_get_editor (draft), &error))
    {
      assay_window_notify (self, ASSAY_NOTICE_WARNING, "submit", error->message, NULL);
      return;
    }
  assay_draft_save (draft);
  assay_window_notify (self, ASSAY_NOTICE_GOOD, "submit", "The review is submitted.", NULL);
}

/* --- export ---------------------------------------------------------------------------------- */

typedef struct
{
  AssayWindow *window;
  char *path;
} Export;

static void
exported (GObject *source, GAsyncResult *result, gpointer data)
{
  Export *export = data;
  AssayWindow *self = export->window;
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;

  if (assay_report_export_finish (result, &error))
    {
      text = g_strdup_printf ("Exported %s", export->path);
      assay_window_notify (self, ASSAY_NOTICE_GOOD, "export", text, NULL);
    }
  else if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_EXISTS))
    {
      text = g_strdup_printf ("%s exists already; nothing was written.", export->path);
      assay_notice_add_action (
          assay_window_notify (self, ASSAY_NOTICE_WARNING, "export", text, NULL), "Replace it",
          "win.export-replace", g_variant_new_string (export->path));
    }
  else
    assay_window_notify (self, ASSAY_NOTICE_ERROR, "export", "The report was not written.",
                         error->message);
  g_object_unref (export->window);
  g_free (export->path);
  g_free (export);
}

static void
export_to (AssayWindow *self, const char *path, gboolean replace)
{
  Export *export = g_new0 (Export, 1);

  export->window = g_object_ref (self);
  export->path = g_strdup (path);
  assay_notice_box_remove (self->notices, "export");
  assay_report_export_async (self->context, path, replace, NULL, exported, export);
}

static void
export_path (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  export_to (data, g_variant_get_string (parameter, NULL), FALSE);
}

static void
export_replace (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  export_to (data, g_variant_get_string (parameter, NULL), TRUE);
}

/* Where the last report went; at first, where documents are kept. */
static GFile *
export_folder (AssayWindow *self)
{
  const char *folders[] = {assay_session_get_string (self->session, "export-folder"),
                           g_get_user_special_dir (G_USER_DIRECTORY_DOCUMENTS), g_get_home_dir ()};

  for (guint i = 0; i < G_N_ELEMENTS (folders); i++)
    if (folders[i] != NULL && g_file_test (folders[i], G_FILE_TEST_IS_DIR))
      return g_file_new_for_path (folders[i]);
  return NULL;
}

static void
file_chosen (GtkNativeDialog *dialog, int response, AssayWindow *self)
{
  if (response == GTK_RESPONSE_ACCEPT)
    {
      g_autoptr (GFile) file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog));
      g_autofree char *path = file != NULL ? g_file_get_path (file) : NULL;
      g_autofree char *folder = path != NULL ? g_path_get_dirname (path) : NULL;

      /* The dialog has asked already. */
      if (path != NULL)
        export_to (self, path, TRUE);
      if (folder != NULL)
        assay_session_set_string (self->session, "export-folder", folder);
    }
  g_object_unref (dialog);
}

static void
choose_file (AssayWindow *self, const char *ending)
{
  GtkFileChooserNative *dialog = gtk_file_chooser_native_new (
      "Export the report", GTK_WINDOW (self), GTK_FILE_CHOOSER_ACTION_SAVE, "Export", "Cancel");
  g_autofree char *name = g_strdup_printf (
      "%s-%s.%s", assay_task_item_get_id (assay_context_get_task_item (self->context)),
      assay_context_get_candidate (self->context), ending);
  g_autoptr (GFile) folder = export_folder (self);

  gtk_file_chooser_set_current_folder (GTK_FILE_CHOOSER (dialog), folder, NULL);
  gtk_file_chooser_set_current_name (GTK_FILE_CHOOSER (dialog), name);
  g_signal_connect_object (dialog, "response", G_CALLBACK (file_chosen), self, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}

static void
export_as (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  choose_file (data, g_variant_get_string (parameter, NULL));
}

static void
export_usual (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  assay_window_show_page (data, "report");
  choose_file (data, "pdf");
}

static const GActionEntry entries[] = {
    {.name = "score", .activate = score, .parameter_type = "s"},
    {.name = "criterion-step", .activate = criterion_step, .parameter_type = "i"},
    {.name = "show-criterion", .activate = show_criterion, .parameter_type = "s"},
    {.name = "attach", .activate = attach},
    {.name = "judge", .activate = judge, .parameter_type = "(ss)"},
    {.name = "close-anyway", .activate = close_anyway},
    {.name = "undo", .activate = undo},
    {.name = "redo", .activate = redo},
    {.name = "save", .activate = save},
    {.name = "submit", .activate = submit},
    {.name = "export", .activate = export_usual},
    {.name = "export-as", .activate = export_as, .parameter_type = "s"},
    {.name = "export-path", .activate = export_path, .parameter_type = "s"},
    {.name = "export-replace", .activate = export_replace, .parameter_type = "s"},
};

void
assay_window_review_init (AssayWindow *self)
{
  g_action_map_add_action_entries (G_ACTION_MAP (self), entries, G_N_ELEMENTS (entries), self);
  g_signal_connect_object (self->context, "candidate-changed", G_CALLBACK (open_draft), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->context, "draft-changed", G_CALLBACK (enable_review_actions), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->context, "draft-saved", G_CALLBACK (draft_saved), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self, "notify::is-active", G_CALLBACK (focus_left), self,
                           G_CONNECT_SWAPPED);
  enable_review_actions (self);
}

/* Evidence and findings that the review names, shown where they are. */
void
assay_window_show_evidence (AssayWindow *self, const AssayEvidence *evidence)
{
  g_auto (GStrv) parts = NULL;

  if (g_strcmp0 (evidence->kind, "source") == 0)
    {
      assay_window_show_page (self, "source");
      assay_source_page_open (self->source, evidence->ref, (int) evidence->first_line);
    }
  else if (g_strcmp0 (evidence->kind, "finding") == 0)
    assay_findings_bar_select (self->findings, evidence->ref);
  else if (g_strcmp0 (evidence->kind, "plot") == 0)
    {
      /* "numerics/ulp/<workload>/<output>" */
      parts = g_strsplit (evidence->ref, "/", 4);
      assay_window_show_page (self, "numerics");
      if (g_strv_length (parts) == 4)
        assay_numerics_page_choose (self->numerics, parts[2], parts[3]);
    }
  else if (g_strcmp0 (evidence->kind, "log") == 0 || g_strcmp0 (evidence->kind, "run") == 0)
    assay_window_show_page (self, "validity");
}
