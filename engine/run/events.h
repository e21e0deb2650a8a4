/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* The events of a job, numbered from 1, as the lines that the service streams. Any thread may add or
 * read. Nothing is ever taken out: a client that comes back asks for what it has not seen. */
typedef struct _AssayEvents AssayEvents;

AssayEvents *assay_events_new (void);
AssayEvents *assay_events_ref (AssayEvents *events);
void assay_events_unref (AssayEvents *events);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssayEvents, assay_events_unref)

/* Called from the thread that added, without the lock; set before the first event. */
void assay_events_set_notify (AssayEvents *events, void (*notify) (gpointer data), gpointer data);

/* `fields` (transfer full) gets "n" and "type". */
void assay_events_add (AssayEvents *events, const char *type, JsonObject *fields);
/* The same with one member, `record` (transfer full). */
void assay_events_add_record (AssayEvents *events, const char *type, JsonNode *record);
/* Adds "finished", the last one. */
void assay_events_finish (AssayEvents *events, JsonObject *fields);

guint64 assay_events_last (AssayEvents *events);
gboolean assay_events_finished (AssayEvents *events);
/* (transfer full) (element-type utf8): the lines of events `since` + 1 … without newlines, at most
 * `limit` of them (0: all). */
GPtrArray *assay_events_since (AssayEvents *events, guint64 since, guint limit);

G_END_DECLS
