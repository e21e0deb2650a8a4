/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/error.h"
#include "engine/sandbox/orphans.h"
#include "engine/sandbox/preflight.h"
#include "engine/sandbox/process.h"
#include "engine/sandbox/tree.h"
#include "tests/engine/fixture.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *probe_path;

static AssaySandboxSpec *
probe (const char *mode)
{
  AssaySandboxSpec *spec = assay_sandbox_spec_new ("/assay/probe");
  assay_sandbox_spec_show (spec, probe_path, "/assay/probe");
  assay_sandbox_spec_add_argument (spec, mode);
  assay_sandbox_spec_limits (spec)->wall_seconds = 30;
  return spec;
}

static AssaySandboxEnd *
run_probe (AssaySandboxSpec *spec, AssaySandboxLine on_line, gpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AssaySandboxProcess) process =
      assay_sandbox_process_start (spec, ASSAY_TIER_BUBBLEWRAP, &error);
  g_assert_no_error (error);
  AssaySandboxEnd *end = assay_sandbox_process_pump (process, on_line, data, NULL, &error);
  g_assert_no_error (error);
  return end;
}

static gboolean
sandbox_missing (void)
{
  const AssaySandboxPreflight *preflight = assay_sandbox_preflight ();
  if (!preflight->works)
    g_test_skip (preflight->reason);
  return !preflight->works;
}

static void
assert_line (const AssaySandboxEnd *end, const char *line)
{
  g_autofree char *needle = g_strconcat (line, "\n", NULL);
  if (!strstr (end->out, needle))
    g_error ("no line \"%s\" in:\n%s%s", line, end->out, end->err);
}

static void
test_facts (void)
{
  if (sandbox_missing ())
    return;
  /* An open descriptor of ours, without close-on-exec, must not get in. */
  int leaked = dup (1);
  g_autoptr (AssaySandboxSpec) spec = probe ("facts");
  g_autoptr (AssaySandboxEnd) end = run_probe (spec, NULL, NULL);
  close (leaked);
  g_assert_cmpint (end->kind, ==, ASSAY_END_EXITED);
  g_assert_cmpint (end->code, ==, 7);
  static const char *const expected[] = {
      "Seccomp:\t2",
      "NoNewPrivs:\t1",
      "CapEff:\t0000000000000000",
      "ptrace Operation not permitted",
      "inet Address family not supported by protocol",
      "unix allowed",
      "home absent",
      "root absent",
      "passwd absent",
      "usr Read-only file system",
      "scratch written",
  };
  for (gsize i = 0; i < G_N_ELEMENTS (expected); i++)
    assert_line (end, expected[i]);
  assert_line (end, "fd 3");
  for (const char *at = strstr (end->out, "fd "); at; at = strstr (at + 1, "\nfd "))
    g_assert_cmpint (atoi (strchr (at, 'd') + 2), <=, 8); /* 3 and the probe's own */
  g_autofree char *root = g_strdup ("uid 0\n");
  g_assert_null (strstr (end->out, root));
}

/* A folder that others cannot enter: small ones come as copies, a tree only as it is. Either way it can
 * be read, and nothing can be written. */
static void
test_private_folders (void)
{
  static const char *const trees[] = {"small", "large/deep"};
  if (sandbox_missing ())
    return;
  g_autofree char *folder = fixture_folder ();
  for (gsize i = 0; i < G_N_ELEMENTS (trees); i++)
    {
      g_auto (GStrv) parts = g_strsplit (trees[i], "/", -1);
      g_autofree char *path = g_build_filename (folder, trees[i], NULL);
      g_autofree char *top = g_build_filename (folder, parts[0], NULL);
      g_autofree char *file = g_build_filename (path, "file", NULL);
      g_autofree char *script = g_strdup_printf ("cat /shown/%s && ! echo x > /shown/new",
                                                 parts[1] ? "deep/file" : "file");
      g_assert_cmpint (g_mkdir_with_parents (path, 0700), ==, 0);
      g_assert_true (g_file_set_contents (file, "contents", -1, NULL));
      g_autoptr (AssaySandboxSpec) spec = assay_sandbox_spec_new ("/bin/sh");
      assay_sandbox_spec_add_argument (spec, "-c");
      assay_sandbox_spec_add_argument (spec, script);
      assay_sandbox_spec_show (spec, top, "/shown");
      g_autoptr (AssaySandboxEnd) end = run_probe (spec, NULL, NULL);
      g_assert_cmpint (end->kind, ==, ASSAY_END_EXITED);
      g_assert_cmpint (end->code, ==, 0);
      g_assert_cmpstr (end->out, ==, "contents");
    }
  fixture_remove (folder);
}

