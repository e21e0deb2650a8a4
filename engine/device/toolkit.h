/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Where the CUDA compilers are. They are separate programs under NVIDIA's licence, found where the
 * reviewer put them: nothing here fetches them. */
typedef struct
{
  char *root;      /* the folder that everything else is in */
  char *nvrtc;     /* path of libnvrtc.so…; NULL where there is none */
  char *nvcc;      /* or NULL */
  char **includes; /* existing include folders, most important first */
} AssayToolkit;

/* Looks in $ASSAY_TOOLKIT, the user's data folder (assay/toolkit, also with the layout of the
 * nvidia-cuda-nvrtc wheels), the configured root, and the usual places; the first with NVRTC wins.
 * NULL with ASSAY_ERROR_NOT_FOUND, naming the places. */
AssayToolkit *assay_toolkit_find (GError **error);
/* (transfer full): AssayToolkit *: the one above first, then what else is installed: $ASSAY_TOOLKITS (folders, colons
 * between), the folders of assay/toolkits in the
 * user's data, those of /usr/local that begin with cuda-; one compiler under two names once. Only the
 * named ones where $ASSAY_TOOLKIT is set. Empty where there is none. */
GPtrArray *assay_toolkit_list (void);
/* The same for one folder; NULL where it holds no NVRTC. */
AssayToolkit *assay_toolkit_at (const char *root);
void assay_toolkit_free (AssayToolkit *toolkit);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssayToolkit, assay_toolkit_free)

G_END_DECLS
