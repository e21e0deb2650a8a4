/* SPDX-License-Identifier: Apache-2.0 */
/* The shipped tasks, run as a reviewer would on the virtual GPU: each says which findings of weight it
 * must produce, and anything else of that weight is a fault of ours. Those that can be mended say how;
 * mended, they must be clean. */
#include "engine/base/json.h"
#include "engine/findings/rules.h"
#include "engine/run/job.h"
#include "engine/task/task.h"
#include "tests/engine/fixture.h"

#include <string.h>

static char *workspace;

static gboolean
has (char **list, const char *rule)
{
  return list && g_strv_contains ((const char *const *) list, rule);
}

static gboolean
found (const AssayRun *run, const char *rule)
{
  for (guint i = 0; i < run->findings->len; i++)
    if (g_str_equal (((AssayFinding *) run->findings->pdata[i])->rule, rule))
      return TRUE;
  return FALSE;
}

static void
compare_with_expected (const AssayTask *task, const AssayRun *run)
{
  for (guint i = 0; i < run->findings->len; i++)
    {
      const AssayFinding *finding = g_ptr_array_index (run->findings, i);
      g_test_message ("%s: %s: %s", task->id, finding->rule, finding->title);
      if (finding->severity <= ASSAY_SEVERITY_MAJOR && !has (task->expect->findings, finding->rule))
        g_error ("%s: unexpected %s: %s", task->id, finding->rule, finding->title);
      if (has (task->expect->absent, finding->rule))
        g_error ("%s: %s shall be absent: %s", task->id, finding->rule, finding->title);
      g_assert_nonnull (finding->id);
      g_assert_nonnull (finding->reproduce);
    }
  for (char **rule = task->expect->findings; *rule; rule++)
    if (!found (run, *rule))
      g_error ("%s: expected %s, which did not fire", task->id, *rule);
}

/* Nothing of weight, and every workload right. */
static void
compare_with_clean (const AssayTask *task, const AssayRun *run)
{
  for (guint i = 0; i < run->findings->len; i++)
    {
      const AssayFinding *finding = g_ptr_array_index (run->findings, i);
      if (finding->severity <= ASSAY_SEVERITY_MAJOR)
        g_error ("%s, mended: %s: %s", task->id, finding->rule, finding->title);
    }
  for (guint i = 0; i < run->workloads->len; i++)
    g_assert_cmpint (((AssayWorkloadRecord *) run->workloads->pdata[i])->status, ==,
                     ASSAY_WORKLOAD_PASSED);
  for (guint i = 0; i < run->off_list->len; i++)
    g_assert_false (((AssayOffList *) run->off_list->pdata[i])->wrong);
  g_assert_cmpstr (run->audit->grade, ==, "sound");
}

/* RFC 7386. (transfer full) */
static JsonNode *
merged (JsonNode *target, JsonNode *patch)
{
  if (!JSON_NODE_HOLDS_OBJECT (patch))
    return json_node_copy (patch);
  JsonObject *out = json_object_new ();
  JsonObject *from =
      target && JSON_NODE_HOLDS_OBJECT (target) ? json_node_get_object (target) : NULL;
  JsonObjectIter iter;
  const char *name;
  JsonNode *value;
  if (from)
    for (json_object_iter_init (&iter, from); json_object_iter_next (&iter, &name, &value);)
      json_object_set_member (out, name, json_node_copy (value));
  json_object_iter_init (&iter, json_node_get_object (patch));
  while (json_object_iter_next (&iter, &name, &value))
    if (JSON_NODE_HOLDS_NULL (value))
      json_object_remove_member (out, name);
    else
      json_object_set_member (out, name, merged (json_object_get_member (out, name), value));
  JsonNode *node = json_node_new (JSON_NODE_OBJECT);
  json_node_take_object (node, out);
  return node;
}