static void
test_signal (void)
{
  if (sandbox_missing ())
    return;
  g_autoptr (AssaySandboxSpec) spec = probe ("abort");
  g_autoptr (AssaySandboxEnd) end = run_probe (spec, NULL, NULL);
  g_assert_cmpint (end->kind, ==, ASSAY_END_SIGNAL);
  g_assert_cmpint (end->code, ==, SIGABRT);
}

typedef struct
{
  pid_t pid;
  guint processes;
  GArray *descendants;
} Forks;

static gboolean
stop_when_forked (const char *line, gsize bytes, gpointer data)
{
  Forks *forks = data;
  g_assert_cmpstr (line, ==, "forked");
  /* The intermediate parents go in a moment; ten sleepers, the probe and bwrap's two remain. */
  for (int tries = 0; tries < 200 && forks->processes != 13; tries++)
    {
      g_usleep (5000);
      forks->processes = assay_tree_use (forks->pid).processes;
    }
  return FALSE;
}

static void
test_descendants_die (void)
{
  if (sandbox_missing ())
    return;
  for (int round = 0; round < 3; round++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (AssaySandboxSpec) spec = probe ("fork-away");
      g_autoptr (AssaySandboxProcess) process =
          assay_sandbox_process_start (spec, ASSAY_TIER_BUBBLEWRAP, &error);
      g_assert_no_error (error);
      Forks forks = {assay_sandbox_process_pid (process), 0, NULL};
      g_autoptr (AssaySandboxEnd) end =
          assay_sandbox_process_pump (process, stop_when_forked, &forks, NULL, &error);
      g_assert_no_error (error);
      g_assert_cmpint (end->kind, ==, ASSAY_END_STOPPED);
      g_assert_cmpuint (forks.processes, ==, 13);
      g_assert_cmpuint (fixture_alive ("/assay/probe"), ==, 0);
    }
}

typedef struct
{
  GCancellable *cancellable;
  gulong delay;
} Delay;

static gpointer
cancel_after (gpointer data)
{
  Delay *delay = data;
  g_usleep (delay->delay);
  g_cancellable_cancel (delay->cancellable);
  return NULL;
}

/* Ended at every moment of its start, bwrap leaves nothing behind. */
static void
test_ended_while_starting (void)
{
  if (sandbox_missing ())
    return;
  for (guint i = 0; i < 60; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GCancellable) cancellable = g_cancellable_new ();
      g_autoptr (AssaySandboxSpec) spec = probe ("sleep");
      Delay delay = {cancellable, i * 250};
      GThread *thread = g_thread_new ("cancel", cancel_after, &delay);
      g_autoptr (AssaySandboxProcess) process =
          assay_sandbox_process_start (spec, ASSAY_TIER_BUBBLEWRAP, &error);
      g_assert_no_error (error);
      g_autoptr (AssaySandboxEnd) end =
          assay_sandbox_process_pump (process, NULL, NULL, cancellable, &error);
      g_thread_join (thread);
      g_assert_no_error (error);
      g_assert_cmpint (end->kind, ==, ASSAY_END_CANCELLED);
    }
  for (int tries = 0; tries < 500 && fixture_alive ("/usr/bin/bwrap") > 0; tries++)
    g_usleep (10000);
  g_assert_cmpuint (fixture_alive ("/usr/bin/bwrap"), ==, 0);
  g_assert_cmpuint (fixture_alive ("/assay/probe"), ==, 0);
}

/* As when the engine is killed: nobody is there to end what bwrap has begun. */
static void
test_orphans_are_swept (void)
{
  if (sandbox_missing ())
    return;
  for (guint i = 0; i < 60; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (AssaySandboxSpec) spec = probe ("sleep");
      g_autoptr (AssaySandboxProcess) process =
          assay_sandbox_process_start (spec, ASSAY_TIER_BUBBLEWRAP, &error);
      g_assert_no_error (error);
      g_usleep (i * 100);
      kill (assay_sandbox_process_pid (process), SIGKILL);
    }
  guint swept = assay_orphans_sweep ();
  g_test_message ("%u orphans", swept);
  for (int tries = 0; tries < 500 && fixture_alive ("/usr/bin/bwrap") > 0; tries++)
    g_usleep (10000);
  g_assert_cmpuint (fixture_alive ("/usr/bin/bwrap"), ==, 0);
}

