/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/task/task.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* A small sound task in a folder of its own, to be broken in one place at a time. */
typedef struct
{
  char *folder;
} TaskFixture;

static const char SOUND_TASK[] =
    "{\n"
    "  \"format\": \"assay-task\", \"version\": 1,\n"
    "  \"id\": \"scale\", \"title\": \"Scale\", \"category\": \"generation\",\n"
    "  \"spec\": \"spec.md\",\n"
    "  \"license\": {\"id\": \"MIT\", \"training_allowed\": \"yes\"},\n"
    "  \"axes\": {\"n\": {\"type\": \"var\"}, \"tile\": {\"type\": \"const\", \"value\": 32},\n"
    "           \"blocks\": {\"type\": \"expr\", \"expression\": \"ceil_div (n, tile)\"}},\n"
    "  \"constraints\": [\"n >= 1\"],\n"
    "  \"inputs\": {\"x\": {\"dtype\": \"float32\", \"shape\": [\"n\", 2]},\n"
    "             \"alpha\": {\"dtype\": \"float32\", \"shape\": null}},\n"
    "  \"outputs\": {\"y\": {\"dtype\": \"float32\", \"shape\": [\"n\", 2]}},\n"
    "  \"numerics\": {\"compute\": \"float32\", \"deterministic\": true},\n"
    "  \"reference\": {\"language\": \"c\", \"sources\": [\"reference.c\"], \"entry\": "
    "\"reference\"},\n"
    "  \"candidates\": [{\"name\": \"plain\", \"framework\": \"cuda\", \"sources\": "
    "[\"kernel.cu\"],\n"
    "    \"entry\": {\"kind\": \"kernel\", \"symbol\": \"scale\", \"arguments\": [\"x\", "
    "\"alpha\", \"y\", \"n\"],\n"
    "      \"grid\": [\"blocks\"], \"block\": [\"tile\"], \"shared\": \"4 * tile\"}}],\n"
    "  \"workloads\": [{\"name\": \"small\", \"axes\": {\"n\": 100}, \"seed\": 3, \"use\": "
    "[\"check\"],\n"
    "    \"inputs\": {\"x\": {\"type\": \"random\", \"distribution\": \"uniform\", \"low\": -1, "
    "\"high\": 1},\n"
    "               \"alpha\": {\"type\": \"scalar\", \"value\": 2.5}}}],\n"
    "  \"tolerance\": {\"rule\": \"allclose\", \"atol\": 1e-6, \"rtol\": 1e-5},\n"
    "  \"targets\": [\"cuda:sm_80\"]\n"
    "}\n";

static void
write_in (const char *folder, const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
}

static G_GNUC_UNUSED TaskFixture
task_fixture_new (void)
{
  TaskFixture fixture = {g_dir_make_tmp ("assay-task-XXXXXX", NULL)};
  write_in (fixture.folder, "spec.md", "# Scale\n");
  write_in (fixture.folder, "reference.c", "/* y = alpha x */\n");
  write_in (fixture.folder, "kernel.cu", "// kernel\n");
  write_in (fixture.folder, ASSAY_TASK_FILE, SOUND_TASK);
  return fixture;
}

static G_GNUC_UNUSED void
task_fixture_clear (TaskFixture *fixture)
{
  g_autoptr (GDir) dir = g_dir_open (fixture->folder, 0, NULL);
  for (const char *name; (name = g_dir_read_name (dir));)
    {
      g_autofree char *path = g_build_filename (fixture->folder, name, NULL);
      g_remove (path);
    }
  g_rmdir (fixture->folder);
  g_free (fixture->folder);
}

/* Writes the sound task with one place replaced. */
static G_GNUC_UNUSED void
task_fixture_change (const TaskFixture *fixture, const char *find, const char *replace)
{
  const char *at = strstr (SOUND_TASK, find);
  g_assert_nonnull (at);
  g_autofree char *text = g_strdup_printf ("%.*s%s%s", (int) (at - SOUND_TASK), SOUND_TASK, replace,
                                           at + strlen (find));
  write_in (fixture->folder, ASSAY_TASK_FILE, text);
}
