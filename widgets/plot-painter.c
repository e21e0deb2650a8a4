/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "widgets/plot-painter.h"

typedef struct
{
  AssayPlotLayout *layout;
  int scale;
} Painting;

static void
painting_free (gpointer data)
{
  Painting *painting = data;

  assay_plot_layout_unref (painting->layout);
  g_free (painting);
}

static GdkTexture *
paint (const Painting *painting)
{
  int width = MAX ((int) (painting->layout->width * painting->scale + 0.5), 1);
  int height = MAX ((int) (painting->layout->height * painting->scale + 0.5), 1);
  cairo_surface_t *surface = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, width, height);
  gsize stride = (gsize) cairo_image_surface_get_stride (surface);
  cairo_t *cr = cairo_create (surface);
  g_autoptr (GBytes) bytes = NULL;

  cairo_scale (cr, painting->scale, painting->scale);
  assay_plot_layout_draw (painting->layout, cr);
  cairo_destroy (cr);
  cairo_surface_flush (surface);
  bytes =
      g_bytes_new_with_free_func (cairo_image_surface_get_data (surface), stride * (gsize) height,
                                  (GDestroyNotify) cairo_surface_destroy, surface);
  return gdk_memory_texture_new (width, height, GDK_MEMORY_DEFAULT, bytes, stride);
}

static void
paint_task (gpointer data, gpointer unused)
{
  g_autoptr (GTask) task = data;

  g_task_return_pointer (task, paint (g_task_get_task_data (task)), g_object_unref);
}

static gpointer
make_pool (gpointer unused)
{
  return g_thread_pool_new (paint_task, NULL, 1, TRUE, NULL);
}

void
assay_plot_paint_async (AssayPlotLayout *layout, int scale, GAsyncReadyCallback callback,
                        gpointer user_data)
{
  static GOnce pool = G_ONCE_INIT;
  GTask *task = g_task_new (NULL, NULL, callback, user_data);
  Painting *painting = g_new0 (Painting, 1);

  painting->layout = assay_plot_layout_ref (layout);
  painting->scale = scale;
  g_task_set_source_tag (task, assay_plot_paint_async);
  g_task_set_task_data (task, painting, painting_free);
  g_once (&pool, make_pool, NULL);
  g_thread_pool_push (pool.retval, task, NULL);
}

GdkTexture *
assay_plot_paint_finish (GAsyncResult *result)
{
  return g_task_propagate_pointer (G_TASK (result), NULL);
}

AssayPlotLayout *
assay_plot_paint_layout (GAsyncResult *result)
{
  return ((Painting *) g_task_get_task_data (G_TASK (result)))->layout;
}