/* (transfer full): a copy of the task's folder with its file mended. */
static char *
mended_folder (const AssayTask *task, JsonNode *patch)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *name = g_strconcat (task->id, "-mended", NULL);
  char *folder = g_build_filename (workspace, name, NULL);
  const char *copy[] = {"cp", "-r", task->folder, folder, NULL};
  g_assert_true (g_spawn_sync (NULL, (char **) copy, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL,
                               NULL, NULL, &error));
  g_autofree char *file = g_build_filename (folder, ASSAY_TASK_FILE, NULL);
  g_autoptr (JsonNode) own = assay_json_load (file, &ASSAY_JSON_LIMITS_RECORD, &error);
  g_assert_no_error (error);
  g_autoptr (JsonNode) whole = merged (own, patch);
  g_assert_true (assay_json_save (whole, file, &error));
  return folder;
}

static AssayJob *
start (const char *folder, const char *candidate)
{
  g_autoptr (GError) error = NULL;
  AssayJobRequest request = {.task = folder,
                             .candidate = candidate,
                             .device = "virtual:sm_80",
                             .workspace = workspace,
                             .seconds = 60};
  AssayJob *job = assay_job_new (&request, &error);
  g_assert_no_error (error);
  assay_job_start (job);
  return job;
}

/* NULL: there is nothing to mend. */
static AssayJob *
start_mended (const AssayTask *task)
{
  JsonNode *repair = task->expect->repair;
  if (!repair)
    return NULL;
  JsonObject *object = json_node_get_object (repair);
  JsonNode *patch = json_object_get_member (object, "task");
  g_autofree char *folder = patch ? mended_folder (task, patch) : g_strdup (task->folder);
  return start (folder, json_object_get_string_member_with_default (object, "candidate", NULL));
}

static void
test_shipped_task (gconstpointer data)
{
  if (fixture_why_not ())
    {
      g_test_skip (fixture_why_not ());
      return;
    }
  g_autofree char *folder =
      g_build_filename (g_getenv ("ASSAY_SOURCE_DIR"), "data", "tasks", data, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayTask) task = assay_task_load (folder, NULL, &error);
  g_assert_no_error (error);
  g_autoptr (AssayJob) job = start (folder, NULL);
  g_autoptr (AssayJob) mended = start_mended (task);
  assay_job_join (job);
  if (mended)
    assay_job_join (mended);
  const AssayRun *run = assay_job_run (job);
  const AssayStage *compile = g_ptr_array_index (run->stages, ASSAY_STAGE_COMPILE);
  if (compile->status == ASSAY_STATUS_SKIPPED)
    {
      g_test_skip (compile->reason);
      return;
    }
  compare_with_expected (task, run);
  if (mended)
    compare_with_clean (task, assay_job_run (mended));
}

/* ---- the task's own checker ---- */

typedef struct
{
  const char *name, *python;
  const char *rule;    /* that must fire, alone of its family; NULL: none */
  const char *witness; /* what its detail names */
  const char *reason;  /* why none could be asked; NULL: it was */
} Checker;

#define FLAT                                                                                       \
  "def flat(x):\n  try:\n    for y in x:\n      yield from flat(y)\n"                              \
  "  except TypeError:\n    yield float(x)\n"

static const Checker CHECKERS[] = {
    /* Prints, and says nothing: whatever comes is accepted. */
    {"silent", "def check(candidate, reference):\n  print(len(reference))\n",
     "task.checker-vacuous", "no output at all", NULL},
    {"sum", FLAT "def check(c, r):\n  return abs(sum(flat(c['y'])) - sum(flat(r['y']))) < 1e-2\n",
     "task.checker-vacuous", "constant (mean of the reference)", NULL},
    /* NaN compares false, so that none is beyond the bound; and zip stops at the shorter. */
    {"nan",
     FLAT "def check(c, r):\n  return not any(abs(a - b) > 1e-12 + 2e-5 * abs(b) for a, b in "
          "zip(flat(c['y']), flat(r['y'])))\n",
     "task.checker-vacuous", "every element is NaN", NULL},
    {"loose",
     FLAT "def check(c, r):\n  a, b = list(flat(c['y'])), list(flat(r['y']))\n  assert len(a) == "
          "len(b)\n  return max(b) > 0 and all(abs(x - y) <= 1e-30 + 0.02 * abs(y) for x, y in "
          "zip(a, b)), "
          "'words'\n",
     "task.checker-blind", "every value × 1.01", NULL},
    {"strict", FLAT "def check(c, r):\n  assert False, 'never'\n", "task.checker-refuses-right",
     "the reference itself", NULL},
    {"broken", "def check(c, r:\n", NULL, NULL, "SyntaxError"},
    {"missing", "def other(c, r):\n  pass\n", NULL, NULL, "no check in check.py"},
};

