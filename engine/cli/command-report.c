/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/cli/command.h"

#include "engine/base/error.h"
#include "engine/device/installation.h"
#include "engine/report/report.h"
#include "engine/task/task.h"

#include <stdio.h>
#include <string.h>

typedef struct
{
  char *format, *out, *run, *rubric, *workspace;
} Options;

/* What a document is made from; the pieces own themselves. */
typedef struct
{
  AssayReview *review;
  AssayRubric *rubric;
  AssayRun *run;
  AssayTask *task;
} Pieces;

static void
pieces_clear (Pieces *pieces)
{
  g_clear_pointer (&pieces->review, assay_review_free);
  g_clear_pointer (&pieces->rubric, assay_rubric_free);
  g_clear_pointer (&pieces->run, assay_run_free);
  g_clear_pointer (&pieces->task, assay_task_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Pieces, pieces_clear)

static AssayReview *
load_review (const char *given, GError **error)
{
  if (g_file_test (given, G_FILE_TEST_IS_DIR))
    return assay_review_load (given, error);
  g_autofree char *folder = g_path_get_dirname (given);
  g_autofree char *name = g_path_get_basename (given);
  if (g_str_equal (name, "review.json"))
    return assay_review_load (folder, error);
  g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_NOT_FOUND,
               "%s: expected a review's folder or its review.json", given);
  return NULL;
}

static AssayRubric *
load_rubric (const Options *options, const AssayReview *review, GError **error)
{
  if (options->rubric)
    return assay_rubric_load (options->rubric, error);
  g_autofree char *name = g_strdup_printf ("rubrics/%s.json", review->rubric.id);
  g_autofree char *path = assay_data_path (name, error);
  AssayRubric *rubric = path ? assay_rubric_load (path, error) : NULL;
  if (rubric && review->rubric.revision != rubric->revision)
    g_printerr ("assay-engine report: the review was written with revision %" G_GINT64_FORMAT
                " of rubric %s; this is revision %" G_GINT64_FORMAT "\n",
                review->rubric.revision, rubric->id, rubric->revision);
  return rubric;
}

/* The named run, or the last of the review's that the workspace still has. */
static AssayRun *
load_run (const Options *options, const AssayReview *review, GError **error)
{
  if (options->run)
    return assay_run_load (options->run, error);
  g_autofree char *workspace =
      options->workspace ? g_strdup (options->workspace)
                         : g_build_filename (g_get_user_data_dir (), "assay", "workspace", NULL);
  for (guint i = review->runs ? g_strv_length (review->runs) : 0; i > 0; i--)
    {
      g_autofree char *folder =
          g_build_filename (workspace, "runs", review->task.id, review->runs[i - 1], NULL);
      if (g_file_test (folder, G_FILE_TEST_IS_DIR))
        return assay_run_load (folder, error);
    }
  return NULL;
}

static AssayTask *
load_task (const AssayRun *run)
{
  return run && run->task.path ? assay_task_load (run->task.path, NULL, NULL) : NULL;
}

static gboolean
gather (Pieces *pieces, const Options *options, const char *given, GError **error)
{
  g_autoptr (GError) local = NULL;
  pieces->review = load_review (given, error);
  pieces->rubric = pieces->review ? load_rubric (options, pieces->review, error) : NULL;
  if (!pieces->rubric)
    return FALSE;
  pieces->run = load_run (options, pieces->review, &local);
  if (local)
    {
      g_propagate_error (error, g_steal_pointer (&local));
      return FALSE;
    }
  if (!pieces->run)
    g_printerr ("assay-engine report: no run of this review was found: the document has no figures "
                "(--run FOLDER names one)\n");
  pieces->task = load_task (pieces->run);
  return TRUE;
}

static AssayDocument *
compose (Pieces *pieces)
{
  const AssayTask *task = pieces->task;
  const AssayCandidate *candidate = NULL;
  if (pieces->run)
    assay_review_judge_findings (pieces->review, pieces->run->findings);
  for (guint i = 0; task && i < task->candidates->len; i++)
    {
      const AssayCandidate *each = g_ptr_array_index (task->candidates, i);
      if (g_strcmp0 (each->name, pieces->review->candidate) == 0)
        candidate = each;
    }
  AssayDocumentInput input = {.review = pieces->review,
                              .rubric = pieces->rubric,
                              .run = pieces->run,
                              .findings = pieces->run ? pieces->run->findings : NULL,
                              .title = task ? task->title : NULL,
                              .category = task ? ASSAY_TASK_CATEGORIES[task->category] : NULL,
                              .framework =
                                  candidate ? ASSAY_TASK_FRAMEWORKS[candidate->framework] : NULL,
                              .licence = task ? task->license.id : NULL,
                              .training_allowed = task ? task->license.training_allowed : NULL,
                              .task_folder = pieces->run ? pieces->run->task.path : NULL};
  return assay_document_new (&input);
}

static gboolean
write_document (const AssayDocument *document, const Options *options, GError **error)
{
  const char *format = options->format ? options->format : "md";
  if (options->out)
    return assay_document_export (document, options->out, error);
  if (g_str_equal (format, "md"))
    {
      g_autofree char *text = assay_document_markdown (document, "figures");
      fputs (text, stdout);
      return TRUE;
    }
  if (g_str_equal (format, "json"))
    return assay_command_write_json (document->record, "-", error);
  g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_INVALID,
               "--format %s: expected md or json; a PDF needs --out FILE.pdf", format);
  return FALSE;
}

int
assay_command_report (int argc, char **argv)
{
  Options options = {NULL};
  const GOptionEntry entries[] = {
      {"format", 'f', 0, G_OPTION_ARG_STRING, &options.format, "md or json, to stdout", "FORMAT"},
      {"out", 'o', 0, G_OPTION_ARG_FILENAME, &options.out, "write .md, .pdf or .json there",
       "FILE"},
      {"run", 0, 0, G_OPTION_ARG_FILENAME, &options.run, "the run folder the figures come from",
       "FOLDER"},
      {"rubric", 0, 0, G_OPTION_ARG_FILENAME, &options.rubric, "the rubric's file", "FILE"},
      {"workspace", 0, 0, G_OPTION_ARG_FILENAME, &options.workspace, "where runs are looked for",
       "FOLDER"},
      {NULL},
  };
  g_autoptr (GOptionContext) context = g_option_context_new ("REVIEW – the document of a review");
  g_autoptr (GError) error = NULL;
  g_auto (Pieces) pieces = {NULL};
  g_option_context_add_main_entries (context, entries, NULL);
  if (!assay_command_parse (context, &argc, &argv))
    return ASSAY_EXIT_IMPOSSIBLE;
  if (argc != 2)
    {
      g_printerr ("assay-engine report: expected one REVIEW, a folder or review.json\n");
      return ASSAY_EXIT_IMPOSSIBLE;
    }
  if (!gather (&pieces, &options, argv[1], &error))
    return assay_command_fail ("report", error);
  g_autoptr (AssayDocument) document = compose (&pieces);
  if (!write_document (document, &options, &error))
    return assay_command_fail ("report", error);
  return ASSAY_EXIT_FINE;
}
