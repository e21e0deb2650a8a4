/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/record/finding.h"

G_BEGIN_DECLS

/* What NVIDIA's compute-sanitizer printed (and cuda-memcheck before it), as findings. Its text is not specified
 * beyond the examples of its manual: lines begin with "=========", a report's first one is not indented. A report
 * that is not known is kept as a note, never dropped. */
typedef struct
{
  GPtrArray *findings; /* AssayFinding *: equal ones (rule, kernel, place) once, with their count */
  guint64 reports;     /* that were read */
  guint64 told;        /* by its own summaries; 0 where there is none */
  guint64 api_errors;  /* "Program hit …", which a summary counts and which are notes here */
  gboolean whole;      /* a summary ends it, and the tool itself did not fail */
  char **notes;        /* first lines of what is no finding here: API errors, unknown reports */
} AssaySanitizerLog;

/* ASSAY_ERROR_INVALID: no output of the tool, or its XML, which is not read. ASSAY_ERROR_LIMIT: more than 64
 * MiB. */
AssaySanitizerLog *assay_sanitizer_read (const char *text, gsize bytes, GError **error);
void assay_sanitizer_log_free (AssaySanitizerLog *log);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssaySanitizerLog, assay_sanitizer_log_free)

G_END_DECLS
