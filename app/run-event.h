/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/record/run.h"

#include <glib-object.h>

G_BEGIN_DECLS

/* One line of the engine's event stream, read and checked. Parsing may take milliseconds for a
 * workload's record, so it happens on a worker thread; applying it is cheap. */

typedef enum
{
  ASSAY_EVENT_STAGE,
  ASSAY_EVENT_LOG,
  ASSAY_EVENT_WORKLOAD,
  ASSAY_EVENT_FINDING,
  ASSAY_EVENT_AUDIT,
  ASSAY_EVENT_COMPILE,
  ASSAY_EVENT_TIMING,
  ASSAY_EVENT_FINISHED,
  ASSAY_EVENT_HEARTBEAT,
  ASSAY_EVENT_UNKNOWN, /* of a newer engine; counted, else passed over */
} AssayEventType;

typedef struct
{
  gint64 n;
  AssayEventType type;
  int stage;       /* AssayStageKind or -1 */
  int status;      /* AssayStatus: of the stage, or of the whole run when finished */
  double fraction; /* 0 … 1 */
  char *reason, *text, *folder;
  gpointer record;             /* owned; by `table` */
  const AssayJsonTable *table; /* NULL where there is no record */
} AssayRunEvent;

AssayRunEvent *assay_run_event_parse (const char *line, gsize length, GError **error);
void assay_run_event_free (AssayRunEvent *event);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssayRunEvent, assay_run_event_free)

/* Index of `word` in a NULL-terminated list, or `otherwise`. */
int assay_word_index (const char *const *words, const char *word, int otherwise);

G_END_DECLS
