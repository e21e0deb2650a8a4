/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/lint/python.h"
#include "engine/sandbox/spec.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/* Python sources are read by Python's own parser, in a sandboxed process that imports and runs nothing
 * of them. Any Python 3.9 or newer of the system serves. */

/* One source that could not be read. */
typedef struct
{
  char *path;
  char *reason; /* "line 3: invalid syntax", "larger than 1 MiB" */
} AssayUnread;

void assay_unread_free (AssayUnread *self);

/* Every .py file of `paths`, files or folders (with what is below them, hidden folders and virtual
 * environments left out), sorted: char * (transfer full). NULL with error where a path does not exist,
 * or more than 10,000 files are found. */
GPtrArray *assay_python_files (const char *const *paths, GError **error);

/* The syntax trees (AssayPython) of the files that parse; the others go to `unread` (AssayUnread). NULL
 * with error: no Python, no sandbox, or the reader died; the message says which. */
GPtrArray *assay_read_python (GPtrArray *files, AssaySandboxTier tier, GPtrArray *unread,
                              GCancellable *cancellable, GError **error);

G_END_DECLS
