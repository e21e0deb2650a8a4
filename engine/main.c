/* SPDX-License-Identifier: Apache-2.0 */
/* assay-engine: every headless command, and the service. */
#include "config.h"
#include "engine/cli/command.h"
#include "engine/service/serve.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>

static const AssayCommand COMMANDS[] = {
    {"run", "run one candidate of a task through all stages", assay_command_run},
    {"compare", "compare two arrays", assay_command_compare},
    {"exec", "run a whole CUDA program on the virtual GPU, watched", assay_command_exec},
    {"sweep", "a function over every value of a format", assay_command_sweep},
    {"report", "write the document of a review", assay_command_report},
    {"devices", "devices a run can be asked for", assay_command_devices},
    {"doctor", "what works on this computer, and why not", assay_command_doctor},
    {"matrix", "compile for every architecture, and show what each needs", assay_command_matrix},
    {"import-counters", "counters of Nsight Compute, from its CSV", assay_command_import_counters},
    {"import-sanitizer", "findings of compute-sanitizer, from its log",
     assay_command_import_sanitizer},
    {"explain", "which failure a log tells of, and who is to blame", assay_command_explain},
    {"trace", "which kernels a trace of torch.profiler shows, and how long they took",
     assay_command_trace},
    {"lint", "how Python sources time, check and draw inputs, without running them",
     assay_command_lint},
    {"figure", "one plot of a run, as SVG, PNG, PDF or CSV; what its numbers say",
     assay_command_figure},
    {"serve", "serve the workbench over a private socket", assay_command_serve},
};

static void
print_help (FILE *out)
{
  fputs ("Usage: assay-engine COMMAND [OPTIONS] …\n\n", out);
  for (gsize i = 0; i < G_N_ELEMENTS (COMMANDS); i++)
    fprintf (out, "  %-10s %s\n", COMMANDS[i].name, COMMANDS[i].summary);
  fputs ("\nEach has --help. Exit status: 0 fine, 1 faults found, 2 could not be done.\n", out);
}

int
main (int argc, char **argv)
{
  setlocale (LC_ALL, "");
  setlocale (LC_NUMERIC, "C");
  g_set_prgname ("assay-engine");
  if (argc < 2)
    {
      print_help (stderr);
      return ASSAY_EXIT_IMPOSSIBLE;
    }
  if (g_str_equal (argv[1], "--help") || g_str_equal (argv[1], "-h"))
    {
      print_help (stdout);
      return ASSAY_EXIT_FINE;
    }
  if (g_str_equal (argv[1], "--version"))
    {
      printf ("assay-engine %s\n", ASSAY_VERSION);
      return ASSAY_EXIT_FINE;
    }
  for (gsize i = 0; i < G_N_ELEMENTS (COMMANDS); i++)
    if (g_str_equal (argv[1], COMMANDS[i].name))
      {
        int status = COMMANDS[i].run (argc - 1, argv + 1);
        if (fflush (stdout) == 0 && !ferror (stdout))
          return status;
        fprintf (stderr, "assay-engine: standard output could not be written: %s\n",
                 g_strerror (errno));
        return ASSAY_EXIT_IMPOSSIBLE;
      }
  fprintf (stderr, "assay-engine: no command \"%s\"\n", argv[1]);
  print_help (stderr);
  return ASSAY_EXIT_IMPOSSIBLE;
}
