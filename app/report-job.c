/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/report-job.h"

#include "engine/base/error.h"
#include "engine/report/pages.h"

typedef struct
{
  AssayTaskItem *item;
  AssayDraft *draft;
  AssayReview *review;
  AssayRunSnapshot *snapshot; /* NULL where nothing has been run */
  GPtrArray *findings;
  AssayDocumentInput input;
  int width;
  char *path;
  gboolean replace;
} Job;

static void
job_free (gpointer data)
{
  Job *job = data;

  g_clear_object (&job->item);
  g_clear_object (&job->draft);
  g_clear_pointer (&job->review, assay_review_free);
  g_clear_pointer (&job->snapshot, assay_run_snapshot_free);
  g_clear_pointer (&job->findings, g_ptr_array_unref);
  g_free (job->path);
  g_free (job);
}

static Job *
job_new (AssayContext *context)
{
  AssayRunModel *run = assay_context_get_run (context);
  const AssayTask *task = assay_context_get_task (context);
  AssayDraft *draft = assay_context_get_draft (context);
  const AssayCandidate *candidate;
  Job *job;

  if (task == NULL || draft == NULL)
    return NULL;
  candidate = assay_task_candidate (task, assay_context_get_candidate (context));
  job = g_new0 (Job, 1);
  job->item = g_object_ref (assay_context_get_task_item (context));
  job->draft = g_object_ref (draft);
  job->review = assay_review_copy (assay_draft_get_review (draft));
  job->findings = assay_context_get_findings (context);
  if (run != NULL)
    job->snapshot = assay_run_model_snapshot (run);
  job->input = (AssayDocumentInput) {
      .review = job->review,
      .rubric = assay_draft_get_rubric (draft),
      .run = job->snapshot != NULL ? &job->snapshot->run : NULL,
      .findings = job->findings,
      .title = task->title,
      .category = ASSAY_TASK_CATEGORIES[task->category],
      .framework = candidate != NULL ? ASSAY_TASK_FRAMEWORKS[candidate->framework] : NULL,
      .licence = task->license.id,
      .training_allowed = task->license.training_allowed,
      .task_folder = assay_task_item_get_folder (job->item),
  };
  return job;
}

static void
return_no_review (GTask *task)
{
  g_task_return_new_error (task, ASSAY_ERROR, ASSAY_ERROR_NOT_FOUND,
                           "there is no review of this candidate to write about");
}

/* --- preview --------------------------------------------------------------------------------- */

static GdkTexture *
draw_page (AssayPages *pages, guint index, int width)
{
  double scale = width / ASSAY_PAGE_WIDTH;
  int height = (int) (ASSAY_PAGE_HEIGHT * scale + 0.5);
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, width, height);
  cairo_t *cr = cairo_create (surface);
  g_autoptr (GBytes) bytes = NULL;
  GdkTexture *texture;

  cairo_set_source_rgb (cr, 1, 1, 1);
  cairo_paint (cr);
  cairo_scale (cr, scale, scale);
  assay_pages_draw (pages, index, cr);
  cairo_destroy (cr);
  cairo_surface_flush (surface);
  bytes = g_bytes_new (cairo_image_surface_get_data (surface),
                       (gsize) cairo_image_surface_get_stride (surface) * height);
  texture = gdk_memory_texture_new (width, height, GDK_MEMORY_DEFAULT, bytes,
                                    (gsize) cairo_image_surface_get_stride (surface));
  cairo_surface_destroy (surface);
  return texture;
}

static void
preview_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Job *job = data;
  g_autoptr (AssayDocument) report = assay_document_new (&job->input);
  g_autoptr (AssayPages) pages = assay_pages_new (report);
  GPtrArray *textures = g_ptr_array_new_with_free_func (g_object_unref);

  for (guint i = 0; i < assay_pages_count (pages) && !g_cancellable_is_cancelled (cancellable); i++)
    g_ptr_array_add (textures, draw_page (pages, i, job->width));
  g_task_return_pointer (task, textures, (GDestroyNotify) g_ptr_array_unref);
}

void
assay_report_preview_async (AssayContext *context, int width, GCancellable *cancellable,
                            GAsyncReadyCallback callback, gpointer user_data)
{
  g_autoptr (GTask) task = g_task_new (NULL, cancellable, callback, user_data);
  Job *job = job_new (context);

  g_task_set_source_tag (task, assay_report_preview_async);
  if (job == NULL)
    {
      return_no_review (task);
      return;
    }
  job->width = MAX (width, 100);
  g_task_set_task_data (task, job, job_free);
  g_task_run_in_thread (task, preview_thread);
}

GPtrArray *
assay_report_preview_finish (GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}

/* --- export ---------------------------------------------------------------------------------- */

static void
export_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Job *job = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (AssayDocument) report = NULL;

  if (!job->replace && g_file_test (job->path, G_FILE_TEST_EXISTS))
    {
      g_task_return_new_error (task, G_IO_ERROR, G_IO_ERROR_EXISTS, "%s exists already", job->path);
      return;
    }
  report = assay_document_new (&job->input);
  if (assay_document_export (report, job->path, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, g_steal_pointer (&error));
}

void
assay_report_export_async (AssayContext *context, const char *path, gboolean replace,
                           GCancellable *cancellable, GAsyncReadyCallback callback,
                           gpointer user_data)
{
  g_autoptr (GTask) task = g_task_new (NULL, cancellable, callback, user_data);
  Job *job = job_new (context);

  g_task_set_source_tag (task, assay_report_export_async);
  if (job == NULL)
    {
      return_no_review (task);
      return;
    }
  job->path = g_strdup (path);
  job->replace = replace;
  g_task_set_task_data (task, job, job_free);
  g_task_run_in_thread (task, export_thread);
}

gboolean
assay_report_export_finish (GAsyncResult *result, GError **error)
{
  return g_task_propagate_boolean (G_TASK (result), error);
}
