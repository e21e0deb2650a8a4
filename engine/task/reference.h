/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/task/plan.h"

G_BEGIN_DECLS

/* How a C reference is called (docs/tasks.md, "The reference").
 *
 * The reference is compiled once for each rung of the precision ladder with -DASSAY_REAL=1 (float), 2
 * (double) or 3 (__float128), with the folder of assay_reference.h and the task folder on the include
 * path. Its entry gets, in the order of "arguments" (by default inputs, outputs, axes as the task
 * lists them):
 *
 *   array of a floating dtype      const REAL *  (outputs and inout: REAL *), widened exactly;
 *                                  complex: interleaved real and imaginary parts
 *   array of an integer or bool    const int64_t *  (int64_t *)
 *   scalar                         REAL, or int64_t, by value
 *   axis                           int64_t by value
 *
 * Workspace inputs are not passed by default. Narrow outputs are rounded once, by the engine. */

typedef enum
{
  ASSAY_REAL_FLOAT = 1,
  ASSAY_REAL_DOUBLE = 2,
  ASSAY_REAL_QUAD = 3,
} AssayReal;

typedef struct
{
  char *name;
  AssayArgumentKind kind; /* INPUT, OUTPUT, SCALAR or AXIS */
  guint index;            /* into the plan's inputs or outputs */
  gboolean integer;       /* int64_t rather than REAL */
  gboolean writable;
} AssayReferenceArgument;

/* (transfer full) (element-type AssayReferenceArgument): the arguments in call order. */
GPtrArray *assay_reference_arguments (const AssayTask *task, const AssayReference *reference,
                                      GError **error);

/* (transfer full): C source of one translation unit that includes the reference's sources and exports
 *
 *   void assay_reference_call (void **arguments);
 *
 * arguments[i] points at the array of argument i, or at the REAL or int64_t of a scalar or axis. A
 * reference whose signature is another one does not compile, with a message that names the entry. */
char *assay_reference_wrapper (const AssayTask *task, const AssayReference *reference,
                               GError **error);

/* The rung in which the task's own reference runs: double when the task computes in float64, else
 * float. What the gate compares with is its output rounded once to the output's dtype. */
AssayReal assay_reference_task_rung (const AssayTask *task);

G_END_DECLS
