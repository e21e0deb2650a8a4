/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "widgets/source-view.h"

#include "widgets/color-scheme.h"
#include "widgets/badge.h"
#include "widgets/heat-gutter.h"

#include <gtksourceview/gtksource.h>

#define LINE_TINT 0.13f /* of a severity's colour, behind its line */

struct _AssaySourceView
{
  GtkWidget parent;
  GtkWidget *scroller;
  GtkSourceView *view;
  GtkSourceBuffer *buffer;
  char *file;
  GPtrArray *findings; /* (nullable) */
  guint n_marks;
  AssayHeatGutter *heat;
  int line; /* of the cursor, from 1 */
};

enum
{
  LINE_CHANGED,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (AssaySourceView, assay_source_view, GTK_TYPE_WIDGET)

/* GtkSourceView does not know these endings, or guesses another language. */
static const struct
{
  const char *ending, *language;
} languages[] = {
    {".cu", "cuda"},    {".cuh", "cuda"},  {".c", "c"},         {".h", "c"},
    {".py", "python3"}, {".json", "json"}, {".md", "markdown"},
};

static GtkSourceLanguage *
language_of (const char *file)
{
  GtkSourceLanguageManager *manager = gtk_source_language_manager_get_default ();

  for (gsize i = 0; i < G_N_ELEMENTS (languages); i++)
    if (g_str_has_suffix (file, languages[i].ending))
      return gtk_source_language_manager_get_language (manager, languages[i].language);
  return gtk_source_language_manager_guess_language (manager, file, NULL);
}

void
assay_source_view_set_text (AssaySourceView *self, const char *file, const char *text)
{
  GtkTextIter start;

  g_return_if_fail (ASSAY_IS_SOURCE_VIEW (self));
  g_free (self->file);
  self->file = g_strdup (file);
  gtk_source_buffer_set_language (self->buffer, file != NULL ? language_of (file) : NULL);
  gtk_text_buffer_set_text (GTK_TEXT_BUFFER (self->buffer), text != NULL ? text : "", -1);
  gtk_text_buffer_get_start_iter (GTK_TEXT_BUFFER (self->buffer), &start);
  gtk_text_buffer_place_cursor (GTK_TEXT_BUFFER (self->buffer), &start);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->view), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  file != NULL ? file : "no source", -1);
  self->n_marks = 0;
}

const char *
assay_source_view_get_file (AssaySourceView *self)
{
  return self->file;
}

guint
assay_source_view_get_n_marks (AssaySourceView *self)
{
  return self->n_marks;
}

void
assay_source_view_set_findings (AssaySourceView *self, GPtrArray *findings)
{
  GtkTextBuffer *buffer = GTK_TEXT_BUFFER (self->buffer);
  GtkTextIter start, end;

  g_clear_pointer (&self->findings, g_ptr_array_unref);
  self->findings = findings != NULL ? g_ptr_array_ref (findings) : NULL;
  gtk_text_buffer_get_bounds (buffer, &start, &end);
  gtk_source_buffer_remove_source_marks (self->buffer, &start, &end, NULL);
  self->n_marks = 0;
  for (guint i = 0; findings != NULL && i < findings->len; i++)
    {
      const AssayFinding *finding = g_ptr_array_index (findings, i);

      if (finding->where.line <= 0 || g_strcmp0 (finding->where.file, self->file) != 0
          || finding->where.line > gtk_text_buffer_get_line_count (buffer))
        continue;
      gtk_text_buffer_get_iter_at_line (buffer, &start, (int) finding->where.line - 1);
      gtk_source_buffer_create_source_mark (self->buffer, NULL,
                                            assay_badge_severity (finding->severity)->css, &start);
      self->n_marks++;
    }
}

void
assay_source_view_set_heat (AssaySourceView *self, GArray *heat)
{
  g_return_if_fail (ASSAY_IS_SOURCE_VIEW (self));
  assay_heat_gutter_set (self->heat, heat);
}

char *
assay_source_view_get_heat_text (AssaySourceView *self, int line)
{
  return assay_heat_gutter_text (self->heat, line);
}

