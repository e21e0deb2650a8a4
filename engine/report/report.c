/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/report/report.h"

#include "engine/report/sections.h"

static void
block_free (gpointer data)
{
  AssayBlock *block = data;
  g_free (block->text);
  g_free (block->lead);
  g_free (block->note);
  g_strfreev (block->columns);
  g_ptr_array_unref (block->rows);
  g_array_unref (block->weights);
  g_clear_pointer (&block->scene, assay_plot_scene_unref);
  g_free (block);
}

AssayBlock *
assay_document_add (AssayDocument *report, AssayBlockKind kind, const char *text)
{
  AssayBlock *block = g_new0 (AssayBlock, 1);
  block->kind = kind;
  block->text = g_strdup (text);
  block->rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  block->weights = g_array_new (FALSE, FALSE, sizeof (double));
  g_ptr_array_add (report->blocks, block);
  return block;
}

void
assay_block_add_row (AssayBlock *block, const char *first, ...)
{
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  va_list rest;
  va_start (rest, first);
  for (const char *cell = first; cell; cell = va_arg (rest, const char *))
    g_strv_builder_add (builder, cell);
  va_end (rest);
  g_ptr_array_add (block->rows, g_strv_builder_end (builder));
}

/* "draft, started 2025-11-28"; a draft whose start is not recorded is a draft. */
static char *
describe_state (const AssayReview *review)
{
  if (review->submitted)
    return g_strdup_printf ("submitted %.10s", review->submitted);
  return review->started ? g_strdup_printf ("draft, started %.10s", review->started)
                         : g_strdup ("draft");
}

AssayDocument *
assay_document_new (const AssayDocumentInput *input)
{
  AssayDocument *report = g_new0 (AssayDocument, 1);
  const AssayReview *review = input->review;
  report->blocks = g_ptr_array_new_with_free_func (block_free);
  report->heading = g_strdup (input->rubric->title);
  g_autofree char *state = describe_state (review);
  report->status = g_strdup_printf ("Assay · rubric %s %" G_GINT64_FORMAT " · %s",
                                    input->rubric->id, input->rubric->revision, state);
  report->footer = g_strdup_printf ("%s · review %s", review->task.id, review->id);
  report->title = g_strdup_printf ("%s: kernel task review", review->task.id);
  report->author = g_strdup (review->reviewer);
  report->created = g_strdup (review->submitted ? review->submitted : review->started);
  assay_document_add_head (report, input);
  assay_document_add_verdicts (report, input);
  assay_document_add_criteria (report, input);
  assay_document_add_findings (report, input);
  assay_document_add_measurement (report, input);
  report->record = assay_document_record (input);
  return report;
}

void
assay_document_free (AssayDocument *report)
{
  if (!report)
    return;
  g_ptr_array_unref (report->blocks);
  g_free (report->heading);
  g_free (report->status);
  g_free (report->footer);
  g_free (report->title);
  g_free (report->author);
  g_free (report->created);
  g_clear_pointer (&report->record, json_node_unref);
  g_free (report);
}
