/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/record/run.h"

G_BEGIN_DECLS

/* Lines of a candidate's source: what ran on them, and which PTX came of them. */

typedef struct
{
  guint64 executed; /* warp instructions issued from the line, over all launches of the run */
  double lanes;     /* active lanes, mean over those */
  double sectors;   /* sectors a global request, the worst launch; NaN where there was none */
  double bank;      /* bank conflict degree, the worst launch; NaN where there was none */
} AssayLineHeat;

/* By line, element 0 being line 1, up to the last line that ran; empty where nothing was counted.
 * (transfer full) */
GArray *assay_line_heat (const AssayRun *run, const char *file);

/* Where the lines of a PTX text come from, by its .loc directives. */
typedef struct
{
  GHashTable *files; /* number → path, as the compiler names it */
  GArray *lines;     /* struct of two int: file and line, by PTX line; 0 where nothing is said */
} AssayPtxLines;

AssayPtxLines *assay_ptx_lines_new (const char *ptx);
/* The same of machine code as nvdisasm -g prints it: a comment names file and line of what follows. */
AssayPtxLines *assay_sass_lines_new (const char *sass);
void assay_ptx_lines_free (AssayPtxLines *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssayPtxLines, assay_ptx_lines_free)
/* The first PTX line that comes of a line of `file` (a task's relative path), counting from 1; the next
 * source line with any where that one has none. 0: none at all. */
int assay_ptx_lines_find (const AssayPtxLines *self, const char *file, int line);
/* The line of `file` that a PTX line comes from; 0 where it comes from elsewhere. */
int assay_ptx_lines_source (const AssayPtxLines *self, const char *file, int ptx_line);

G_END_DECLS
