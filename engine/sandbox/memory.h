/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* One array or file shared with a worker: a memfd that the engine made and sized. A worker can
 * neither shrink nor grow it, so reading it cannot fault; its bytes count only after the worker's
 * whole process tree is dead and assay_memory_finish () has sealed writing. */
typedef struct _AssayMemory AssayMemory;

/* `bytes` of zeros, sealed against resizing. */
AssayMemory *assay_memory_new (const char *name, gsize bytes, GError **error);
/* Empty, and may grow until it is finished: for files whose size a compiler decides. */
AssayMemory *assay_memory_new_growing (const char *name, GError **error);
AssayMemory *assay_memory_new_from_data (const char *name, gconstpointer data, gsize bytes,
                                         GError **error);
AssayMemory *assay_memory_ref (AssayMemory *memory);
void assay_memory_unref (AssayMemory *memory);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssayMemory, assay_memory_unref)

gboolean assay_memory_write (AssayMemory *memory, gsize offset, gconstpointer data, gsize bytes,
                             GError **error);
/* Repeats `pattern` over [offset, offset + bytes), its phase counted from `offset`. */
gboolean assay_memory_fill (AssayMemory *memory, gsize offset, gsize bytes, gconstpointer pattern,
                            gsize pattern_bytes, GError **error);

/* No more writing or resizing by anyone, ever. Fails with ASSAY_ERROR_LOST while any process still
 * has a writable mapping. */
gboolean assay_memory_finish (AssayMemory *memory, GError **error);
gboolean assay_memory_is_finished (AssayMemory *memory);

/* The bytes, mapped read-only until the last reference goes; only of finished memory. NULL with
 * `error` when it cannot be mapped; empty memory maps to a valid empty string. */
const void *assay_memory_data (AssayMemory *memory, gsize *bytes, GError **error);
gsize assay_memory_size (AssayMemory *memory);
/* Stays owned by the memory. */
int assay_memory_fd (AssayMemory *memory);

G_END_DECLS
