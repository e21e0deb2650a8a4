/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "widgets/stage-strip.h"

#include "widgets/segments.h"

struct _AssayStageStrip
{
  GtkWidget parent;
  GtkWidget *box;
  GtkLabel *name;
  GtkLabel *text;
  GtkWidget *cancel;
  AssaySegments *segments;
};

enum
{
  CANCEL,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (AssayStageStrip, assay_stage_strip, GTK_TYPE_WIDGET)

static const AssaySegment segment_of_status[] = {
    [ASSAY_STATUS_PENDING] = ASSAY_SEGMENT_EMPTY,     [ASSAY_STATUS_RUNNING] = ASSAY_SEGMENT_ACTIVE,
    [ASSAY_STATUS_PASSED] = ASSAY_SEGMENT_DONE,       [ASSAY_STATUS_FAILED] = ASSAY_SEGMENT_FAULT,
    [ASSAY_STATUS_SKIPPED] = ASSAY_SEGMENT_SKIPPED,   [ASSAY_STATUS_ERROR] = ASSAY_SEGMENT_FAULT,
    [ASSAY_STATUS_CANCELLED] = ASSAY_SEGMENT_SKIPPED,
};

static char *
describe_stages (const int *statuses)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (int i = 0; i < ASSAY_N_STAGES; i++)
    g_string_append_printf (text, "%s%s: %s", i > 0 ? "\n" : "", ASSAY_STAGES[i],
                            ASSAY_STATUSES[statuses[i]]);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

void
assay_stage_strip_show (AssayStageStrip *self, const int *statuses, int current, double fraction,
                        const char *headline, const char *text)
{
  g_autofree char *tooltip = NULL;
  double done = 0;

  g_return_if_fail (ASSAY_IS_STAGE_STRIP (self));
  for (int i = 0; i < ASSAY_N_STAGES; i++)
    {
      gboolean active = statuses[i] == ASSAY_STATUS_RUNNING;

      assay_segments_set (self->segments, i, segment_of_status[statuses[i]],
                          active ? fraction : 1.0);
      done += active ? fraction : statuses[i] == ASSAY_STATUS_PENDING ? 0 : 1;
    }
  tooltip = describe_stages (statuses);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self), tooltip);
  gtk_label_set_text (self->name, headline);
  gtk_label_set_text (self->text, text != NULL ? text : "");
  gtk_widget_set_visible (self->cancel, current >= 0);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, headline,
                                  GTK_ACCESSIBLE_PROPERTY_VALUE_MAX, (double) ASSAY_N_STAGES,
                                  GTK_ACCESSIBLE_PROPERTY_VALUE_MIN, 0.0,
                                  GTK_ACCESSIBLE_PROPERTY_VALUE_NOW, done,
                                  GTK_ACCESSIBLE_PROPERTY_VALUE_TEXT, text != NULL ? text : "", -1);
}

void
assay_stage_strip_set_compact (AssayStageStrip *self, gboolean compact)
{
  gtk_widget_set_visible (GTK_WIDGET (self->text), !compact);
}

static void
cancel_clicked (AssayStageStrip *self)
{
  g_signal_emit (self, signals[CANCEL], 0);
}

static void
assay_stage_strip_dispose (GObject *object)
{
  AssayStageStrip *self = ASSAY_STAGE_STRIP (object);

  g_clear_pointer (&self->box, gtk_widget_unparent);
  G_OBJECT_CLASS (assay_stage_strip_parent_class)->dispose (object);
}

static void
assay_stage_strip_class_init (AssayStageStripClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = assay_stage_strip_dispose;
  signals[CANCEL] = g_signal_new ("cancel", G_TYPE_FROM_CLASS (class), G_SIGNAL_RUN_LAST, 0, NULL,
                                  NULL, NULL, G_TYPE_NONE, 0);
  g_type_ensure (ASSAY_TYPE_SEGMENTS);
  gtk_widget_class_set_layout_manager_type (widget_class, GTK_TYPE_BIN_LAYOUT);
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_PROGRESS_BAR);
  gtk_widget_class_set_css_name (widget_class, "stagestrip");
  gtk_widget_class_set_template_from_resource (widget_class, "/org/assay/Assay/ui/stage-strip.ui");
  gtk_widget_class_bind_template_child (widget_class, AssayStageStrip, box);
  gtk_widget_class_bind_template_child (widget_class, AssayStageStrip, name);
  gtk_widget_class_bind_template_child (widget_class, AssayStageStrip, text);
  gtk_widget_class_bind_template_child (widget_class, AssayStageStrip, cancel);
  gtk_widget_class_bind_template_child (widget_class, AssayStageStrip, segments);
  gtk_widget_class_bind_template_callback (widget_class, cancel_clicked);
}

static void
assay_stage_strip_init (AssayStageStrip *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  gtk_widget_add_css_class (GTK_WIDGET (self), "stage-strip");
  assay_segments_set_count (self->segments, ASSAY_N_STAGES);
}
