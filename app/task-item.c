/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/task-item.h"

#include "engine/base/error.h"

/* What one reading of the folder gives; made on a thread, then only read. */
typedef struct
{
  AssayTask *task;
  char *problem, *spec;
  GHashTable *texts;  /* relative path → text */
  GHashTable *hashes; /* relative path → hex */
} Content;

struct _AssayTaskItem
{
  GObject parent;
  char *folder, *id, *subtitle;
  Content *content;
  gboolean loaded;
  GHashTable *runs; /* candidate → AssayRunModel */
  AssayReviewState state;
  int severity;
  char *count_text;
};

enum
{
  PROP_0,
  PROP_ID,
  PROP_SUBTITLE,
  PROP_STATE,
  PROP_SEVERITY,
  PROP_COUNT_TEXT,
  PROP_LOADED,
  N_PROPS
};

enum
{
  RUN_REPLACED,
  N_SIGNALS
};

static GParamSpec *properties[N_PROPS];
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (AssayTaskItem, assay_task_item, G_TYPE_OBJECT)

/* --- reading the folder, on a thread --------------------------------------------------------- */

static void
content_free (gpointer data)
{
  Content *content = data;

  g_clear_pointer (&content->task, assay_task_free);
  g_clear_pointer (&content->texts, g_hash_table_unref);
  g_clear_pointer (&content->hashes, g_hash_table_unref);
  g_free (content->problem);
  g_free (content->spec);
  g_free (content);
}

static void
read_text (Content *content, const char *relative)
{
  g_autoptr (GError) error = NULL;
  char *text;

  if (relative == NULL || g_hash_table_contains (content->texts, relative))
    return;
  text = assay_task_read_text (content->task, relative, &error);
  if (text == NULL)
    {
      g_debug ("%s", error->message);
      return;
    }
  g_hash_table_insert (content->texts, g_strdup (relative), text);
  g_hash_table_insert (content->hashes, g_strdup (relative),
                       g_compute_checksum_for_string (G_CHECKSUM_SHA256, text, -1));
}

static void
read_texts (Content *content, char **relatives)
{
  for (int i = 0; relatives != NULL && relatives[i] != NULL; i++)
    read_text (content, relatives[i]);
}

static Content *
content_load (const char *folder, GError **error)
{
  g_autoptr (GError) problem = NULL;
  Content *content = g_new0 (Content, 1);

  content->texts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  content->hashes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  content->task = assay_task_load (folder, NULL, &problem);
  if (content->task == NULL)
    {
      content->problem = g_strdup (problem->message);
      content->task = assay_task_load_unchecked (folder, NULL, error);
    }
  if (content->task == NULL)
    {
      content_free (content);
      return NULL;
    }
  read_text (content, ASSAY_TASK_FILE);
  read_text (content, content->task->spec);
  if (content->task->spec != NULL)
    content->spec = g_strdup (g_hash_table_lookup (content->texts, content->task->spec));
  if (content->task->reference != NULL)
    read_texts (content, content->task->reference->sources);
  for (guint i = 0; i < content->task->candidates->len; i++)
    read_texts (content,
                ((AssayCandidate *) g_ptr_array_index (content->task->candidates, i))->sources);
  return content;
}

static void
load_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  g_autoptr (GError) error = NULL;
  Content *content = content_load (data, &error);

  if (content == NULL)
    g_task_return_error (task, g_steal_pointer (&error));
  else
    g_task_return_pointer (task, content, content_free);
}

void
assay_task_item_load_async (AssayTaskItem *self, GCancellable *cancellable,
                            GAsyncReadyCallback callback, gpointer user_data)
{
  g_autoptr (GTask) task = NULL;

  g_return_if_fail (ASSAY_IS_TASK_ITEM (self));
  task = g_task_new (self, cancellable, callback, user_data);
  g_task_set_source_tag (task, assay_task_item_load_async);
  g_task_set_task_data (task, g_strdup (self->folder), g_free);
  g_task_run_in_thread (task, load_thread);
}

static void
describe (AssayTaskItem *self)
{
  const AssayTask *task = self->content->task;
  const AssayCandidate *first =
      task->candidates->len > 0 ? g_ptr_array_index (task->candidates, 0) : NULL;

  if (task->id != NULL)
    {
      g_free (self->id);
      self->id = g_strdup (task->id);
    }
  g_free (self->subtitle);
  self->subtitle =
      g_strdup_printf ("%s · %s", ASSAY_TASK_CATEGORIES[task->category],
                       first != NULL ? ASSAY_TASK_FRAMEWORKS[first->framework] : "no candidate");
}

