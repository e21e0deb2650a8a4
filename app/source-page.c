/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/source-page.h"

#include "engine/figures/source-lines.h"
#include "widgets/source-view.h"

#define ARTIFACTS "artifacts/" /* of a run */
#define MOST_PTX (16 << 20)    /* bytes; longer ones are for other tools */

typedef enum
{
  REFERENCE,
  CANDIDATE,
  N_SIDES
} Side;

struct _AssaySourcePage
{
  GtkWidget parent;
  GtkWidget *box;
  GtkWidget *reference_side, *candidate_side;
  GtkDropDown *reference_file, *candidate_file;
  GtkEntry *reference_line, *candidate_line;
  AssaySourceView *reference_view, *candidate_view;
  GtkLabel *reference_title, *marks;
  GtkToggleButton *ptx, *sass, *both;
  GtkStringList *files[N_SIDES];
  AssayContext *context;
  AssayPtxLines *ptx_lines; /* of the PTX that is shown; or NULL */
  GCancellable *cancellable;
  Side last_side;
  gboolean filling, following;
};

G_DEFINE_FINAL_TYPE (AssaySourcePage, assay_source_page, GTK_TYPE_WIDGET)

static AssaySourceView *
view_of (AssaySourcePage *self, Side side)
{
  return side == REFERENCE ? self->reference_view : self->candidate_view;
}

static GtkDropDown *
chooser_of (AssaySourcePage *self, Side side)
{
  return side == REFERENCE ? self->reference_file : self->candidate_file;
}

static void
show_findings (AssaySourcePage *self)
{
  AssayRunModel *run = assay_context_get_run (self->context);
  GPtrArray *findings = run != NULL ? assay_run_model_get (run)->findings : NULL;
  g_autoptr (GPtrArray) copies =
      g_ptr_array_new_with_free_func ((GDestroyNotify) assay_finding_free);
  g_autofree char *text = NULL;
  guint count;

  for (guint i = 0; findings != NULL && i < findings->len; i++)
    g_ptr_array_add (copies, assay_finding_copy (g_ptr_array_index (findings, i)));
  assay_source_view_set_findings (self->reference_view, copies);
  assay_source_view_set_findings (self->candidate_view, copies);
  count = assay_source_view_get_n_marks (self->candidate_view)
          + assay_source_view_get_n_marks (self->reference_view);
  text = count == 0
             ? g_strdup ("no finding points here")
             : g_strdup_printf ("%u %s in the gutter", count, count == 1 ? "finding" : "findings");
  gtk_label_set_text (self->marks, text);
}

static void
show_heat (AssaySourcePage *self)
{
  AssayRunModel *run = assay_context_get_run (self->context);
  const char *file = assay_source_view_get_file (self->candidate_view);
  g_autoptr (GArray) heat =
      run != NULL && file != NULL ? assay_line_heat (assay_run_model_get (run), file) : NULL;

  assay_source_view_set_heat (self->candidate_view, heat);
}

/* --- PTX and machine code -------------------------------------------------------------------- */

/* What a run leaves of its candidate's code, and how the texts name their source. */
static const struct
{
  const char *ending, *title;
  AssayPtxLines *(*read) (const char *text);
} listings[] = {
    {".ptx", "PTX", assay_ptx_lines_new},
    {".sass", "SASS", assay_sass_lines_new},
};

static GtkToggleButton *
toggle_of (AssaySourcePage *self, int listing)
{
  return listing == 0 ? self->ptx : self->sass;
}

/* (transfer full) (nullable): "artifacts/sm_80.ptx", where the run that is shown has it. */
static char *
listing_of_run (AssaySourcePage *self, int listing)
{
  AssayRunModel *run = assay_context_get_run (self->context);
  const char *target = run != NULL ? assay_run_model_get (run)->device.target : NULL;
  g_autofree char *name =
      target != NULL ? g_strconcat (ARTIFACTS, target, listings[listing].ending, NULL) : NULL;
  g_autofree char *path =
      name != NULL ? g_build_filename (assay_run_model_get_folder (run), name, NULL) : NULL;

  return path != NULL && g_file_test (path, G_FILE_TEST_IS_REGULAR) ? g_steal_pointer (&name)
                                                                    : NULL;
}

/* Which of them a file is, -1 for the task's own. */
static int
listing_of (const char *file)
{
  if (file == NULL || !g_str_has_prefix (file, ARTIFACTS))
    return -1;
  for (int i = 0; i < (int) G_N_ELEMENTS (listings); i++)
    if (g_str_has_suffix (file, listings[i].ending))
      return i;
  return -1;
}