static void
cursor_moved (AssaySourceView *self)
{
  GtkTextBuffer *buffer = GTK_TEXT_BUFFER (self->buffer);
  GtkTextIter iter;
  int line;

  gtk_text_buffer_get_iter_at_mark (buffer, &iter, gtk_text_buffer_get_insert (buffer));
  line = gtk_text_iter_get_line (&iter) + 1;
  if (line == self->line)
    return;
  self->line = line;
  g_signal_emit (self, signals[LINE_CHANGED], 0, line);
}

static char *
mark_tooltip (GtkSourceMarkAttributes *attributes, GtkSourceMark *mark, AssaySourceView *self)
{
  g_autoptr (GString) text = g_string_new (NULL);
  GtkTextIter iter;
  int line;

  gtk_text_buffer_get_iter_at_mark (GTK_TEXT_BUFFER (self->buffer), &iter, GTK_TEXT_MARK (mark));
  line = gtk_text_iter_get_line (&iter) + 1;
  for (guint i = 0; self->findings != NULL && i < self->findings->len; i++)
    {
      const AssayFinding *finding = g_ptr_array_index (self->findings, i);

      if (finding->where.line == line && g_strcmp0 (finding->where.file, self->file) == 0)
        g_string_append_printf (text, "%s%s  %s\n%s", text->len > 0 ? "\n\n" : "",
                                assay_badge_severity (finding->severity)->word, finding->rule,
                                finding->title);
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

void
assay_source_view_go_to_line (AssaySourceView *self, int line)
{
  GtkTextBuffer *buffer = GTK_TEXT_BUFFER (self->buffer);
  GtkTextIter iter;

  g_return_if_fail (ASSAY_IS_SOURCE_VIEW (self));
  gtk_text_buffer_get_iter_at_line (buffer, &iter, MAX (line - 1, 0));
  gtk_text_buffer_place_cursor (buffer, &iter);
  gtk_text_view_scroll_to_mark (GTK_TEXT_VIEW (self->view), gtk_text_buffer_get_insert (buffer), 0,
                                TRUE, 0, 0.4);
}

char *
assay_source_view_get_selection (AssaySourceView *self, int *first_line, int *last_line)
{
  GtkTextBuffer *buffer = GTK_TEXT_BUFFER (self->buffer);
  GtkTextIter start, end;

  g_return_val_if_fail (ASSAY_IS_SOURCE_VIEW (self), NULL);
  if (!gtk_text_buffer_get_selection_bounds (buffer, &start, &end))
    gtk_text_buffer_get_iter_at_mark (buffer, &start, gtk_text_buffer_get_insert (buffer)),
        end = start;
  else if (gtk_text_iter_starts_line (&end) && !gtk_text_iter_equal (&start, &end))
    gtk_text_iter_backward_char (&end);
  *first_line = gtk_text_iter_get_line (&start) + 1;
  *last_line = gtk_text_iter_get_line (&end) + 1;
  gtk_text_iter_set_line_offset (&start, 0);
  if (!gtk_text_iter_ends_line (&end))
    gtk_text_iter_forward_to_line_end (&end);
  return gtk_text_buffer_get_text (buffer, &start, &end, FALSE);
}

static void
set_mark_attributes (AssaySourceView *self)
{
  for (int severity = ASSAY_SEVERITY_BLOCKER; severity <= ASSAY_SEVERITY_INFO; severity++)
    {
      const AssayBadge *badge = assay_badge_severity (severity);
      g_autoptr (GtkSourceMarkAttributes) attributes = gtk_source_mark_attributes_new ();
      g_autofree char *name = g_strconcat ("assay_", badge->css, NULL);
      GdkRGBA colour;

      if (gtk_style_context_lookup_color (gtk_widget_get_style_context (GTK_WIDGET (self->view)),
                                          name, &colour))
        {
          colour.alpha = LINE_TINT;
          gtk_source_mark_attributes_set_background (attributes, &colour);
        }
      gtk_source_mark_attributes_set_icon_name (attributes, badge->icon);
      g_signal_connect_object (attributes, "query-tooltip-text", G_CALLBACK (mark_tooltip), self,
                               0);
      gtk_source_view_set_mark_attributes (self->view, badge->css, attributes, 10 - severity);
    }
}

static void
follow_scheme (AssaySourceView *self)
{
  GtkSourceStyleSchemeManager *manager = gtk_source_style_scheme_manager_get_default ();
  const char *name = assay_color_scheme_is_dark () ? "Adwaita-dark" : "Adwaita";

  gtk_source_buffer_set_style_scheme (self->buffer,
                                      gtk_source_style_scheme_manager_get_scheme (manager, name));
  set_mark_attributes (self);
}

static gboolean
assay_source_view_grab_focus (GtkWidget *widget)
{
  return gtk_widget_grab_focus (GTK_WIDGET (ASSAY_SOURCE_VIEW (widget)->view));
}

static void
assay_source_view_dispose (GObject *object)
{
  AssaySourceView *self = ASSAY_SOURCE_VIEW (object);

  g_clear_pointer (&self->scroller, gtk_widget_unparent);
  g_clear_pointer (&self->findings, g_ptr_array_unref);
  g_clear_pointer (&self->file, g_free);
  g_clear_object (&self->buffer);
  G_OBJECT_CLASS (assay_source_view_parent_class)->dispose (object);
}

static void
assay_source_view_class_init (AssaySourceViewClass *class)
{
  G_OBJECT_CLASS (class)->dispose = assay_source_view_dispose;
  GTK_WIDGET_CLASS (class)->grab_focus = assay_source_view_grab_focus;
  signals[LINE_CHANGED] =
      g_signal_new ("line-changed", G_TYPE_FROM_CLASS (class), G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                    NULL, G_TYPE_NONE, 1, G_TYPE_INT);
  gtk_widget_class_set_layout_manager_type (GTK_WIDGET_CLASS (class), GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_css_name (GTK_WIDGET_CLASS (class), "assaysource");
}

static void
assay_source_view_init (AssaySourceView *self)
{
  self->buffer = gtk_source_buffer_new (NULL);
  self->view = GTK_SOURCE_VIEW (gtk_source_view_new_with_buffer (self->buffer));
  self->scroller = gtk_scrolled_window_new ();
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (self->scroller), GTK_WIDGET (self->view));
  gtk_widget_set_parent (self->scroller, GTK_WIDGET (self));
  gtk_widget_set_hexpand (GTK_WIDGET (self), TRUE);
  gtk_widget_set_vexpand (GTK_WIDGET (self), TRUE);
  gtk_widget_add_css_class (GTK_WIDGET (self->view), "source");
  gtk_text_view_set_editable (GTK_TEXT_VIEW (self->view), FALSE);
  gtk_text_view_set_accepts_tab (GTK_TEXT_VIEW (self->view), FALSE);
  gtk_text_view_set_monospace (GTK_TEXT_VIEW (self->view), TRUE);
  gtk_source_view_set_show_line_numbers (self->view, TRUE);
  gtk_source_view_set_show_line_marks (self->view, TRUE);
  gtk_source_view_set_highlight_current_line (self->view, TRUE);
  gtk_source_view_set_tab_width (self->view, 4);
  gtk_source_buffer_set_highlight_matching_brackets (self->buffer, TRUE);
  self->heat = g_object_new (ASSAY_TYPE_HEAT_GUTTER, NULL);
  gtk_source_gutter_insert (gtk_source_view_get_gutter (self->view, GTK_TEXT_WINDOW_LEFT),
                            GTK_SOURCE_GUTTER_RENDERER (self->heat), 0);
  g_signal_connect_object (self->buffer, "notify::cursor-position", G_CALLBACK (cursor_moved), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (gtk_settings_get_default (), "notify::gtk-application-prefer-dark-theme",
                           G_CALLBACK (follow_scheme), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (gtk_settings_get_default (), "notify::gtk-theme-name",
                           G_CALLBACK (follow_scheme), self, G_CONNECT_SWAPPED);
  follow_scheme (self);
}