gboolean
assay_task_item_load_finish (AssayTaskItem *self, GAsyncResult *result, GError **error)
{
  g_autoptr (GError) local = NULL;
  Content *content = g_task_propagate_pointer (G_TASK (result), &local);

  if (g_error_matches (local, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      g_propagate_error (error, g_steal_pointer (&local));
      return FALSE;
    }
  self->loaded = TRUE;
  if (content != NULL && self->content == NULL)
    {
      self->content = content;
      describe (self);
    }
  else if (content != NULL)
    content_free (content);
  else
    {
      g_free (self->subtitle);
      self->subtitle = g_strdup ("cannot be read");
    }
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_ID]);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_SUBTITLE]);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_LOADED]);
  if (local == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&local));
  return FALSE;
}

/* --- runs ------------------------------------------------------------------------------------ */

static void
recount (AssayTaskItem *self)
{
  GHashTableIter iter;
  gpointer value;
  guint total[4] = {0};
  int severity = -1;
  char *text = NULL;

  g_hash_table_iter_init (&iter, self->runs);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      guint counts[4];

      assay_run_model_count (value, counts);
      for (int i = 0; i < 4; i++)
        total[i] += counts[i];
    }
  for (int i = ASSAY_SEVERITY_INFO; i >= 0; i--)
    if (total[i] > 0)
      severity = i;
  if (severity >= 0)
    text = assay_severity_count (severity, total[severity]);
  if (severity == self->severity && g_strcmp0 (text, self->count_text) == 0)
    {
      g_free (text);
      return;
    }
  self->severity = severity;
  g_free (self->count_text);
  self->count_text = text;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_SEVERITY]);
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_COUNT_TEXT]);
}

static void
run_changed (AssayTaskItem *self, guint what)
{
  if (what & ASSAY_RUN_CHANGED_FINDINGS)
    recount (self);
}

AssayRunModel *
assay_task_item_get_run (AssayTaskItem *self, const char *candidate)
{
  return candidate != NULL ? g_hash_table_lookup (self->runs, candidate) : NULL;
}

void
assay_task_item_set_run (AssayTaskItem *self, const char *candidate, AssayRunModel *run)
{
  g_return_if_fail (ASSAY_IS_TASK_ITEM (self) && candidate != NULL);
  g_hash_table_replace (self->runs, g_strdup (candidate), g_object_ref (run));
  g_signal_connect_object (run, "changed", G_CALLBACK (run_changed), self, G_CONNECT_SWAPPED);
  recount (self);
  g_signal_emit (self, signals[RUN_REPLACED], 0, candidate);
}

typedef struct
{
  char *candidate, *folder, *started;
  AssayRun *run;
} Found;

static void
found_free (gpointer data)
{
  Found *found = data;

  g_clear_pointer (&found->run, assay_run_free);
  g_free (found->candidate);
  g_free (found->folder);
  g_free (found->started);
  g_free (found);
}

static void
keep_latest (GHashTable *latest, const char *folder)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayRun) run = assay_run_load (folder, &error);
  Found *known, *found;

  if (run == NULL || run->candidate == NULL)
    {
      g_debug ("passed over: %s", error != NULL ? error->message : folder);
      return;
    }
  known = g_hash_table_lookup (latest, run->candidate);
  if (known != NULL && g_strcmp0 (known->started, run->started) >= 0)
    return;
  found = g_new0 (Found, 1);
  found->candidate = g_strdup (run->candidate);
  found->folder = g_strdup (folder);
  found->started = g_strdup (run->started);
  found->run = g_steal_pointer (&run);
  g_hash_table_replace (latest, found->candidate, found);
}

static void
find_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  GHashTable *latest = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, found_free);
  const char *folder = data;
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      if (g_file_test (path, G_FILE_TEST_IS_DIR))
        keep_latest (latest, path);
    }
  g_task_return_pointer (task, latest, (GDestroyNotify) g_hash_table_unref);
}

static void
runs_found (GObject *source, GAsyncResult *result, gpointer data)
{
  AssayTaskItem *self = ASSAY_TASK_ITEM (source);
  g_autoptr (GHashTable) latest = g_task_propagate_pointer (G_TASK (result), NULL);
  GHashTableIter iter;
  gpointer value;

  if (latest == NULL)
    return;
  g_hash_table_iter_init (&iter, latest);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      Found *found = value;
      g_autoptr (AssayRunModel) run = NULL;

      if (g_hash_table_contains (self->runs, found->candidate))
        continue; /* started meanwhile */
      run = assay_run_model_new (found->run->id, found->folder);
      assay_run_model_take (run, g_steal_pointer (&found->run));
      assay_task_item_set_run (self, found->candidate, run);
    }
}

