/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/store/store.h"

#include "engine/base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <unistd.h>

#define SCHEMA_VERSION 1

struct _AssayStore
{
  sqlite3 *db;
  char *path, *runs;
};

#define F(member_, kind_, ...)                                                                     \
  ASSAY_JSON_FIELD (AssayRunSummary, member_, #member_, kind_, __VA_ARGS__)
static const AssayJsonField SUMMARY_FIELDS[] = {
    F (id, STRING, .flags = ASSAY_JSON_REQUIRED),
    F (task, STRING),
    F (candidate, STRING),
    F (device, STRING),
    F (folder, STRING),
    F (started, STRING),
    F (finished, STRING, .flags = ASSAY_JSON_KEEP_NULL),
    F (state, ENUM, .words = ASSAY_STATUSES),
    F (blockers, INT),
    F (majors, INT),
    F (minors, INT),
    ASSAY_JSON_END,
};
#undef F
const AssayJsonTable ASSAY_RUN_SUMMARY_TABLE = {"run summary", sizeof (AssayRunSummary),
                                                SUMMARY_FIELDS, NULL};

AssayRunSummary *
assay_run_summarise (const AssayRun *run, const char *folder)
{
  AssayRunSummary *summary = assay_run_summary_new ();
  gint64 *const counts[] = {&summary->blockers, &summary->majors, &summary->minors};
  summary->id = g_strdup (run->id);
  summary->task = g_strdup (run->task.id);
  summary->candidate = g_strdup (run->candidate);
  summary->device = g_strdup_printf ("%s:%s", run->device.kind, run->device.target);
  summary->folder = g_strdup (folder);
  summary->started = g_strdup (run->started);
  summary->finished = g_strdup (run->finished);
  summary->state = run->state;
  for (guint i = 0; i < run->findings->len; i++)
    {
      const AssayFinding *finding = g_ptr_array_index (run->findings, i);
      if (finding->severity < (int) G_N_ELEMENTS (counts))
        ++*counts[finding->severity];
    }
  return summary;
}

int
assay_run_folder_lock (const char *folder)
{
  g_autofree char *path = g_build_filename (folder, ".lock", NULL);
  int fd = open (path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd >= 0 && flock (fd, LOCK_EX | LOCK_NB) == 0)
    return fd;
  if (fd >= 0)
    close (fd);
  return -1;
}

/* ---- SQL ---- */

static gboolean
fail (AssayStore *store, const char *what, GError **error)
{
  g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_FAILED, "%s: %s: %s", store->path, what,
               store->db ? sqlite3_errmsg (store->db) : "cannot be opened");
  return FALSE;
}

static gboolean
execute (AssayStore *store, const char *sql, GError **error)
{
  return sqlite3_exec (store->db, sql, NULL, NULL, NULL) == SQLITE_OK
         || fail (store, "cannot be written", error);
}

static gint64
single_number (AssayStore *store, const char *sql)
{
  sqlite3_stmt *statement = NULL;
  gint64 value = -1;
  if (sqlite3_prepare_v2 (store->db, sql, -1, &statement, NULL) == SQLITE_OK
      && sqlite3_step (statement) == SQLITE_ROW)
    value = sqlite3_column_int64 (statement, 0);
  sqlite3_finalize (statement);
  return value;
}

/* Columns in the order of COLUMNS. */
#define COLUMNS                                                                                    \
  "id, task, candidate, device, folder, started, finished, state, blockers, majors, minors"

static AssayRunSummary *
read_row (sqlite3_stmt *statement)
{
  AssayRunSummary *row = assay_run_summary_new ();
  char **const texts[] = {&row->id,     &row->task,    &row->candidate, &row->device,
                          &row->folder, &row->started, &row->finished};
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    *texts[i] = g_strdup ((const char *) sqlite3_column_text (statement, (int) i));
  row->state = CLAMP (sqlite3_column_int (statement, 7), 0, ASSAY_STATUS_CANCELLED);
  row->blockers = sqlite3_column_int64 (statement, 8);
  row->majors = sqlite3_column_int64 (statement, 9);
  row->minors = sqlite3_column_int64 (statement, 10);
  return row;
}

gboolean
assay_store_put (AssayStore *store, const AssayRunSummary *row, GError **error)
{
  sqlite3_stmt *statement = NULL;
  const char *const texts[] = {row->id,     row->task,    row->candidate, row->device,
                               row->folder, row->started, row->finished};
  const gint64 numbers[] = {row->state, row->blockers, row->majors, row->minors};
  if (sqlite3_prepare_v2 (store->db,
                          "INSERT OR REPLACE INTO runs (" COLUMNS ") VALUES "
                          "(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
                          -1, &statement, NULL)
      != SQLITE_OK)
    return fail (store, "cannot be written", error);
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    sqlite3_bind_text (statement, (int) i + 1, texts[i], -1, SQLITE_STATIC);
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    sqlite3_bind_int64 (statement, (int) (G_N_ELEMENTS (texts) + i) + 1, numbers[i]);
  gboolean done = sqlite3_step (statement) == SQLITE_DONE;
  sqlite3_finalize (statement);
  return done || fail (store, "cannot be written", error);
}

