/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/plot/export.h"

#include "engine/base/error.h"
#include "engine/plot/layout.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <string.h>
#include <math.h>

static cairo_status_t
append (void *closure, const unsigned char *data, unsigned int length)
{
  g_byte_array_append (closure, data, length);
  return CAIRO_STATUS_SUCCESS;
}

static void
paint (cairo_surface_t *surface, AssayPlotScene *scene, double width, double height)
{
  AssayPlotStyle style = assay_plot_style (ASSAY_THEME_PRINT);
  g_autoptr (AssayPlotLayout) layout = assay_plot_layout_new (scene, &style, width, height, NULL);
  cairo_t *cr = cairo_create (surface);
  cairo_set_source_rgb (cr, 1, 1, 1);
  cairo_paint (cr);
  assay_plot_layout_draw (layout, cr);
  cairo_destroy (cr);
}

static GBytes *
render (AssayPlotScene *scene, const char *ending, double width, double height, GError **error)
{
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  cairo_surface_t *surface = NULL;
  gboolean png = g_str_equal (ending, "png");
  if (png)
    {
      surface = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, (int) ceil (2 * width),
                                            (int) ceil (2 * height));
      cairo_surface_set_device_scale (surface, 2, 2);
    }
  else if (g_str_equal (ending, "svg"))
    surface = cairo_svg_surface_create_for_stream (append, bytes, width, height);
  else
    surface = cairo_pdf_surface_create_for_stream (append, bytes, width, height);
  paint (surface, scene, width, height);
  cairo_status_t status = cairo_surface_status (surface);
  if (png && status == CAIRO_STATUS_SUCCESS)
    status = cairo_surface_write_to_png_stream (surface, append, bytes);
  cairo_surface_finish (surface);
  cairo_surface_destroy (surface);
  if (status == CAIRO_STATUS_SUCCESS)
    return g_byte_array_free_to_bytes (g_steal_pointer (&bytes));
  g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_FAILED, "drawing %s: %s", scene->title,
               cairo_status_to_string (status));
  return NULL;
}

gboolean
assay_plot_export (AssayPlotScene *scene, const char *path, double width, double height,
                   GError **error)
{
  static const char *const ENDINGS[] = {"png", "svg", "pdf", "csv", NULL};
  const char *dot = strrchr (path, '.');
  g_autofree char *ending = g_ascii_strdown (dot ? dot + 1 : "", -1);
  if (!g_strv_contains (ENDINGS, ending))
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_UNSUPPORTED,
                   "%s: a plot is saved as .png, .svg, .pdf or .csv", path);
      return FALSE;
    }
  g_autoptr (GBytes) bytes = NULL;
  if (g_str_equal (ending, "csv"))
    {
      char *text = assay_plot_scene_csv (scene);
      bytes = g_bytes_new_take (text, strlen (text));
    }
  else
    bytes = render (scene, ending, width, height, error);
  return bytes
         && g_file_set_contents_full (path, g_bytes_get_data (bytes, NULL),
                                      (gssize) g_bytes_get_size (bytes),
                                      G_FILE_SET_CONTENTS_CONSISTENT, 0644, error);
}
