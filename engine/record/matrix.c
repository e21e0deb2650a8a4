/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/record/matrix.h"

#include <math.h>

#define F(Type, member, KIND, ...) ASSAY_JSON_FIELD (Type, member, #member, KIND, __VA_ARGS__)
static const AssayJsonField CELL_FIELDS[] = {
    F (AssayMatrixCell, candidate, STRING),
    F (AssayMatrixCell, kernel, STRING),
    ASSAY_JSON_FIELD (AssayMatrixCell, base, "compile", STRUCT, .table = &ASSAY_COMPILE_TABLE),
    F (AssayMatrixCell, blame, STRING),
    F (AssayMatrixCell, advice, STRING),
    F (AssayMatrixCell, message, STRING),
    F (AssayMatrixCell, text, STRING),
    F (AssayMatrixCell, toolkit, STRING),
    F (AssayMatrixCell, compiler, STRING),
    F (AssayMatrixCell, ptx_version, STRING),
    F (AssayMatrixCell, warnings, INT),
    F (AssayMatrixCell, workload, STRING),
    F (AssayMatrixCell, threads, INT),
    F (AssayMatrixCell, blocks_per_sm, INT),
    F (AssayMatrixCell, warps_per_sm, INT),
    F (AssayMatrixCell, occupancy, DOUBLE),
    F (AssayMatrixCell, limited_by, STRING),
    ASSAY_JSON_END,
};

static void
initialise_cell (gpointer self)
{
  AssayMatrixCell *cell = self;
  AssayCompile *base = &cell->base;
  base->registers = base->shared_bytes = base->spill_store_bytes = -1;
  base->spill_load_bytes = base->stack_bytes = -1;
  cell->threads = cell->blocks_per_sm = cell->warps_per_sm = -1;
  cell->occupancy = NAN;
}

const AssayJsonTable ASSAY_MATRIX_CELL_TABLE = {"matrix cell", sizeof (AssayMatrixCell),
                                                CELL_FIELDS, initialise_cell};

static const AssayJsonField PACKAGE_FIELDS[] = {
    F (AssayPackage, name, STRING),
    F (AssayPackage, version, STRING),
    ASSAY_JSON_END,
};
static const AssayJsonTable PACKAGE_TABLE = {"package", sizeof (AssayPackage), PACKAGE_FIELDS,
                                             NULL};

static const AssayJsonField PYTHON_FIELDS[] = {
    F (AssayPython, path, STRING),
    F (AssayPython, version, STRING),
    F (AssayPython, packages, LIST, .table = &PACKAGE_TABLE),
    ASSAY_JSON_END,
};
const AssayJsonTable ASSAY_PYTHON_TABLE = {"python", sizeof (AssayPython), PYTHON_FIELDS, NULL};

static const AssayJsonField PIN_FIELDS[] = {
    F (AssayPin, name, STRING),
    F (AssayPin, wanted, STRING),
    F (AssayPin, found, STRING),
    F (AssayPin, met, BOOLEAN),
    ASSAY_JSON_END,
};
const AssayJsonTable ASSAY_PIN_TABLE = {"pin", sizeof (AssayPin), PIN_FIELDS, NULL};

static const AssayJsonField MATRIX_FIELDS[] = {
    F (AssayMatrix, format, STRING),
    F (AssayMatrix, version, INT),
    F (AssayMatrix, subject, STRING),
    F (AssayMatrix, toolkit, STRING),
    F (AssayMatrix, toolkits, STRV),
    F (AssayMatrix, pythons, LIST, .table = &ASSAY_PYTHON_TABLE),
    F (AssayMatrix, pins, LIST, .table = &ASSAY_PIN_TABLE),
    F (AssayMatrix, seconds, DOUBLE),
    F (AssayMatrix, cells, LIST, .table = &ASSAY_MATRIX_CELL_TABLE),
    ASSAY_JSON_END,
};
#undef F

static void
initialise_matrix (gpointer self)
{
  AssayMatrix *matrix = self;
  matrix->format = g_strdup ("assay-matrix");
  matrix->version = 1;
}

const AssayJsonTable ASSAY_MATRIX_TABLE = {"matrix", sizeof (AssayMatrix), MATRIX_FIELDS,
                                           initialise_matrix};

char *
assay_matrix_cell_describe (const AssayMatrixCell *cell)
{
  const AssayCompile *base = &cell->base;
  g_autoptr (GString) text = g_string_new (NULL);
  if (base->status != ASSAY_STATUS_PASSED)
    return g_strdup (base->failure ? base->failure : ASSAY_STATUSES[base->status]);
  if (base->registers >= 0)
    g_string_append_printf (text, "%" G_GINT64_FORMAT " reg", base->registers);
  if (base->shared_bytes > 0)
    g_string_append_printf (text, " · %.1f KiB", (double) base->shared_bytes / 1024);
  if (base->spill_store_bytes + base->spill_load_bytes > 0)
    g_string_append_printf (text, " · spills %" G_GINT64_FORMAT " B",
                            MAX (base->spill_store_bytes, base->spill_load_bytes));
  if (!isnan (cell->occupancy))
    g_string_append_printf (text, " · %.0f %% by %s", 100 * cell->occupancy, cell->limited_by);
  return g_string_free (g_steal_pointer (&text), FALSE);
}