static void
test_timeout (void)
{
  if (sandbox_missing ())
    return;
  g_autoptr (AssaySandboxSpec) spec = probe ("sleep");
  assay_sandbox_spec_limits (spec)->wall_seconds = 0.3;
  g_autoptr (AssaySandboxEnd) end = run_probe (spec, NULL, NULL);
  g_assert_cmpint (end->kind, ==, ASSAY_END_TIMEOUT);
}

static gpointer
cancel_soon (gpointer cancellable)
{
  g_usleep (100000);
  g_cancellable_cancel (cancellable);
  return NULL;
}

static void
test_cancel (void)
{
  if (sandbox_missing ())
    return;
  g_autoptr (GError) error = NULL;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (AssaySandboxSpec) spec = probe ("sleep");
  g_autoptr (AssaySandboxProcess) process =
      assay_sandbox_process_start (spec, ASSAY_TIER_BUBBLEWRAP, &error);
  GThread *thread = g_thread_new ("cancel", cancel_soon, cancellable);
  g_autoptr (AssaySandboxEnd) end =
      assay_sandbox_process_pump (process, NULL, NULL, cancellable, &error);
  g_thread_join (thread);
  g_assert_no_error (error);
  g_assert_cmpint (end->kind, ==, ASSAY_END_CANCELLED);
}

static void
test_memory (void)
{
  if (sandbox_missing ())
    return;
  g_autoptr (AssaySandboxSpec) spec = probe ("eat-memory");
  assay_sandbox_spec_limits (spec)->memory_bytes = 128 << 20;
  g_autoptr (AssaySandboxEnd) end = run_probe (spec, NULL, NULL);
  g_assert_cmpint (end->kind, ==, ASSAY_END_MEMORY);
}

static void
test_flood_of_log (void)
{
  if (sandbox_missing ())
    return;
  g_autoptr (AssaySandboxSpec) spec = probe ("flood-log");
  g_autoptr (AssaySandboxEnd) end = run_probe (spec, NULL, NULL);
  g_assert_cmpint (end->kind, ==, ASSAY_END_EXITED);
  g_assert_cmpuint (end->out_bytes, ==, 1600ull * 65536 + 8);
  g_assert_cmpuint (strlen (end->out), <, (1 << 20) + 100);
  g_assert_nonnull (strstr (end->out, "bytes left out"));
  g_assert_true (g_str_has_suffix (end->out, "the end\n"));
}

static void
test_flood_of_channel (void)
{
  if (sandbox_missing ())
    return;
  g_autoptr (AssaySandboxSpec) spec = probe ("flood-channel");
  g_autoptr (AssaySandboxEnd) end = run_probe (spec, NULL, NULL);
  g_assert_cmpint (end->kind, ==, ASSAY_END_FLOOD);
}

static void
test_array_cannot_be_resized (void)
{
  if (sandbox_missing ())
    return;
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayMemory) array = assay_memory_new ("y", 4096, &error);
  g_assert_no_error (error);
  g_autoptr (AssaySandboxSpec) spec = probe ("resize");
  assay_sandbox_spec_pass (spec, array, 4);
  g_autoptr (AssaySandboxEnd) end = run_probe (spec, NULL, NULL);
  assert_line (end, "shrink Operation not permitted");
  assert_line (end, "grow Operation not permitted");
  /* A child of the probe still wrote when the probe ended; sealing proves that it is dead. */
  g_assert_true (assay_memory_finish (array, &error));
  g_assert_no_error (error);
  gsize bytes;
  const char *data = assay_memory_data (array, &bytes, &error);
  g_assert_cmpuint (bytes, ==, 4096);
  g_assert_cmpstr (data, ==, "written by the worker");
}

static void
test_input_cannot_be_written (void)
{
  if (sandbox_missing ())
    return;
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayMemory) array = assay_memory_new_from_data ("x", "input", 5, &error);
  g_assert_no_error (error);
  g_autoptr (AssaySandboxSpec) spec = probe ("write-input");
  assay_sandbox_spec_pass (spec, array, 4);
  g_autoptr (AssaySandboxEnd) end = run_probe (spec, NULL, NULL);
  assert_line (end, "write Operation not permitted");
  assert_line (end, "map Operation not permitted");
  assert_line (end, "reopen Operation not permitted");
}