static gboolean
is_ptx (const char *file)
{
  return listing_of (file) >= 0;
}

typedef struct
{
  char *name, *path, *text;
  AssayPtxLines *lines;
} Ptx;

static void
ptx_free (gpointer data)
{
  Ptx *ptx = data;

  g_free (ptx->name);
  g_free (ptx->path);
  g_free (ptx->text);
  g_clear_pointer (&ptx->lines, assay_ptx_lines_free);
  g_free (ptx);
}

static void
read_ptx (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Ptx *ptx = data;
  GError *error = NULL;
  gsize length;

  if (!g_file_get_contents (ptx->path, &ptx->text, &length, &error))
    g_task_return_error (task, error);
  else if (length > MOST_PTX || !g_utf8_validate (ptx->text, (gssize) length, NULL))
    g_task_return_new_error (task, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                             "%s is longer than 16 MiB, or no text", ptx->path);
  else
    {
      ptx->lines = listings[listing_of (ptx->name)].read (ptx->text);
      g_task_return_boolean (task, TRUE);
    }
}

static void
ptx_ready (GObject *source, GAsyncResult *result, gpointer unused)
{
  AssaySourcePage *self = ASSAY_SOURCE_PAGE (source);
  g_autoptr (GError) error = NULL;
  Ptx *ptx = g_task_get_task_data (G_TASK (result));
  gboolean read = g_task_propagate_boolean (G_TASK (result), &error);

  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED) || self->context == NULL)
    return;
  self->following = TRUE;
  assay_source_view_set_text (self->reference_view, ptx->name, read ? ptx->text : error->message);
  self->following = FALSE;
  g_clear_pointer (&self->ptx_lines, assay_ptx_lines_free);
  self->ptx_lines = g_steal_pointer (&ptx->lines);
}

static void
show_ptx (AssaySourcePage *self, const char *name)
{
  g_autoptr (GTask) task = NULL;
  Ptx *ptx = g_new0 (Ptx, 1);

  ptx->name = g_strdup (name);
  ptx->path = g_build_filename (assay_run_model_get_folder (assay_context_get_run (self->context)),
                                name, NULL);
  task = g_task_new (self, self->cancellable, ptx_ready, NULL);
  g_task_set_source_tag (task, show_ptx);
  g_task_set_task_data (task, ptx, ptx_free);
  g_task_run_in_thread (task, read_ptx);
}

/* What one side looks at, the other shows. */
static void
candidate_line_changed (AssaySourcePage *self, int line)
{
  const char *file = assay_source_view_get_file (self->candidate_view);
  int at = self->ptx_lines != NULL && !self->following && file != NULL
               ? assay_ptx_lines_find (self->ptx_lines, file, line)
               : 0;

  if (at == 0)
    return;
  self->following = TRUE;
  assay_source_view_go_to_line (self->reference_view, at);
  self->following = FALSE;
}

static void
reference_line_changed (AssaySourcePage *self, int line)
{
  const char *file = assay_source_view_get_file (self->candidate_view);
  int at = self->ptx_lines != NULL && !self->following && file != NULL
               ? assay_ptx_lines_source (self->ptx_lines, file, line)
               : 0;

  if (at == 0)
    return;
  self->following = TRUE;
  assay_source_view_go_to_line (self->candidate_view, at);
  self->following = FALSE;
}

/* --- files ----------------------------------------------------------------------------------- */

static void
stop_reading (AssaySourcePage *self)
{
  g_cancellable_cancel (self->cancellable);
  g_object_unref (self->cancellable);
  self->cancellable = g_cancellable_new ();
  g_clear_pointer (&self->ptx_lines, assay_ptx_lines_free);
}

static void
show_file (AssaySourcePage *self, Side side)
{
  AssayTaskItem *item = NULL;
  GtkStringObject *chosen = gtk_drop_down_get_selected_item (chooser_of (self, side));
  const char *path = chosen != NULL ? gtk_string_object_get_string (chosen) : NULL;

  if (self->context != NULL)
    item = assay_context_get_task_item (self->context);
  if (self->filling || item == NULL)
    return;
  if (g_strcmp0 (assay_source_view_get_file (view_of (self, side)), path) == 0)
    return;
  if (side == REFERENCE)
    {
      stop_reading (self);
      self->filling = TRUE; /* it follows, and chooses nothing */
      for (int i = 0; i < (int) G_N_ELEMENTS (listings); i++)
        gtk_toggle_button_set_active (toggle_of (self, i), listing_of (path) == i);
      self->filling = FALSE;
      gtk_label_set_text (self->reference_title,
                          is_ptx (path) ? listings[listing_of (path)].title : "Reference");
      if (is_ptx (path))
        gtk_toggle_button_set_active (self->both, TRUE);
    }
  if (is_ptx (path))
    {
      show_ptx (self, path);
      return;
    }
  assay_source_view_set_text (view_of (self, side), path, assay_task_item_get_text (item, path));
  if (side == CANDIDATE)
    show_heat (self);
  show_findings (self);
}

