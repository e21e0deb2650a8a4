/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/base/array.h"
#include "engine/task/task.h"

G_BEGIN_DECLS

/* A workload with its numbers worked out: axis values, shapes, sizes. Points into the task, which
 * must live longer. */

typedef struct
{
  const AssayTaskArray *array;
  const AssayGenerator *generator; /* inputs only; NULL for workspace */
  gboolean scalar;
  guint ndim;
  gint64 shape[ASSAY_ARRAY_MAX_DIMS];
  gsize count, bytes;
} AssayPlannedArray;

typedef struct
{
  const AssayTask *task;
  const AssayWorkload *workload;
  GHashTable *axes;            /* char * → gint64 *, every axis */
  GPtrArray *inputs, *outputs; /* AssayPlannedArray *, in the task's order */
} AssayPlan;

/* Errors name the workload and what does not work out: an axis without a value, a constraint that
 * does not hold, an extent below zero, a size beyond 64 bits. */
AssayPlan *assay_plan_new (const AssayTask *task, const AssayWorkload *workload, GError **error);
void assay_plan_free (AssayPlan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssayPlan, assay_plan_free)

/* Value of an expression over the axes. */
gboolean assay_plan_evaluate (const AssayPlan *plan, const char *expression, gint64 *value,
                              GError **error);

/* Grid, block and dynamic shared bytes of a kernel entry, exactly as the task says: whether a device
 * accepts them is for the launch to find out. Missing entries are 1, missing shared is 0. */
typedef struct
{
  gint64 grid[3], block[3], shared;
} AssayLaunchShape;
gboolean assay_plan_launch (const AssayPlan *plan, const AssayEntry *entry, AssayLaunchShape *shape,
                            GError **error);

/* What an argument name of an entry stands for. */
typedef enum
{
  ASSAY_ARGUMENT_INPUT,  /* pointer to inputs[index] */
  ASSAY_ARGUMENT_OUTPUT, /* pointer to outputs[index] */
  ASSAY_ARGUMENT_SCALAR, /* inputs[index] by value, in its dtype */
  ASSAY_ARGUMENT_AXIS,   /* `value`, an integer; how wide, the function's parameter decides */
  ASSAY_ARGUMENT_STRIDE, /* "x.stride1": stride of an input or output in elements, like AXIS */
} AssayArgumentKind;

typedef struct
{
  AssayArgumentKind kind;
  guint index;
  guint dimension; /* STRIDE */
  gboolean of_output;
  gint64 value; /* AXIS; STRIDE of a contiguous array (inputs of another layout: see generate.h) */
} AssayArgument;

/* FALSE with ASSAY_ERROR_NOT_FOUND when the name is no input, output, axis or stride. */
gboolean assay_plan_argument (const AssayPlan *plan, const char *name, AssayArgument *argument,
                              GError **error);

G_END_DECLS
