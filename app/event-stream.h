/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <libsoup/soup.h>

#include "app/run-model.h"

G_BEGIN_DECLS

#define ASSAY_TYPE_EVENT_STREAM (assay_event_stream_get_type ())
G_DECLARE_FINAL_TYPE (AssayEventStream, assay_event_stream, ASSAY, EVENT_STREAM, GObject)

/* Follows one run's events and applies them to its model. Lines are parsed in order on a thread of
 * their own and applied on the main loop, a few at a time. When the connection breaks it asks again
 * from the last event it has; when the engine is gone it stays silent until stopped.
 *
 * Signal "ended": the run has finished and everything has been applied. */
AssayEventStream *assay_event_stream_new (SoupSession *session, const char *base, const char *token,
                                          AssayRunModel *run);
AssayRunModel *assay_event_stream_get_run (AssayEventStream *self);
void assay_event_stream_stop (AssayEventStream *self);

G_END_DECLS