GPtrArray *
assay_store_list (AssayStore *store, GError **error)
{
  sqlite3_stmt *statement = NULL;
  g_autoptr (GPtrArray) rows =
      g_ptr_array_new_with_free_func ((GDestroyNotify) assay_run_summary_free);
  int rc =
      sqlite3_prepare_v2 (store->db, "SELECT " COLUMNS " FROM runs ORDER BY started DESC, id DESC",
                          -1, &statement, NULL);
  while (rc == SQLITE_OK || rc == SQLITE_ROW)
    {
      rc = sqlite3_step (statement);
      if (rc == SQLITE_ROW)
        g_ptr_array_add (rows, read_row (statement));
    }
  sqlite3_finalize (statement);
  if (rc == SQLITE_DONE)
    return g_steal_pointer (&rows);
  fail (store, "cannot be read", error);
  return NULL;
}

AssayRunSummary *
assay_store_find (AssayStore *store, const char *id, GError **error)
{
  sqlite3_stmt *statement = NULL;
  AssayRunSummary *row = NULL;
  if (sqlite3_prepare_v2 (store->db, "SELECT " COLUMNS " FROM runs WHERE id = ?1", -1, &statement,
                          NULL)
      == SQLITE_OK)
    {
      sqlite3_bind_text (statement, 1, id, -1, SQLITE_STATIC);
      if (sqlite3_step (statement) == SQLITE_ROW)
        row = read_row (statement);
    }
  sqlite3_finalize (statement);
  if (!row)
    g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_NOT_FOUND, "no run \"%s\"", id);
  return row;
}

/* ---- folders ---- */

static gboolean
unfinished (int state)
{
  return state == ASSAY_STATUS_RUNNING || state == ASSAY_STATUS_PENDING;
}

/* What stands in a run folder; an unfinished run that nobody works on was lost. */
static void
take_up (AssayStore *store, const char *folder)
{
  g_autoptr (AssayRun) run = assay_run_load (folder, NULL);
  if (!run)
    return;
  g_autoptr (AssayRunSummary) summary = assay_run_summarise (run, folder);
  if (unfinished (summary->state))
    {
      int lock = assay_run_folder_lock (folder);
      if (lock >= 0)
        {
          summary->state = ASSAY_STATUS_ERROR;
          close (lock);
        }
    }
  assay_store_put (store, summary, NULL);
}

static void
take_up_task (AssayStore *store, const char *task_folder)
{
  g_autoptr (GDir) folder = g_dir_open (task_folder, 0, NULL);
  for (const char *name; folder && (name = g_dir_read_name (folder));)
    {
      g_autoptr (AssayRunSummary) known = assay_store_find (store, name, NULL);
      g_autofree char *path = g_build_filename (task_folder, name, NULL);
      if (!known || unfinished (known->state))
        take_up (store, path);
    }
}

gboolean
assay_store_reconcile (AssayStore *store, GError **error)
{
  g_autoptr (GDir) tasks = g_dir_open (store->runs, 0, NULL);
  if (!execute (store, "BEGIN", error))
    return FALSE;
  for (const char *name; tasks && (name = g_dir_read_name (tasks));)
    {
      g_autofree char *path = g_build_filename (store->runs, name, NULL);
      take_up_task (store, path);
    }
  return execute (store, "COMMIT", error);
}

/* ---- opening ---- */

static gboolean
open_database (AssayStore *store)
{
  return sqlite3_open (store->path, &store->db) == SQLITE_OK
         && sqlite3_busy_timeout (store->db, 5000) == SQLITE_OK
         && sqlite3_exec (store->db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;", NULL,
                          NULL, NULL)
                == SQLITE_OK
         && single_number (store,
                           "SELECT count(*) FROM pragma_quick_check WHERE quick_check <> 'ok'")
                == 0;
}

static void
remove_database (AssayStore *store)
{
  static const char *const endings[] = {"", "-wal", "-shm"};
  g_clear_pointer (&store->db, sqlite3_close);
  for (gsize i = 0; i < G_N_ELEMENTS (endings); i++)
    {
      g_autofree char *path = g_strconcat (store->path, endings[i], NULL);
      g_unlink (path);
    }
}

static gboolean
make_schema (AssayStore *store, GError **error)
{
  g_autofree char *version = g_strdup_printf ("PRAGMA user_version = %d", SCHEMA_VERSION);
  return execute (store,
                  "CREATE TABLE runs (id TEXT PRIMARY KEY, task TEXT, candidate TEXT, device TEXT, "
                  "folder TEXT NOT NULL, started TEXT, finished TEXT, state INTEGER NOT NULL, "
                  "blockers INTEGER NOT NULL, majors INTEGER NOT NULL, minors INTEGER NOT NULL);"
                  "CREATE INDEX runs_by_time ON runs (started);",
                  error)
         && execute (store, version, error);
}

AssayStore *
assay_store_open (const char *workspace, GError **error)
{
  g_autoptr (AssayStore) store = g_new0 (AssayStore, 1);
  store->path = g_build_filename (workspace, "runs.sqlite", NULL);
  store->runs = g_build_filename (workspace, "runs", NULL);
  if (g_mkdir_with_parents (store->runs, 0700) != 0)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_FAILED, "%s: %s", store->runs,
                   g_strerror (errno));
      return NULL;
    }
  if (!open_database (store) || single_number (store, "PRAGMA user_version") != SCHEMA_VERSION)
    {
      remove_database (store);
      if (!open_database (store))
        {
          fail (store, "cannot be opened", error);
          return NULL;
        }
      if (!make_schema (store, error))
        return NULL;
    }
  if (!assay_store_reconcile (store, error))
    return NULL;
  return g_steal_pointer (&store);
}

void
assay_store_free (AssayStore *store)
{
  g_clear_pointer (&store->db, sqlite3_close);
  g_free (store->path);
  g_free (store->runs);
  g_free (store);
}