static void
reference_chosen (AssaySourcePage *self)
{
  show_file (self, REFERENCE);
}

static void
candidate_chosen (AssaySourcePage *self)
{
  show_file (self, CANDIDATE);
}

static void
add_files (GtkStringList *list, char **sources)
{
  for (int i = 0; sources != NULL && sources[i] != NULL; i++)
    gtk_string_list_append (list, sources[i]);
}

static guint
find_file (GtkStringList *list, const char *path)
{
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (list)); i++)
    if (g_strcmp0 (gtk_string_list_get_string (list, i), path) == 0)
      return i;
  return GTK_INVALID_LIST_POSITION;
}

static void
offer_listing (AssaySourcePage *self, int listing)
{
  g_autofree char *name = listing_of_run (self, listing);
  GtkStringList *files = self->files[REFERENCE];
  guint count = g_list_model_get_n_items (G_LIST_MODEL (files));
  gboolean shown = listing_of (assay_source_view_get_file (self->reference_view)) == listing;

  gtk_widget_set_sensitive (GTK_WIDGET (toggle_of (self, listing)), name != NULL);
  for (guint i = count; i-- > 0;)
    if (listing_of (gtk_string_list_get_string (files, i)) == listing
        && g_strcmp0 (gtk_string_list_get_string (files, i), name) != 0)
      gtk_string_list_remove (files, i);
  if (name != NULL && find_file (files, name) == GTK_INVALID_LIST_POSITION)
    gtk_string_list_append (files, name);
  else if (name != NULL && shown)
    show_ptx (self, name);
}

/* The listings of the run at the end of the files; those of a run before are none of this one's. */
static void
offer_ptx (AssaySourcePage *self)
{
  for (int i = 0; i < (int) G_N_ELEMENTS (listings); i++)
    offer_listing (self, i);
}

static void
listing_toggled (AssaySourcePage *self, int listing)
{
  g_autofree char *name = NULL;
  gboolean wanted = gtk_toggle_button_get_active (toggle_of (self, listing));
  gboolean shown = listing_of (assay_source_view_get_file (self->reference_view)) == listing;

  if (self->context == NULL || self->filling || wanted == shown)
    return;
  name = wanted ? listing_of_run (self, listing) : NULL;
  gtk_drop_down_set_selected (self->reference_file,
                              name != NULL ? find_file (self->files[REFERENCE], name) : 0);
}

static void
ptx_toggled (AssaySourcePage *self)
{
  listing_toggled (self, 0);
}

static void
sass_toggled (AssaySourcePage *self)
{
  listing_toggled (self, 1);
}

static void
run_changed (AssaySourcePage *self, guint what)
{
  if (what & ASSAY_RUN_CHANGED_FINDINGS)
    show_findings (self);
  if (what & (ASSAY_RUN_CHANGED_WORKLOADS | ASSAY_RUN_CHANGED_STATE))
    show_heat (self);
  if (what & ASSAY_RUN_CHANGED_STATE)
    offer_ptx (self);
}

static void
fill (AssaySourcePage *self)
{
  AssayTaskItem *item = assay_context_get_task_item (self->context);
  const AssayTask *task = assay_context_get_task (self->context);
  const AssayCandidate *candidate;

  self->filling = TRUE;
  for (Side side = REFERENCE; side < N_SIDES; side++)
    gtk_string_list_splice (self->files[side], 0,
                            g_list_model_get_n_items (G_LIST_MODEL (self->files[side])), NULL);
  if (task != NULL)
    {
      if (task->reference != NULL)
        add_files (self->files[REFERENCE], task->reference->sources);
      gtk_string_list_append (self->files[REFERENCE], ASSAY_TASK_FILE);
      candidate = assay_task_candidate (task, assay_context_get_candidate (self->context));
      if (candidate != NULL)
        add_files (self->files[CANDIDATE], candidate->sources);
    }
  self->filling = FALSE;
  for (Side side = REFERENCE; side < N_SIDES; side++)
    {
      /* The same path in another task is another text. */
      assay_source_view_set_text (view_of (self, side), NULL, NULL);
      if (item != NULL)
        show_file (self, side);
    }
  offer_ptx (self);
}

