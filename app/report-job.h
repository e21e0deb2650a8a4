/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gdk/gdk.h>

#include "app/context.h"

G_BEGIN_DECLS

/* The report of what a context looks at, made on a thread: pages as pictures for the preview, or a
 * file. The context is read before the call returns. */

/* Pages `width` device pixels wide; (element-type GdkTexture). */
void assay_report_preview_async (AssayContext *context, int width, GCancellable *cancellable,
                                 GAsyncReadyCallback callback, gpointer user_data);
GPtrArray *assay_report_preview_finish (GAsyncResult *result, GError **error);

/* By the ending of `path`: .md, .pdf, .json. An existing file is left alone and is an error of
 * G_IO_ERROR_EXISTS unless `replace`. */
void assay_report_export_async (AssayContext *context, const char *path, gboolean replace,
                                GCancellable *cancellable, GAsyncReadyCallback callback,
                                gpointer user_data);
gboolean assay_report_export_finish (GAsyncResult *result, GError **error);

G_END_DECLS
