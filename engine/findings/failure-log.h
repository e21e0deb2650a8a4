/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What a log of a failed program says without knowing its words: which exceptions ended it, where they
 * were thrown, and which lines speak of a failure. Byte ranges are [start, end) into the text. */
typedef struct
{
  gsize start, end;
} AssayTextRange;

typedef struct
{
  char *type;          /* "triton.compiler.errors.CompilationError" */
  char *frame;         /* the file of the innermost frame above it; NULL: no frame was printed */
  AssayTextRange says; /* from its type to the end of its message, several lines perhaps */
} AssayLoggedException;

/* Copies in which the source lines that a log shows and its commands, or its warnings, are blank, and lines
 * are broken after 1000 bytes; every place stays where it was. A copy ends at `length` (transfer full). */
char *assay_log_without_source (const char *text, gsize length);
char *assay_log_without_warnings (const char *text, gsize length);

/* The exceptions of the last traceback, and of those it says it came from: the first cause first. An
 * array of AssayLoggedException, empty where the text has none (transfer full). */
GArray *assay_log_exceptions (const char *text, gsize length);

/* The lines that speak of a failure, or all lines where none does; in their order, at most 100 of each kind. An array
 * of AssayTextRange (transfer full). */
GArray *assay_log_error_lines (const char *text, gsize length);

G_END_DECLS
