/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/lint/python.h"
#include "engine/record/finding.h"

G_BEGIN_DECLS

/* What a task's Python sources say of it before anything runs: how it times, how it checks, what
 * inputs it draws, and which tricks of a candidate are written down. It is read from the syntax tree,
 * so a comment or a string is never taken for code. What is found is a hint: `confidence` says how
 * sure, and a rule of integrity is never more than "info" here, since only a probe is evidence. */

/* Findings (AssayFinding, owned by the array) of one source, in the order of its lines. */
GPtrArray *assay_lint_python (const AssayPython *python);

G_END_DECLS
