/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What a worker prints: the head and the tail within a cap, however much comes. Feeding never
 * blocks and never grows beyond the cap. */
typedef struct _AssayCapture AssayCapture;

AssayCapture *assay_capture_new (gsize cap_bytes);
void assay_capture_free (AssayCapture *capture);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssayCapture, assay_capture_free)

void assay_capture_feed (AssayCapture *capture, const char *data, gsize bytes);
guint64 assay_capture_total (const AssayCapture *capture);

/* (transfer full): valid UTF-8 without control characters other than newline and tab; where the
 * middle is missing one line says how many bytes were left out. */
char *assay_capture_text (const AssayCapture *capture);

/* (transfer full): the same cleaning for any text of a worker. */
char *assay_text_clean (const char *data, gssize bytes);

G_END_DECLS
