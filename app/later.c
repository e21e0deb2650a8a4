/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "app/later.h"

#define GATHER_MS 80

struct _AssayLater
{
  GtkWidget *widget;
  AssayLaterFunc show;
  guint what, source;
  gulong map_handler;
};

static gboolean
fire (gpointer data)
{
  AssayLater *self = data;
  guint what = self->what;

  self->source = 0;
  if (!gtk_widget_get_mapped (self->widget))
    return G_SOURCE_REMOVE; /* when it is seen again */
  self->what = 0;
  self->show (self->widget, what);
  return G_SOURCE_REMOVE;
}

static void
mapped (AssayLater *self)
{
  if (self->what == 0)
    return;
  g_clear_handle_id (&self->source, g_source_remove);
  self->source = g_idle_add (fire, self);
}

AssayLater *
assay_later_new (GtkWidget *widget, AssayLaterFunc show)
{
  AssayLater *self = g_new0 (AssayLater, 1);

  self->widget = widget;
  self->show = show;
  self->map_handler = g_signal_connect_swapped (widget, "map", G_CALLBACK (mapped), self);
  return self;
}

void
assay_later_push (AssayLater *self, guint what)
{
  self->what |= what;
  if (self->what != 0 && self->source == 0 && gtk_widget_get_mapped (self->widget))
    self->source = g_timeout_add (GATHER_MS, fire, self);
}

void
assay_later_free (AssayLater *self)
{
  g_clear_handle_id (&self->source, g_source_remove);
  g_clear_signal_handler (&self->map_handler, self->widget);
  g_free (self);
}
