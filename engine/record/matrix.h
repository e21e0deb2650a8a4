/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/record/run.h"

G_BEGIN_DECLS

/* Candidates × targets: what the compiler says for every architecture it knows, without running
 * anything. */

typedef struct
{
  char *candidate;   /* or the file's name */
  char *kernel;      /* as the source names it */
  AssayCompile base; /* target, status, registers, shared memory, spills, stack, failure */
  char *blame;       /* of a failure, or NULL */
  char *advice;
  char *message; /* the compiler's first error, or the limit that the launch breaks */
  char *text;    /* the compiler's whole text */
  char *toolkit; /* its folder */
  char *compiler;
  char *ptx_version;
  gint64 warnings;
  /* Of the workload whose launch fills a multiprocessor least; -1 and NULL where there is no launch, or
   * the target's limits are not known. */
  char *workload;
  gint64 threads, blocks_per_sm, warps_per_sm;
  double occupancy; /* share of the warps that a multiprocessor could hold; NaN: not known */
  char *limited_by;
} AssayMatrixCell;

/* One interpreter, and what of interest is installed beside it. */
typedef struct
{
  char *name, *version;
} AssayPackage;

typedef struct
{
  char *path, *version;
  GPtrArray *packages; /* AssayPackage * */
} AssayPython;

/* A version that the task asks for (environment.pins), and whether it is here. */
typedef struct
{
  char *name, *wanted;
  char *found; /* "3.1.0 (/usr/bin/python3), 3.4.0 (/opt/x/bin/python3)"; NULL: nowhere */
  gboolean met;
} AssayPin;

typedef struct
{
  char *format; /* "assay-matrix" */
  gint64 version;
  char *subject;      /* task id, or the file */
  char *toolkit;      /* the first of them */
  char **toolkits;    /* folders, in order */
  GPtrArray *pythons; /* AssayPython * */
  GPtrArray *pins;    /* AssayPin * */
  double seconds;
  GPtrArray *cells; /* AssayMatrixCell *, by candidate, then kernel, then target */
} AssayMatrix;

ASSAY_JSON_DECLARE (AssayMatrixCell, assay_matrix_cell, ASSAY_MATRIX_CELL_TABLE)
ASSAY_JSON_DECLARE (AssayMatrix, assay_matrix, ASSAY_MATRIX_TABLE)

extern const AssayJsonTable ASSAY_PYTHON_TABLE;
ASSAY_JSON_DECLARE (AssayPin, assay_pin, ASSAY_PIN_TABLE)

/* (transfer full): a cell in few words: "40 reg · 8.0 KiB · 75 % by registers", or the failure class. */
char *assay_matrix_cell_describe (const AssayMatrixCell *cell);

G_END_DECLS
