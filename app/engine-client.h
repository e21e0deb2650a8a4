/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gio/gio.h>

#include "app/device-item.h"
#include "app/run-model.h"

G_BEGIN_DECLS

typedef enum
{
  ASSAY_ENGINE_STOPPED,
  ASSAY_ENGINE_STARTING,
  ASSAY_ENGINE_READY,
  ASSAY_ENGINE_FAILED, /* does not start; `assay_engine_client_get_problem` says why */
} AssayEngineState;

#define ASSAY_TYPE_ENGINE_CLIENT (assay_engine_client_get_type ())
G_DECLARE_FINAL_TYPE (AssayEngineClient, assay_engine_client, ASSAY, ENGINE_CLIENT, GObject)

/* Starts the engine, speaks HTTP with it over a private socket, feeds run models from its event
 * streams, and starts it again with growing pauses when it dies.
 *
 * Signals: "notify::state"; "lost" (AssayRunModel * or NULL, will_restart): the engine ended by
 * itself while that run went on. */

/* `program` NULL: beside our own executable, in the build tree, or on PATH. */
AssayEngineClient *assay_engine_client_new (const char *workspace, const char *program);
void assay_engine_client_start (AssayEngineClient *self);
/* Closes the engine's stdin, on which it cancels everything and ends. */
void assay_engine_client_stop (AssayEngineClient *self);
AssayEngineState assay_engine_client_get_state (AssayEngineClient *self);
const char *assay_engine_client_get_problem (AssayEngineClient *self);
/* AssayDeviceItem */
GListModel *assay_engine_client_get_devices (AssayEngineClient *self);

/* Starts a run; the model is fed until the run has ended. `consent_unsandboxed`: the reviewer agreed
 * to run without a sandbox. */
void assay_engine_client_run_async (AssayEngineClient *self, const char *task_folder,
                                    const char *candidate, const char *device,
                                    gboolean consent_unsandboxed, GCancellable *cancellable,
                                    GAsyncReadyCallback callback, gpointer user_data);
AssayRunModel *assay_engine_client_run_finish (AssayEngineClient *self, GAsyncResult *result,
                                               GError **error);
/* Asks the engine to stop a run; the model hears of it by its events. */
void assay_engine_client_cancel_run (AssayEngineClient *self, AssayRunModel *run);
/* One question and its answer. `path` is "/v1/…", `body` (transfer none) an object or NULL. Errors are
 * the engine's own, with its hint. */
void assay_engine_client_ask_async (AssayEngineClient *self, const char *method, const char *path,
                                    JsonNode *body, GCancellable *cancellable,
                                    GAsyncReadyCallback callback, gpointer user_data);
JsonNode *assay_engine_client_ask_finish (AssayEngineClient *self, GAsyncResult *result,
                                          GError **error);
/* For tests: the process' identifier, NULL where none runs. */
const char *assay_engine_client_get_pid (AssayEngineClient *self);

G_END_DECLS
