/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cli/command.h"

#include "engine/base/error.h"
#include "engine/run/matrix.h"

#include <math.h>
#include <stdio.h>

static void
add_row (AssayTextTable *table, const AssayMatrixCell *cell)
{
  const AssayCompile *base = &cell->base;
  gboolean built = base->registers >= 0;
  g_autofree char *registers = g_strdup_printf ("%" G_GINT64_FORMAT, base->registers);
  g_autofree char *shared = g_strdup_printf ("%" G_GINT64_FORMAT, MAX (base->shared_bytes, 0));
  g_autofree char *spills =
      g_strdup_printf ("%" G_GINT64_FORMAT "/%" G_GINT64_FORMAT, MAX (base->spill_store_bytes, 0),
                       MAX (base->spill_load_bytes, 0));
  g_autofree char *stack = g_strdup_printf ("%" G_GINT64_FORMAT, MAX (base->stack_bytes, 0));
  g_autofree char *share =
      isnan (cell->occupancy)
          ? NULL
          : g_strdup_printf ("%.0f %% (%s)", 100 * cell->occupancy,
                             cell->limited_by ? cell->limited_by : "does not start");
  g_autofree char *note =
      base->status == ASSAY_STATUS_PASSED
          ? (cell->warnings ? g_strdup_printf ("%" G_GINT64_FORMAT " warnings", cell->warnings)
                            : g_strdup (""))
          : g_strdup_printf ("%s, %s: %s", base->failure, cell->blame, cell->message);
  assay_text_table_add (table, cell->candidate, cell->kernel ? cell->kernel : "–", base->target,
                        ASSAY_STATUSES[base->status], built ? registers : NULL,
                        built ? shared : NULL, built ? spills : NULL, built ? stack : NULL, share,
                        cell->ptx_version, note);
}

static void
print_cells (const AssayMatrix *matrix, const char *toolkit)
{
  g_autoptr (AssayTextTable) table =
      assay_text_table_new ("candidate", "kernel", "target", "status", ">registers", ">shared",
                            ">spills", ">stack", ">occupancy", ">PTX", "note", NULL);
  for (guint i = 0; i < matrix->cells->len; i++)
    {
      const AssayMatrixCell *cell = g_ptr_array_index (matrix->cells, i);
      if (g_strcmp0 (cell->toolkit, toolkit) == 0)
        add_row (table, cell);
    }
  assay_text_table_print (table, "");
}

static void
print_environment (const AssayMatrix *matrix)
{
  for (guint i = 0; i < matrix->pythons->len; i++)
    {
      const AssayPython *python = g_ptr_array_index (matrix->pythons, i);
      printf ("%s %s", python->path, python->version);
      for (guint k = 0; k < python->packages->len; k++)
        {
          const AssayPackage *package = g_ptr_array_index (python->packages, k);
          printf (", %s %s", package->name, package->version);
        }
      printf ("\n");
    }
  for (guint i = 0; i < matrix->pins->len; i++)
    {
      const AssayPin *pin = g_ptr_array_index (matrix->pins, i);
      printf ("pin %s %s: %s, %s\n", pin->name, pin->wanted, pin->met ? "met" : "NOT met",
              pin->found ? pin->found : "not installed");
    }
}

static void
print_matrix (const AssayMatrix *matrix)
{
  for (guint i = 0; matrix->toolkits && matrix->toolkits[i]; i++)
    {
      if (matrix->toolkits[1])
        printf ("%s%s\n", i > 0 ? "\n" : "", matrix->toolkits[i]);
      print_cells (matrix, matrix->toolkits[i]);
    }
  print_environment (matrix);
  printf (
      "\n%u cells in %.2f s; bytes of shared memory (static), spills (stored/loaded) and stack\n",
      matrix->cells->len, matrix->seconds);
}

static gboolean
all_passed (const AssayMatrix *matrix)
{
  for (guint i = 0; i < matrix->cells->len; i++)
    {
      const AssayMatrixCell *cell = g_ptr_array_index (matrix->cells, i);
      if (cell->base.status != ASSAY_STATUS_PASSED)
        return FALSE;
    }
  return TRUE;
}

int
assay_command_matrix (int argc, char **argv)
{
  AssayMatrixRequest request = {0};
  g_autofree char *json = NULL, *targets = NULL, *candidate = NULL;
  g_auto (GStrv) list = NULL, options = NULL;
  const GOptionEntry entries[] = {
      {"candidate", 0, 0, G_OPTION_ARG_STRING, &candidate, "one of the task's; all by default",
       "NAME"},
      {"targets", 0, 0, G_OPTION_ARG_STRING, &targets,
       "a comma list (sm_80,sm_90a); by default what the compiler knows and what the task lists",
       "LIST"},
      {"option", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options, "of the compiler, for a file",
       "OPTION"},
      {"json", 0, 0, G_OPTION_ARG_FILENAME, &json, "write JSON to a file, - for stdout", "FILE"},
      {"consent-unsandboxed", 0, 0, G_OPTION_ARG_NONE, &request.consent_unsandboxed,
       "compile without a sandbox where there is none", NULL},
      {NULL},
  };
  g_autoptr (GOptionContext) context = g_option_context_new ("TASK|FILE.cu");
  g_autoptr (GError) error = NULL;
  g_option_context_set_summary (
      context, "Compiles every candidate for every architecture, and shows what each needs.");
  g_option_context_add_main_entries (context, entries, NULL);
  if (!assay_command_parse (context, &argc, &argv))
    return ASSAY_EXIT_IMPOSSIBLE;
  if (argc != 2)
    {
      g_set_error (&error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
                   "expected a task folder or a .cu file, found %d arguments", argc - 1);
      return assay_command_fail ("matrix", error);
    }
  list = targets ? g_strsplit (targets, ",", -1) : NULL;
  for (guint i = 0; list && list[i]; i++)
    if (!g_str_has_prefix (list[i], "sm_") || !g_ascii_isdigit (list[i][3]))
      {
        g_set_error (&error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
                     "--targets: expected names such as sm_80 or sm_90a; found \"%s\"", list[i]);
        return assay_command_fail ("matrix", error);
      }
  request.subject = argv[1];
  request.candidate = candidate;
  request.targets = list;
  request.options = options;
  g_autoptr (AssayMatrix) matrix =
      assay_matrix_make (&request, assay_command_interruptible (), &error);
  if (!matrix)
    return assay_command_fail ("matrix", error);
  if (g_strcmp0 (json, "-") != 0)
    print_matrix (matrix);
  if (json)
    {
      g_autoptr (JsonNode) node = assay_json_table_write (&ASSAY_MATRIX_TABLE, matrix);
      if (!assay_command_write_json (node, json, &error))
        return assay_command_fail ("matrix", error);
    }
  return all_passed (matrix) ? ASSAY_EXIT_FINE : ASSAY_EXIT_FAULTS;
}
