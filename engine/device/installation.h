/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Our own files, whether this program runs out of its build tree or was installed. Both return a path
 * (transfer full), or NULL with ASSAY_ERROR_NOT_FOUND. */

/* Programs and drivers, by their installed name ("assay-worker", "driver/libcuda.so.1"):
 * $ASSAY_LIBEXEC, the build tree, the installation. */
char *assay_libexec_path (const char *name, GError **error);
/* Data, by its installed name ("reference", "tasks"): $ASSAY_DATA, the source tree, the
 * installation. */
char *assay_data_path (const char *name, GError **error);

G_END_DECLS
