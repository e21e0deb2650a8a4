/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/session.h"

#include "engine/base/json.h"

#define WRITE_AFTER_S 2
#define MOST_TASKS 500 /* of one folder */

struct _AssaySession
{
  GObject parent;
  char *workspace, *file;
  AssayEngineClient *engine;
  GListStore *tasks;
  JsonObject *values;
  guint write_source;
  AssayRubric *rubric;
  char *rubric_problem;
  GHashTable *drafts; /* task folder and candidate → AssayDraft */
};

G_DEFINE_FINAL_TYPE (AssaySession, assay_session, G_TYPE_OBJECT)

/* --- what is remembered ---------------------------------------------------------------------- */

static void
load_values (AssaySession *self)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonNode) node = assay_json_load (self->file, &ASSAY_JSON_LIMITS_MESSAGE, &error);

  if (node != NULL && JSON_NODE_HOLDS_OBJECT (node))
    self->values = json_object_ref (json_node_get_object (node));
  else
    self->values = json_object_new ();
  if (error != NULL)
    g_debug ("nothing remembered: %s", error->message);
}

static JsonNode *
values_node (AssaySession *self)
{
  JsonNode *node = json_node_new (JSON_NODE_OBJECT);
  JsonArray *tasks = json_array_new ();

  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (self->tasks)); i++)
    {
      g_autoptr (AssayTaskItem) item = g_list_model_get_item (G_LIST_MODEL (self->tasks), i);

      json_array_add_string_element (tasks, assay_task_item_get_folder (item));
    }
  json_object_set_array_member (self->values, "tasks", tasks);
  json_object_set_int_member (self->values, "version", 1);
  json_node_set_object (node, self->values);
  return node;
}

static gboolean
save_values (JsonNode *node, const char *file)
{
  g_autofree char *folder = g_path_get_dirname (file);
  g_autoptr (GError) error = NULL;

  g_mkdir_with_parents (folder, 0700);
  if (assay_json_save (node, file, &error))
    return TRUE;
  g_message ("the session is not remembered: %s", error->message);
  return FALSE;
}

typedef struct
{
  JsonNode *node;
  char *file;
} Save;

static void
save_free (gpointer data)
{
  Save *save = data;

  json_node_unref (save->node);
  g_free (save->file);
  g_free (save);
}

static void
save_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Save *save = data;

  g_task_return_boolean (task, save_values (save->node, save->file));
}

static gboolean
write_later (gpointer data)
{
  AssaySession *self = data;
  g_autoptr (JsonNode) node = values_node (self);
  g_autoptr (GTask) task = g_task_new (self, NULL, NULL, NULL);
  Save *save = g_new0 (Save, 1);

  self->write_source = 0;
  save->node = json_node_copy (node);
  save->file = g_strdup (self->file);
  g_task_set_source_tag (task, write_later);
  g_task_set_task_data (task, save, save_free);
  g_task_run_in_thread (task, save_thread);
  return G_SOURCE_REMOVE;
}

static void
changed (AssaySession *self)
{
  if (self->write_source == 0)
    self->write_source = g_timeout_add_seconds (WRITE_AFTER_S, write_later, self);
}

void
assay_session_flush (AssaySession *self)
{
  g_autoptr (JsonNode) node = NULL;

  g_return_if_fail (ASSAY_IS_SESSION (self));
  g_clear_handle_id (&self->write_source, g_source_remove);
  node = values_node (self);
  save_values (node, self->file);
}

const char *
assay_session_get_string (AssaySession *self, const char *key)
{
  return assay_json_string (self->values, key);
}

gint64
assay_session_get_int (AssaySession *self, const char *key, gint64 otherwise)
{
  return assay_json_int (self->values, key, otherwise);
}

void
assay_session_set_string (AssaySession *self, const char *key, const char *value)
{
  if (g_strcmp0 (assay_json_string (self->values, key), value) == 0)
    return;
  json_object_set_string_member (self->values, key, value);
  changed (self);
}

