/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/worker/compile.h"
#include "engine/worker/ptx-signature.h"
#include "engine/worker/roles.h"

#include <string.h>

/* One process for many targets: the compiler is loaded once. Registers and the like come from the log,
 * which the engine reads; what was compiled is thrown away. */

/* (transfer full): the request's targets, or the compiler's own list. */
static char **
list_targets (const AssayNvrtc *nvrtc, const AssayWorkerRequest *request)
{
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();
  int count = 0;
  if (request->targets)
    return g_strdupv (request->targets);
  if (nvrtc->nvrtcGetNumSupportedArchs (&count) != 0 || count <= 0)
    return g_new0 (char *, 1);
  g_autofree int *archs = g_new0 (int, count);
  if (nvrtc->nvrtcGetSupportedArchs (archs) != 0)
    count = 0;
  for (int i = 0; i < count; i++)
    {
      g_autofree char *name = g_strdup_printf ("sm_%d", archs[i]);
      g_strv_builder_add (names, name);
    }
  return g_strv_builder_end (names);
}

/* The first line of PTX that says so: ".version 9.0". */
static char *
ptx_version (const char *ptx)
{
  const char *at = ptx ? strstr (ptx, ".version ") : NULL;
  return at ? g_strndup (at + strlen (".version "), strcspn (at + strlen (".version "), "\r\n"))
            : NULL;
}

static void
add_text (JsonObject *cell, const char *key, const char *text)
{
  if (text)
    json_object_set_string_member (cell, key, text);
}

/* The kernel's name in the log, where the request names one of several. */
static void
add_entry (JsonObject *cell, const AssayWorkerRequest *request, const AssayCompiled *outcome)
{
  const char *symbol = outcome->lowered ? outcome->lowered : request->symbol;
  g_autoptr (GPtrArray) entries = assay_ptx_entries (outcome->ptx);
  const AssayPtxEntry *entry = symbol ? assay_ptx_find (entries, symbol) : NULL;
  if (entry)
    add_text (cell, "entry", entry->name);
}

static JsonObject *
compile_cell (const AssayNvrtc *nvrtc, const AssayWorkerRequest *request, const char *unit,
              const char *name)
{
  JsonObject *cell = json_object_new ();
  AssayCompiled outcome = {0};
  gint64 started = g_get_monotonic_time ();
  gboolean with_nvcc = request->host;
  if (!with_nvcc)
    assay_compile_nvrtc (nvrtc, request, unit, name, &outcome);
  if (with_nvcc || (!outcome.compiled && request->nvcc && assay_compile_has_host_code (unit)))
    assay_compile_nvcc (request, unit, &outcome);
  g_autofree char *log = assay_compile_log (outcome.log ? outcome.log : "");
  g_autofree char *version = ptx_version (outcome.ptx);
  double seconds = (double) (g_get_monotonic_time () - started) / G_TIME_SPAN_SECOND;
  json_object_set_string_member (cell, "target", request->target);
  json_object_set_boolean_member (cell, "compiled", outcome.compiled);
  json_object_set_double_member (cell, "seconds", seconds);
  add_text (cell, "log", log);
  add_text (cell, "compiler", outcome.compiler);
  add_text (cell, "ptx_version", version);
  if (outcome.ptx)
    add_entry (cell, request, &outcome);
  assay_compiled_clear (&outcome);
  return cell;
}

void
assay_worker_matrix (AssayChannel *channel, const AssayWorkerRequest *request)
{
  AssayNvrtc nvrtc;
  g_autoptr (GError) error = NULL;
  g_autofree char *reason = NULL;
  const char *name = NULL;
  assay_channel_phase (channel, "load");
  g_autofree char *unit = assay_compile_read (request, &name, &reason);
  if (!unit || request->sources->len == 0 || (request->host && !request->nvcc))
    {
      assay_channel_fail_message (channel, reason ? "request" : "environment", "%s",
                                  reason ? reason : "no nvcc in the toolkit for host code");
      return;
    }
  if (!assay_nvrtc_open (&nvrtc, request->nvrtc ? request->nvrtc : "", &error))
    {
      assay_channel_fail_message (channel, "environment", "%s", error->message);
      return;
    }
  g_auto (GStrv) targets = list_targets (&nvrtc, request);
  JsonObject *fields = json_object_new ();
  JsonArray *cells = json_array_new (), *names = json_array_new ();
  assay_channel_phase (channel, "compile");
  for (guint i = 0; targets[i]; i++)
    json_array_add_string_element (names, targets[i]);
  json_object_set_array_member (fields, "targets", names);
  for (guint i = 0; targets[i]; i++)
    if ((gint64) i % MAX (request->slices, 1) == request->slice)
      {
        AssayWorkerRequest one = *request;
        one.target = targets[i];
        one.resources = TRUE;
        json_array_add_object_element (cells, compile_cell (&nvrtc, &one, unit, name));
      }
  json_object_set_array_member (fields, "cells", cells);
  assay_channel_reply (channel, ASSAY_REPLY_DONE, fields);
}
