/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/base/error.h"
#include "engine/plot/export.h"
#include "engine/report/pages.h"

#include <cairo-pdf.h>
#include <errno.h>
#include <string.h>

static cairo_status_t
append (void *closure, const unsigned char *data, unsigned int length)
{
  g_byte_array_append (closure, data, length);
  return CAIRO_STATUS_SUCCESS;
}

static gboolean
write_file (const char *path, const char *data, gsize length, GError **error)
{
  g_autoptr (GError) local = NULL;
  if (g_file_set_contents_full (path, data, (gssize) length,
                                G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE, 0644,
                                &local))
    return TRUE;
  g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_FAILED, "%s could not be written: %s", path,
               local->message);
  return FALSE;
}

static void
set_metadata (cairo_surface_t *surface, const AssayDocument *report)
{
  cairo_pdf_surface_set_metadata (surface, CAIRO_PDF_METADATA_TITLE, report->title);
  cairo_pdf_surface_set_metadata (surface, CAIRO_PDF_METADATA_CREATOR, "Assay");
  cairo_pdf_surface_set_metadata (surface, CAIRO_PDF_METADATA_SUBJECT, report->status);
  if (report->author)
    cairo_pdf_surface_set_metadata (surface, CAIRO_PDF_METADATA_AUTHOR, report->author);
  if (report->created)
    {
      /* Whole seconds: cairo reads no fractions. A fixed date makes equal reports equal bytes. */
      g_autofree char *date = g_strdup_printf ("%.19sZ", report->created);
      cairo_pdf_surface_set_metadata (surface, CAIRO_PDF_METADATA_CREATE_DATE, date);
    }
}

static void
add_outline (cairo_surface_t *surface, const AssayPages *pages)
{
  int parent = CAIRO_PDF_OUTLINE_ROOT, level = 0;
  const char *title = NULL;
  guint page = 0;
  for (guint i = 0; assay_pages_heading (pages, i, &title, &level, &page); i++)
    {
      g_autofree char *target = g_strdup_printf ("dest='heading-%u'", i);
      int id = cairo_pdf_surface_add_outline (surface, level == 1 ? CAIRO_PDF_OUTLINE_ROOT : parent,
                                              title, target,
                                              level == 1 ? CAIRO_PDF_OUTLINE_FLAG_OPEN : 0);
      if (level == 1)
        parent = id;
    }
}

static gboolean
export_pdf (const AssayDocument *report, const char *path, GError **error)
{
  g_autoptr (AssayPages) pages = assay_pages_new (report);
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  cairo_surface_t *surface =
      cairo_pdf_surface_create_for_stream (append, bytes, ASSAY_PAGE_WIDTH, ASSAY_PAGE_HEIGHT);
  cairo_t *cr = cairo_create (surface);
  set_metadata (surface, report);
  for (guint i = 0; i < assay_pages_count (pages); i++)
    {
      assay_pages_draw (pages, i, cr);
      cairo_show_page (cr);
    }
  add_outline (surface, pages);
  cairo_status_t status = cairo_status (cr);
  cairo_destroy (cr);
  cairo_surface_finish (surface);
  if (status == CAIRO_STATUS_SUCCESS)
    status = cairo_surface_status (surface);
  cairo_surface_destroy (surface);
  if (status == CAIRO_STATUS_SUCCESS)
    return write_file (path, (const char *) bytes->data, bytes->len, error);
  g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_FAILED, "drawing the report: %s",
               cairo_status_to_string (status));
  return FALSE;
}

static gboolean
export_figures (const AssayDocument *report, const char *folder, GError **error)
{
  guint figure = 0;
  for (guint i = 0; i < report->blocks->len; i++)
    {
      const AssayBlock *block = g_ptr_array_index (report->blocks, i);
      if (block->kind != ASSAY_BLOCK_FIGURE)
        continue;
      g_autofree char *name = g_strdup_printf ("figure-%u.svg", ++figure);
      g_autofree char *path = g_build_filename (folder, name, NULL);
      if (g_mkdir_with_parents (folder, 0755) != 0)
        {
          g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_FAILED, "cannot make the folder %s: %s",
                       folder, g_strerror (errno));
          return FALSE;
        }
      if (!assay_plot_export (block->scene, path, 640, 280, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
export_markdown (const AssayDocument *report, const char *path, GError **error)
{
  g_autofree char *stem = g_strndup (path, strlen (path) - strlen (".md"));
  g_autofree char *folder = g_strconcat (stem, "-figures", NULL);
  g_autofree char *name = g_path_get_basename (folder);
  g_autofree char *link = g_uri_escape_string (name, NULL, TRUE);
  g_autofree char *text = assay_document_markdown (report, link);
  return export_figures (report, folder, error) && write_file (path, text, strlen (text), error);
}

gboolean
assay_document_export (const AssayDocument *report, const char *path, GError **error)
{
  if (g_str_has_suffix (path, ".pdf"))
    return export_pdf (report, path, error);
  if (g_str_has_suffix (path, ".md"))
    return export_markdown (report, path, error);
  if (g_str_has_suffix (path, ".json"))
    {
      g_autofree char *text = assay_json_write (report->record);
      return write_file (path, text, strlen (text), error);
    }
  g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_UNSUPPORTED,
               "%s: a report is saved as .md, .pdf or .json", path);
  return FALSE;
}