void
assay_session_set_int (AssaySession *self, const char *key, gint64 value)
{
  if (json_object_has_member (self->values, key) && assay_json_int (self->values, key, 0) == value)
    return;
  json_object_set_int_member (self->values, key, value);
  changed (self);
}

GStrv
assay_session_get_last_tasks (AssaySession *self)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  JsonArray *tasks = assay_json_array (self->values, "tasks");

  for (guint i = 0; tasks != NULL && i < json_array_get_length (tasks); i++)
    {
      JsonNode *node = json_array_get_element (tasks, i);

      if (json_node_get_value_type (node) == G_TYPE_STRING
          && g_file_test (json_node_get_string (node), G_FILE_TEST_IS_DIR))
        g_strv_builder_add (builder, json_node_get_string (node));
    }
  return g_strv_builder_end (builder);
}

/* --- tasks ----------------------------------------------------------------------------------- */

static void
task_loaded (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (AssaySession) self = data;
  g_autoptr (GError) error = NULL;

  if (!assay_task_item_load_finish (ASSAY_TASK_ITEM (source), result, &error))
    g_debug ("%s", error->message);
  assay_task_item_find_runs (ASSAY_TASK_ITEM (source), self->workspace);
}

AssayTaskItem *
assay_session_add_task (AssaySession *self, const char *folder)
{
  g_autoptr (AssayTaskItem) item = NULL;

  g_return_val_if_fail (ASSAY_IS_SESSION (self), NULL);
  item = assay_task_item_new (folder);
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (self->tasks)); i++)
    {
      g_autoptr (AssayTaskItem) known = g_list_model_get_item (G_LIST_MODEL (self->tasks), i);

      if (g_str_equal (assay_task_item_get_folder (known), assay_task_item_get_folder (item)))
        return known; /* the list holds it */
    }
  g_list_store_append (self->tasks, item);
  assay_task_item_load_async (item, NULL, task_loaded, g_object_ref (self));
  changed (self);
  return item;
}

static gboolean
is_task_folder (const char *folder)
{
  g_autofree char *file = g_build_filename (folder, ASSAY_TASK_FILE, NULL);

  return g_file_test (file, G_FILE_TEST_IS_REGULAR);
}

static int
compare_names (gconstpointer a, gconstpointer b)
{
  return g_strcmp0 (*(const char *const *) a, *(const char *const *) b);
}

gboolean
assay_session_add_tasks_below (AssaySession *self, const char *folder)
{
  g_autoptr (GPtrArray) found = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) dir = NULL;
  const char *name;

  if (is_task_folder (folder))
    {
      assay_session_add_task (self, folder);
      return TRUE;
    }
  dir = g_dir_open (folder, 0, NULL);
  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL && found->len < MOST_TASKS)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      if (is_task_folder (path))
        g_ptr_array_add (found, g_steal_pointer (&path));
    }
  g_ptr_array_sort (found, compare_names);
  for (guint i = 0; i < found->len; i++)
    assay_session_add_task (self, g_ptr_array_index (found, i));
  return found->len > 0;
}

/* --- reviews --------------------------------------------------------------------------------- */

static void
load_rubric (AssaySession *self)
{
  static const char *const places[] = {ASSAY_DATADIR "/rubrics/kernel-task.json",
                                       ASSAY_SOURCE_DIR "/rubrics/kernel-task.json", NULL};
  g_autoptr (GError) error = NULL;

  for (int i = 0; places[i] != NULL && self->rubric == NULL; i++)
    {
      g_clear_error (&error);
      self->rubric = assay_rubric_load (places[i], &error);
    }
  if (self->rubric == NULL)
    self->rubric_problem = g_strdup (error->message);
}

const AssayRubric *
assay_session_get_rubric (AssaySession *self, const char **problem)
{
  if (problem != NULL)
    *problem = self->rubric_problem;
  return self->rubric;
}

