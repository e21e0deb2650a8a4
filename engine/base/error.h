/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* One error domain for everything below the engine. A message says what is wrong, where (file and
 * key, or file and line), what was expected and what was found, and what to do where that helps. */
#define ASSAY_ERROR (assay_error_quark ())

typedef enum
{
  ASSAY_ERROR_FAILED,      /* could not be done, for a reason outside the input */
  ASSAY_ERROR_INVALID,     /* the input breaks its format */
  ASSAY_ERROR_UNSUPPORTED, /* well formed, but not something this version can do */
  ASSAY_ERROR_LIMIT,       /* larger, deeper or longer than we accept */
  ASSAY_ERROR_NOT_FOUND,   /* a named thing does not exist */
  ASSAY_ERROR_DENIED,      /* refused on purpose: licence, sandbox, consent */
  ASSAY_ERROR_CANCELLED,
  ASSAY_ERROR_LOST, /* a worker or the engine died meanwhile */
} AssayError;

GQuark assay_error_quark (void);

G_END_DECLS
