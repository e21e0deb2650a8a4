/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cli/command.h"

#include "engine/base/error.h"
#include "engine/figures/figures.h"
#include "engine/figures/times.h"
#include "engine/figures/verdicts.h"
#include "engine/plot/export.h"

#include <stdio.h>

typedef struct
{
  char *out;
  int width, height;
} Options;

/* The four answers for each workload's outputs, and the plots there are of them. */
static void
list (const AssayRun *run)
{
  for (guint w = 0; w < run->workloads->len; w++)
    {
      const AssayWorkloadRecord *workload = g_ptr_array_index (run->workloads, w);
      for (guint o = 0; o < workload->outputs->len; o++)
        {
          const AssayOutput *output = g_ptr_array_index (workload->outputs, o);
          AssayVerdict verdicts[ASSAY_N_QUESTIONS];
          if (!output->comparison)
            continue;
          printf ("%s, %s\n", workload->name, output->name);
          assay_verdicts (run, workload, output, verdicts);
          for (int i = 0; i < ASSAY_N_QUESTIONS; i++)
            printf ("  %-10s %-24s %s\n", verdicts[i].question, verdicts[i].word, verdicts[i].text);
          assay_verdicts_clear (verdicts);
          for (int figure = 0; figure < ASSAY_N_FIGURES; figure++)
            {
              g_autoptr (AssayPlotScene) scene = assay_figure_new (figure, run, workload, output);
              if (scene)
                printf ("  %s\n", scene->id);
            }
        }
    }
}

static void
list_times (const AssayTimingSummary *benchmark)
{
  for (guint i = 0; benchmark && i < benchmark->timings->len; i++)
    {
      const AssayTiming *timing = g_ptr_array_index (benchmark->timings, i);
      g_autofree char *ref = assay_figure_times_ref (timing->workload);
      printf ("%s, times\n  %-10s %-24s %s\n  %s\n", timing->workload, "speed", timing->verdict,
              timing->reason, ref);
    }
}

static gboolean
export_figure (const AssayRun *run, const char *ref, const Options *options, GError **error)
{
  g_autoptr (AssayPlotScene) scene = assay_figure_from_ref (run, ref);
  if (!scene)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_NOT_FOUND,
                   "run %s has no figure \"%s\"; without a name, those that it has are listed",
                   run->id, ref);
      return FALSE;
    }
  if (!options->out)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
                   "--out: expected a file ending in .svg, .png, .pdf or .csv, found nothing");
      return FALSE;
    }
  return assay_plot_export (scene, options->out, options->width, options->height, error);
}

int
assay_command_figure (int argc, char **argv)
{
  Options options = {.width = 560, .height = 300};
  g_autofree char *out = NULL;
  const GOptionEntry entries[] = {
      {"out", 'o', 0, G_OPTION_ARG_FILENAME, &out, "SVG, PNG, PDF or CSV, by its ending", "FILE"},
      {"width", 0, 0, G_OPTION_ARG_INT, &options.width, "in points (560)", "N"},
      {"height", 0, 0, G_OPTION_ARG_INT, &options.height, "in points (300)", "N"},
      {NULL},
  };
  g_autoptr (GOptionContext) context = g_option_context_new ("RUN [FIGURE]");
  g_autoptr (GError) error = NULL;
  g_option_context_set_summary (
      context, "Draws one plot of a run's folder, as the workbench and reports "
               "show it. Without FIGURE: what the numbers say, and the plots there are.");
  g_option_context_add_main_entries (context, entries, NULL);
  if (!assay_command_parse (context, &argc, &argv))
    return ASSAY_EXIT_IMPOSSIBLE;
  options.out = out;
  if (argc < 2 || argc > 3 || options.width < 100 || options.height < 60 || options.width > 20000
      || options.height > 20000)
    {
      g_printerr (
          "assay-engine figure: expected a run's folder, and perhaps a figure of at least 100 "
          "by 60; see --help\n");
      return ASSAY_EXIT_IMPOSSIBLE;
    }
  g_autoptr (AssayRun) run = assay_run_load (argv[1], &error);
  if (run && argc == 2)
    {
      list (run);
      list_times (run->benchmark);
    }
  else if (run)
    export_figure (run, argv[2], &options, &error);
  return error ? assay_command_fail ("figure", error) : ASSAY_EXIT_FINE;
}