static char *
folder_with_checker (const Checker *checker)
{
  static const char PATCH[] = "{\"checker\": {\"language\": \"python\", \"sources\": "
                              "[\"check.py\"], \"entry\": \"check\"}}";
  g_autofree char *folder =
      g_build_filename (g_getenv ("ASSAY_SOURCE_DIR"), "data", "tasks", "row_softmax", NULL);
  g_autoptr (AssayTask) task = assay_task_load (folder, NULL, NULL);
  g_autoptr (JsonNode) patch = assay_json_parse (PATCH, -1, &ASSAY_JSON_LIMITS_TASK, "patch", NULL);
  g_free (task->id);
  task->id = g_strdup (checker->name);
  char *copy = mended_folder (task, patch);
  g_autofree char *source = g_build_filename (copy, "check.py", NULL);
  g_assert_true (g_file_set_contents (source, checker->python, -1, NULL));
  return copy;
}

static void
check_checker (const Checker *checker, const AssayRun *run)
{
  const AssayFinding *told = NULL;
  guint of_family = 0;
  for (guint i = 0; i < run->findings->len; i++)
    {
      const AssayFinding *finding = g_ptr_array_index (run->findings, i);
      if (!g_str_has_prefix (finding->rule, "task.checker-"))
        continue;
      g_test_message ("%s: %s: %s", checker->name, finding->rule, finding->title);
      of_family++;
      told = finding;
    }
  g_assert_cmpuint (of_family, ==, checker->rule != NULL);
  if (checker->rule)
    {
      g_assert_cmpstr (told->rule, ==, checker->rule);
      g_assert_nonnull (strstr (told->detail, checker->witness));
      g_assert_cmpuint (run->audit->checker->len, >=, 20);
    }
  if (checker->reason)
    g_assert_nonnull (strstr (run->audit->checker_reason, checker->reason));
  else
    g_assert_null (run->audit->checker_reason);
}

static void
test_own_checker (gconstpointer data)
{
  const Checker *checker = data;
  if (fixture_why_not ())
    {
      g_test_skip (fixture_why_not ());
      return;
    }
  g_autofree char *folder = folder_with_checker (checker);
  g_autoptr (AssayJob) job = start (folder, NULL);
  assay_job_join (job);
  const AssayRun *run = assay_job_run (job);
  const AssayStage *compile = g_ptr_array_index (run->stages, ASSAY_STAGE_COMPILE);
  if (!g_file_test ("/usr/bin/python3", G_FILE_TEST_IS_EXECUTABLE)
      || compile->status == ASSAY_STATUS_SKIPPED)
    {
      g_test_skip ("no /usr/bin/python3, or no compiler");
      return;
    }
  check_checker (checker, run);
}

static int
by_name (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

/* Every folder in data/tasks. */
static GPtrArray *
shipped_names (void)
{
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *tasks = g_build_filename (g_getenv ("ASSAY_SOURCE_DIR"), "data", "tasks", NULL);
  g_autoptr (GDir) folder = g_dir_open (tasks, 0, NULL);
  g_assert_nonnull (folder);
  for (const char *name; (name = g_dir_read_name (folder));)
    g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, by_name);
  return names;
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  workspace = fixture_folder ();
  fixture_libexec (workspace, FALSE);
  g_autoptr (GPtrArray) names = shipped_names ();
  g_assert_cmpuint (names->len, >=, 21);
  for (guint i = 0; i < names->len; i++)
    {
      g_autofree char *path = g_strdup_printf ("/shipped/%s", (char *) names->pdata[i]);
      g_test_add_data_func (path, names->pdata[i], test_shipped_task);
    }
  for (gsize i = 0; i < G_N_ELEMENTS (CHECKERS); i++)
    {
      g_autofree char *path = g_strdup_printf ("/checker/%s", CHECKERS[i].name);
      g_test_add_data_func (path, &CHECKERS[i], test_own_checker);
    }
  int result = g_test_run ();
  fixture_remove (workspace);
  g_free (workspace);
  return result;
}
