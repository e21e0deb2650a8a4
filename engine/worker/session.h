/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/sandbox/process.h"
#include "engine/worker/contract.h"

G_BEGIN_DECLS

/* The engine's end of the contract: one worker, one request, one typed outcome, whatever the worker
 * does. Everything a worker says here is a claim; facts are how it ended, and what stands in arrays
 * that were sealed after its death. */

typedef enum
{
  ASSAY_OUTCOME_DONE,    /* it says it did what was asked */
  ASSAY_OUTCOME_ERROR,   /* it says why not: `error` */
  ASSAY_OUTCOME_CRASHED, /* a signal ended it */
  ASSAY_OUTCOME_EXITED,  /* it left without an answer */
  ASSAY_OUTCOME_TIMEOUT,
  ASSAY_OUTCOME_MEMORY,
  ASSAY_OUTCOME_FLOOD,     /* more output or processes than any worker needs */
  ASSAY_OUTCOME_VIOLATION, /* it broke the contract: `message` says where */
} AssayOutcome;

typedef struct
{
  AssayOutcome outcome;
  char *message;           /* one sentence; NULL when done */
  AssayWorkerError *error; /* only with ASSAY_OUTCOME_ERROR */
  JsonObject *done;        /* the fields of `done`, only with ASSAY_OUTCOME_DONE */
  GPtrArray *launches;     /* JsonObject * */
  GPtrArray *findings;     /* JsonObject *: what the virtual GPU or the worker saw */
  GPtrArray *caveats;      /* char * */
  const char *phase;       /* the last one it announced, or NULL; static */
  AssaySandboxEnd *end;
} AssayWorkerReply;

void assay_worker_reply_free (AssayWorkerReply *reply);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssayWorkerReply, assay_worker_reply_free)

/* A spec for assay-worker itself, shown at /assay/worker. NULL when it is not installed. */
AssaySandboxSpec *assay_worker_spec_new (GError **error);

/* Sets the request's nonce, starts the worker, and blocks until its tree is dead. An error only when
 * no worker could be had, one would not die (ASSAY_ERROR_LOST), or on cancellation. */
AssayWorkerReply *assay_worker_call (AssaySandboxSpec *spec, AssaySandboxTier tier,
                                     AssayWorkerRequest *request, GCancellable *cancellable,
                                     GError **error);

G_END_DECLS