static const char *
candidate_with (const AssayTask *task, const char *path)
{
  for (guint c = 0; c < task->candidates->len; c++)
    {
      const AssayCandidate *candidate = g_ptr_array_index (task->candidates, c);

      if (candidate->sources != NULL
          && g_strv_contains ((const char *const *) candidate->sources, path))
        return candidate->name;
    }
  return NULL;
}

void
assay_source_page_open (AssaySourcePage *self, const char *path, int line)
{
  const AssayTask *task = assay_context_get_task (self->context);
  Side side = CANDIDATE;
  guint position;

  g_return_if_fail (ASSAY_IS_SOURCE_PAGE (self));
  if (task == NULL || path == NULL)
    return;
  position = find_file (self->files[CANDIDATE], path);
  if (position == GTK_INVALID_LIST_POSITION && candidate_with (task, path) != NULL)
    {
      assay_context_set_candidate (self->context, candidate_with (task, path));
      position = find_file (self->files[CANDIDATE], path);
    }
  if (position == GTK_INVALID_LIST_POSITION)
    {
      side = REFERENCE;
      position = find_file (self->files[REFERENCE], path);
    }
  if (position == GTK_INVALID_LIST_POSITION)
    return;
  gtk_drop_down_set_selected (chooser_of (self, side), position);
  if (line > 0)
    assay_source_view_go_to_line (view_of (self, side), line);
  gtk_widget_set_visible (side == REFERENCE ? self->reference_side : self->candidate_side, TRUE);
  gtk_widget_grab_focus (GTK_WIDGET (view_of (self, side)));
  self->last_side = side;
}

AssayEvidence *
assay_source_page_get_selection (AssaySourcePage *self)
{
  AssaySourceView *view = view_of (self, self->last_side);
  AssayTaskItem *item = assay_context_get_task_item (self->context);
  g_autofree char *name = NULL;
  AssayEvidence *evidence;
  int first, last;

  if (assay_source_view_get_file (view) == NULL || item == NULL)
    return NULL;
  evidence = assay_evidence_new ();
  evidence->kind = g_strdup ("source");
  evidence->ref = g_strdup (assay_source_view_get_file (view));
  evidence->quote = assay_source_view_get_selection (view, &first, &last);
  evidence->first_line = first;
  evidence->last_line = last;
  evidence->sha256 = g_strdup (assay_task_item_get_hash (item, evidence->ref));
  name = g_path_get_basename (evidence->ref);
  evidence->title = first == last ? g_strdup_printf ("%s %d", name, first)
                                  : g_strdup_printf ("%s %d–%d", name, first, last);
  return evidence;
}

static void
go_to (GtkEntry *entry, AssaySourceView *view)
{
  gint64 line = g_ascii_strtoll (gtk_editable_get_text (GTK_EDITABLE (entry)), NULL, 10);

  if (line > 0)
    {
      assay_source_view_go_to_line (view, (int) MIN (line, G_MAXINT));
      gtk_widget_grab_focus (GTK_WIDGET (view));
    }
}

static void
reference_line_entered (AssaySourcePage *self)
{
  go_to (self->reference_line, self->reference_view);
}

static void
candidate_line_entered (AssaySourcePage *self)
{
  go_to (self->candidate_line, self->candidate_view);
}

static void
focus_changed (AssaySourcePage *self, GParamSpec *pspec, GtkEventControllerFocus *controller)
{
  if (gtk_event_controller_focus_contains_focus (controller))
    self->last_side =
        gtk_event_controller_get_widget (GTK_EVENT_CONTROLLER (controller)) == self->reference_side
            ? REFERENCE
            : CANDIDATE;
}

static void
watch_focus (AssaySourcePage *self, GtkWidget *side)
{
  GtkEventController *controller = gtk_event_controller_focus_new ();

  g_signal_connect_object (controller, "notify::contains-focus", G_CALLBACK (focus_changed), self,
                           G_CONNECT_SWAPPED);
  gtk_widget_add_controller (side, controller);
}