static void
test_writable_mapping_refuses_seal (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayMemory) array = assay_memory_new ("y", 4096, &error);
  g_assert_no_error (error);
  int report[2], release[2];
  char byte = 0;
  g_assert_cmpint (pipe (report), ==, 0);
  g_assert_cmpint (pipe (release), ==, 0);
  pid_t pid = fork ();
  if (pid == 0)
    {
      mmap (NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, assay_memory_fd (array), 0);
      close (release[1]);
      _exit (write (report[1], "m", 1) == 1 && read (release[0], &byte, 1) == 0 ? 0 : 1);
    }
  g_assert_cmpint (read (report[0], &byte, 1), ==, 1);
  g_assert_false (assay_memory_finish (array, &error));
  g_assert_error (error, ASSAY_ERROR, ASSAY_ERROR_LOST);
  g_clear_error (&error);
  close (release[0]);
  close (release[1]);
  waitpid (pid, NULL, 0);
  g_assert_true (assay_memory_finish (array, &error));
  g_assert_no_error (error);
}

static void
test_missing_program (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AssaySandboxSpec) spec = assay_sandbox_spec_new ("/nonexistent/program");
  g_assert_null (assay_sandbox_process_start (spec, ASSAY_TIER_NONE, &error));
  g_assert_error (error, ASSAY_ERROR, ASSAY_ERROR_FAILED);
  g_assert_nonnull (strstr (error->message, "/nonexistent/program"));
}

static void
test_without_sandbox (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AssaySandboxSpec) spec = probe ("abort");
  g_autoptr (AssaySandboxProcess) process =
      assay_sandbox_process_start (spec, ASSAY_TIER_NONE, &error);
  g_assert_no_error (error);
  g_autoptr (AssaySandboxEnd) end = assay_sandbox_process_pump (process, NULL, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (end->kind, ==, ASSAY_END_SIGNAL);
  g_assert_cmpint (end->code, ==, SIGABRT);
}

static void
test_explanations (void)
{
  const char *advice;
  const char *reason =
      assay_sandbox_explain ("bwrap: setting up uid map: Permission denied", &advice);
  g_assert_nonnull (strstr (reason, "AppArmor"));
  g_assert_nonnull (strstr (advice, "bwrap-userns-restrict"));
  reason = assay_sandbox_explain ("bwrap: Creating new namespace failed: nesting depth or "
                                  "/proc/sys/user/max_*_namespaces exceeded (ENOSPC)",
                                  &advice);
  g_assert_nonnull (strstr (reason, "no more namespaces"));
  g_assert_null (assay_sandbox_explain ("something else", &advice));
  g_assert_null (advice);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  fixture_adopt ();
  probe_path = g_test_build_filename (G_TEST_BUILT, "engine", "sandbox-probe", NULL);
  g_test_add_func ("/sandbox/facts", test_facts);
  g_test_add_func ("/sandbox/private-folders", test_private_folders);
  g_test_add_func ("/sandbox/signal", test_signal);
  g_test_add_func ("/sandbox/descendants-die", test_descendants_die);
  g_test_add_func ("/sandbox/ended-while-starting", test_ended_while_starting);
  g_test_add_func ("/sandbox/orphans-are-swept", test_orphans_are_swept);
  g_test_add_func ("/sandbox/timeout", test_timeout);
  g_test_add_func ("/sandbox/cancel", test_cancel);
  g_test_add_func ("/sandbox/memory", test_memory);
  g_test_add_func ("/sandbox/flood-of-log", test_flood_of_log);
  g_test_add_func ("/sandbox/flood-of-channel", test_flood_of_channel);
  g_test_add_func ("/sandbox/array-cannot-be-resized", test_array_cannot_be_resized);
  g_test_add_func ("/sandbox/input-cannot-be-written", test_input_cannot_be_written);
  g_test_add_func ("/sandbox/writable-mapping-refuses-seal", test_writable_mapping_refuses_seal);
  g_test_add_func ("/sandbox/missing-program", test_missing_program);
  g_test_add_func ("/sandbox/without-sandbox", test_without_sandbox);
  g_test_add_func ("/sandbox/explanations", test_explanations);
  return g_test_run ();
}