static void
draft_opened (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GTask) task = data;
  AssaySession *self = g_task_get_source_object (task);
  const char *key = g_task_get_task_data (task);
  g_autoptr (GError) error = NULL;
  AssayDraft *known, *draft = assay_draft_open_finish (result, &error);

  if (draft == NULL)
    {
      g_task_return_error (task, g_steal_pointer (&error));
      return;
    }
  known = g_hash_table_lookup (self->drafts, key);
  if (known != NULL) /* asked for twice at once: the first one stays */
    {
      g_object_unref (draft);
      draft = g_object_ref (known);
    }
  else
    g_hash_table_insert (self->drafts, g_strdup (key), g_object_ref (draft));
  g_task_return_pointer (task, draft, g_object_unref);
}

void
assay_session_open_draft_async (AssaySession *self, AssayTaskItem *item, const char *candidate,
                                GCancellable *cancellable, GAsyncReadyCallback callback,
                                gpointer user_data)
{
  g_autoptr (GTask) task = g_task_new (self, cancellable, callback, user_data);
  char *key = g_strdup_printf ("%s\n%s", assay_task_item_get_folder (item), candidate);
  AssayDraft *known = g_hash_table_lookup (self->drafts, key);

  g_task_set_source_tag (task, assay_session_open_draft_async);
  g_task_set_task_data (task, key, g_free);
  if (known != NULL)
    g_task_return_pointer (task, g_object_ref (known), g_object_unref);
  else
    assay_draft_open_async (item, candidate, self->workspace, self->rubric, cancellable,
                            draft_opened, g_steal_pointer (&task));
}

AssayDraft *
assay_session_open_draft_finish (AssaySession *self, GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}

gboolean
assay_session_save_drafts (AssaySession *self, GError **error)
{
  GHashTableIter iter;
  gpointer draft;
  gboolean fine = TRUE;

  g_hash_table_iter_init (&iter, self->drafts);
  while (g_hash_table_iter_next (&iter, NULL, &draft))
    if (!assay_draft_flush (draft, fine ? error : NULL))
      fine = FALSE;
  return fine;
}

AssaySession *
assay_session_new (const char *workspace)
{
  AssaySession *self = g_object_new (ASSAY_TYPE_SESSION, NULL);

  self->workspace = workspace != NULL
                        ? g_canonicalize_filename (workspace, NULL)
                        : g_build_filename (g_get_user_data_dir (), "assay", "workspace", NULL);
  self->engine = assay_engine_client_new (self->workspace, NULL);
  return self;
}

const char *
assay_session_get_workspace (AssaySession *self)
{
  return self->workspace;
}

AssayEngineClient *
assay_session_get_engine (AssaySession *self)
{
  return self->engine;
}

GListModel *
assay_session_get_tasks (AssaySession *self)
{
  return G_LIST_MODEL (self->tasks);
}

static void
assay_session_finalize (GObject *object)
{
  AssaySession *self = ASSAY_SESSION (object);

  g_clear_handle_id (&self->write_source, g_source_remove);
  g_clear_object (&self->engine);
  g_clear_object (&self->tasks);
  g_hash_table_unref (self->drafts);
  g_clear_pointer (&self->rubric, assay_rubric_free);
  g_free (self->rubric_problem);
  json_object_unref (self->values);
  g_free (self->workspace);
  g_free (self->file);
  G_OBJECT_CLASS (assay_session_parent_class)->finalize (object);
}

static void
assay_session_class_init (AssaySessionClass *class)
{
  G_OBJECT_CLASS (class)->finalize = assay_session_finalize;
}

static void
assay_session_init (AssaySession *self)
{
  self->file = g_build_filename (g_get_user_state_dir (), "assay", "session.json", NULL);
  self->tasks = g_list_store_new (ASSAY_TYPE_TASK_ITEM);
  self->drafts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_object_unref);
  load_values (self);
  load_rubric (self);
}
