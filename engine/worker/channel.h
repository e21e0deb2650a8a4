/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/worker/contract.h"

G_BEGIN_DECLS

/* The worker's end of the contract. */
typedef struct _AssayChannel AssayChannel;

AssayChannel *assay_channel_new (int fd);
void assay_channel_free (AssayChannel *channel);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssayChannel, assay_channel_free)

/* Blocks for one request; NULL without `error` when the engine closed its end. */
AssayWorkerRequest *assay_channel_receive (AssayChannel *channel, GError **error);

/* Announces a phase of the request at hand; errors carry the last one. */
void assay_channel_phase (AssayChannel *channel, const char *phase);
/* `fields` (transfer full): nonce and reply are added. May be called from any thread. */
void assay_channel_reply (AssayChannel *channel, AssayReplyKind kind, JsonObject *fields);
/* A line that is one JSON value already, as the member `record` of a finding. */
void assay_channel_forward (AssayChannel *channel, const char *json_line);
/* The request's end. `error` (transfer full). */
void assay_channel_fail (AssayChannel *channel, AssayWorkerError *error);
void assay_channel_fail_message (AssayChannel *channel, const char *kind, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

G_END_DECLS