void
assay_task_item_find_runs (AssayTaskItem *self, const char *workspace)
{
  g_autoptr (GTask) task = NULL;

  g_return_if_fail (ASSAY_IS_TASK_ITEM (self));
  task = g_task_new (self, NULL, runs_found, NULL);
  g_task_set_source_tag (task, assay_task_item_find_runs);
  g_task_set_task_data (task, g_build_filename (workspace, "runs", self->id, NULL), g_free);
  g_task_run_in_thread (task, find_thread);
}

/* --- reading --------------------------------------------------------------------------------- */

AssayTaskItem *
assay_task_item_new (const char *folder)
{
  AssayTaskItem *self = g_object_new (ASSAY_TYPE_TASK_ITEM, NULL);

  self->folder = g_canonicalize_filename (folder, NULL);
  self->id = g_path_get_basename (self->folder);
  self->subtitle = g_strdup ("reading …");
  return self;
}

const char *
assay_task_item_get_folder (AssayTaskItem *self)
{
  return self->folder;
}

const char *
assay_task_item_get_id (AssayTaskItem *self)
{
  return self->id;
}

gboolean
assay_task_item_is_loaded (AssayTaskItem *self)
{
  return self->loaded;
}

const AssayTask *
assay_task_item_get_task (AssayTaskItem *self)
{
  return self->content != NULL ? self->content->task : NULL;
}

const char *
assay_task_item_get_problem (AssayTaskItem *self)
{
  return self->content != NULL ? self->content->problem : NULL;
}

const char *
assay_task_item_get_spec (AssayTaskItem *self)
{
  return self->content != NULL ? self->content->spec : NULL;
}

const char *
assay_task_item_get_text (AssayTaskItem *self, const char *relative)
{
  return self->content != NULL && relative != NULL
             ? g_hash_table_lookup (self->content->texts, relative)
             : NULL;
}

const char *
assay_task_item_get_hash (AssayTaskItem *self, const char *relative)
{
  return self->content != NULL && relative != NULL
             ? g_hash_table_lookup (self->content->hashes, relative)
             : NULL;
}

AssayReviewState
assay_task_item_get_state (AssayTaskItem *self)
{
  return self->state;
}

void
assay_task_item_set_state (AssayTaskItem *self, AssayReviewState state)
{
  g_return_if_fail (ASSAY_IS_TASK_ITEM (self));
  if (self->state == state)
    return;
  self->state = state;
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_STATE]);
}

static void
assay_task_item_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  AssayTaskItem *self = ASSAY_TASK_ITEM (object);

  switch (id)
    {
    case PROP_ID:
      g_value_set_string (value, self->id);
      break;
    case PROP_SUBTITLE:
      g_value_set_string (value, self->subtitle);
      break;
    case PROP_STATE:
      g_value_set_int (value, (int) self->state);
      break;
    case PROP_SEVERITY:
      g_value_set_int (value, self->severity);
      break;
    case PROP_COUNT_TEXT:
      g_value_set_string (value, self->count_text);
      break;
    case PROP_LOADED:
      g_value_set_boolean (value, self->loaded);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
assay_task_item_finalize (GObject *object)
{
  AssayTaskItem *self = ASSAY_TASK_ITEM (object);

  g_clear_pointer (&self->content, content_free);
  g_hash_table_unref (self->runs);
  g_free (self->folder);
  g_free (self->id);
  g_free (self->subtitle);
  g_free (self->count_text);
  G_OBJECT_CLASS (assay_task_item_parent_class)->finalize (object);
}

static void
assay_task_item_class_init (AssayTaskItemClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);
  GParamFlags flags = G_PARAM_READABLE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS;

  object_class->finalize = assay_task_item_finalize;
  object_class->get_property = assay_task_item_get_property;
  properties[PROP_ID] = g_param_spec_string ("id", NULL, NULL, NULL, flags);
  properties[PROP_SUBTITLE] = g_param_spec_string ("subtitle", NULL, NULL, NULL, flags);
  properties[PROP_STATE] =
      g_param_spec_int ("state", NULL, NULL, 0, ASSAY_REVIEW_SUBMITTED, 0, flags);
  properties[PROP_SEVERITY] =
      g_param_spec_int ("severity", NULL, NULL, -1, ASSAY_SEVERITY_INFO, -1, flags);
  properties[PROP_COUNT_TEXT] = g_param_spec_string ("count-text", NULL, NULL, NULL, flags);
  properties[PROP_LOADED] = g_param_spec_boolean ("loaded", NULL, NULL, FALSE, flags);
  g_object_class_install_properties (object_class, N_PROPS, properties);
  signals[RUN_REPLACED] =
      g_signal_new ("run-replaced", G_TYPE_FROM_CLASS (class), G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                    NULL, G_TYPE_NONE, 1, G_TYPE_STRING);
}

static void
assay_task_item_init (AssayTaskItem *self)
{
  self->runs = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_object_unref);
  self->severity = -1;
}
