/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/service/service.h"

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

struct _AssayService
{
  GObject parent;
  SoupServer *server;
  AssayStore *store;
  char *workspace, *token, *socket_path;
  GHashTable *jobs; /* id → AssayJob *, of this engine's life */
  GQueue waiting;   /* AssayJob *, borrowed from jobs: not started yet */
  GQueue finished;  /* char *: ids of jobs that are over, oldest first */
  guint running;
  guint streams;
};

/* Answers. */
void assay_respond_json (SoupServerMessage *message, guint status, JsonObject *object);
/* A problem object from an error of our domain, with the HTTP status that fits. */
void assay_respond_error (SoupServerMessage *message, const GError *error);
void assay_respond_problem (SoupServerMessage *message, guint status, const char *code,
                            const char *text, const char *hint);

/* Streams a job's events from number `since` + 1 until the job is finished or the client is gone. */
void assay_stream_events (AssayService *service, SoupServerMessage *message, AssayJob *job,
                          guint64 since);
/* Answers with the matrix that the body asks for, when it is made. */
void assay_post_matrix (AssayService *service, SoupServerMessage *message);
/* Sends one file of a run folder; refuses what is not a regular file inside of it. */
void assay_send_file (SoupServerMessage *message, const char *folder, const char *path);

G_END_DECLS
