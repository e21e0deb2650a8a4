/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/lint/lint.h"

G_BEGIN_DECLS

typedef struct
{
  const AssayPython *python;
  GPtrArray *findings; /* AssayFinding * */
} AssayLint;

/* A finding of `rule` at a node; takes the title. `why`: one sentence, or NULL. */
void assay_lint_add (AssayLint *lint, const char *rule, AssaySyntax *where, double confidence,
                     char *title, const char *why);
/* Whether a pattern (compiled once, case ignored) matches within a text; FALSE for NULL. */
gboolean assay_lint_is_like (const char *text, const char *pattern);
/* The same for any identifier or attribute below a node. */
gboolean assay_lint_mentions_like (AssaySyntax *node, const char *pattern);
/* Whether the source imports this module, or one below it. */
gboolean assay_lint_imports (const AssayPython *python, const char *module);
/* Calls `visit` for every function of the source, methods and nested ones among them. */
typedef void (*AssayLintFunction) (AssayLint *lint, AssaySyntax *function);
void assay_lint_functions (AssayLint *lint, AssayLintFunction visit);

/* The families. */
void assay_lint_timing (AssayLint *lint);
void assay_lint_metrics (AssayLint *lint);
void assay_lint_checkers (AssayLint *lint);
void assay_lint_inputs (AssayLint *lint);
void assay_lint_integrity (AssayLint *lint);

G_END_DECLS
