/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Headers that pasted .cu files include and NVRTC does not have: the little of each that means
 * something in device code. Their texts are the files of data/shims. */
typedef struct
{
  int count;
  const char *const *names;
  const char *const *texts;
} AssayShims;

/* `has_toolkit`: cuda_runtime.h and the like come from the toolkit's own include folder. Static. */
AssayShims assay_shims (gboolean has_toolkit);

G_END_DECLS