void
assay_source_page_set_context (AssaySourcePage *self, AssayContext *context)
{
  g_return_if_fail (ASSAY_IS_SOURCE_PAGE (self));
  self->context = g_object_ref (context);
  g_signal_connect_object (context, "task-changed", G_CALLBACK (fill), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (context, "candidate-changed", G_CALLBACK (fill), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (context, "run-changed", G_CALLBACK (run_changed), self,
                           G_CONNECT_SWAPPED);
  fill (self);
}

static void
assay_source_page_dispose (GObject *object)
{
  AssaySourcePage *self = ASSAY_SOURCE_PAGE (object);

  g_cancellable_cancel (self->cancellable);
  g_clear_pointer (&self->box, gtk_widget_unparent);
  g_clear_pointer (&self->ptx_lines, assay_ptx_lines_free);
  g_clear_object (&self->context);
  G_OBJECT_CLASS (assay_source_page_parent_class)->dispose (object);
}

static void
assay_source_page_finalize (GObject *object)
{
  g_clear_object (&ASSAY_SOURCE_PAGE (object)->cancellable);
  G_OBJECT_CLASS (assay_source_page_parent_class)->finalize (object);
}

static void
assay_source_page_class_init (AssaySourcePageClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = assay_source_page_dispose;
  G_OBJECT_CLASS (class)->finalize = assay_source_page_finalize;
  g_type_ensure (ASSAY_TYPE_SOURCE_VIEW);
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_template_from_resource (widget_class, "/org/assay/Assay/ui/source-page.ui");
  gtk_widget_class_bind_template_child (widget_class, AssaySourcePage, box);
  gtk_widget_class_bind_template_child (widget_class, AssaySourcePage, reference_side);
  gtk_widget_class_bind_template_child (widget_class, AssaySourcePage, candidate_side);
  gtk_widget_class_bind_template_child (widget_class, AssaySourcePage, reference_file);
  gtk_widget_class_bind_template_child (widget_class, AssaySourcePage, candidate_file);
  gtk_widget_class_bind_template_child (widget_class, AssaySourcePage, reference_line);
  gtk_widget_class_bind_template_child (widget_class, AssaySourcePage, candidate_line);
  gtk_widget_class_bind_template_child (widget_class, AssaySourcePage, reference_view);
  gtk_widget_class_bind_template_child (widget_class, AssaySourcePage, candidate_view);
  gtk_widget_class_bind_template_child (widget_class, AssaySourcePage, marks);
  gtk_widget_class_bind_template_child (widget_class, AssaySourcePage, reference_title);
  gtk_widget_class_bind_template_child (widget_class, AssaySourcePage, ptx);
  gtk_widget_class_bind_template_child (widget_class, AssaySourcePage, sass);
  gtk_widget_class_bind_template_child (widget_class, AssaySourcePage, both);
  gtk_widget_class_bind_template_callback (widget_class, ptx_toggled);
  gtk_widget_class_bind_template_callback (widget_class, sass_toggled);
  gtk_widget_class_bind_template_callback (widget_class, reference_line_changed);
  gtk_widget_class_bind_template_callback (widget_class, candidate_line_changed);
  gtk_widget_class_bind_template_callback (widget_class, reference_chosen);
  gtk_widget_class_bind_template_callback (widget_class, candidate_chosen);
  gtk_widget_class_bind_template_callback (widget_class, reference_line_entered);
  gtk_widget_class_bind_template_callback (widget_class, candidate_line_entered);
}

/* Long paths give way at their start, so that the page fits a narrow window. */
static void
setup_path (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer unused)
{
  GtkWidget *label = gtk_label_new (NULL);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_START);
  gtk_label_set_width_chars (GTK_LABEL (label), 8);
  gtk_list_item_set_child (item, label);
}

static void
bind_path (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer unused)
{
  const char *path = gtk_string_object_get_string (gtk_list_item_get_item (item));

  gtk_label_set_text (GTK_LABEL (gtk_list_item_get_child (item)), path);
  gtk_widget_set_tooltip_text (gtk_list_item_get_child (item), path);
}

static void
assay_source_page_init (AssaySourcePage *self)
{
  self->cancellable = g_cancellable_new ();
  gtk_widget_init_template (GTK_WIDGET (self));
  for (Side side = REFERENCE; side < N_SIDES; side++)
    {
      g_autoptr (GtkListItemFactory) factory = gtk_signal_list_item_factory_new ();

      g_signal_connect (factory, "setup", G_CALLBACK (setup_path), NULL);
      g_signal_connect (factory, "bind", G_CALLBACK (bind_path), NULL);
      gtk_drop_down_set_factory (chooser_of (self, side), factory);
      self->files[side] = gtk_string_list_new (NULL);
      gtk_drop_down_set_model (chooser_of (self, side), G_LIST_MODEL (self->files[side]));
      g_object_unref (self->files[side]);
    }
  watch_focus (self, self->reference_side);
  watch_focus (self, self->candidate_side);
  self->last_side = CANDIDATE;
}
