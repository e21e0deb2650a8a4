/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "widgets/badge.h"

static const AssayBadge severities[] = {
    [ASSAY_SEVERITY_BLOCKER] = {"assay-blocker-symbolic", "blocker", "blocker"},
    [ASSAY_SEVERITY_MAJOR] = {"assay-major-symbolic", "major", "major"},
    [ASSAY_SEVERITY_MINOR] = {"assay-minor-symbolic", "minor", "minor"},
    [ASSAY_SEVERITY_INFO] = {"assay-info-symbolic", "info", "info"},
};

static const AssayBadge statuses[] = {
    [ASSAY_STATUS_PENDING] = {"assay-new-symbolic", "pending", "skipped"},
    [ASSAY_STATUS_RUNNING] = {"assay-draft-symbolic", "running", "info"},
    [ASSAY_STATUS_PASSED] = {"assay-passed-symbolic", "passed", "passed"},
    [ASSAY_STATUS_FAILED] = {"assay-failed-symbolic", "failed", "failed"},
    [ASSAY_STATUS_SKIPPED] = {"assay-skipped-symbolic", "skipped", "skipped"},
    [ASSAY_STATUS_ERROR] = {"assay-blocker-symbolic", "error", "failed"},
    [ASSAY_STATUS_CANCELLED] = {"assay-stop-symbolic", "cancelled", "skipped"},
};

static const struct
{
  const char *kind, *icon;
} evidence_icons[] = {
    {"run", "assay-run-symbolic"},     {"plot", "assay-plot-symbolic"},
    {"log", "assay-log-symbolic"},     {"source", "assay-code-symbolic"},
    {"array", "assay-table-symbolic"}, {"metric", "assay-table-symbolic"},
    {"probe", "assay-probe-symbolic"}, {"finding", "assay-finding-symbolic"},
    {"note", "assay-note-symbolic"},
};

const AssayBadge *
assay_badge_severity (int severity)
{
  g_return_val_if_fail (severity >= 0 && severity < (int) G_N_ELEMENTS (severities),
                        &severities[ASSAY_SEVERITY_INFO]);
  return &severities[severity];
}

const AssayBadge *
assay_badge_status (int status)
{
  g_return_val_if_fail (status >= 0 && status < (int) G_N_ELEMENTS (statuses), &statuses[0]);
  return &statuses[status];
}

const AssayBadge *
assay_badge_workload (int workload_status)
{
  switch (workload_status)
    {
    case ASSAY_WORKLOAD_PASSED:
      return &statuses[ASSAY_STATUS_PASSED];
    case ASSAY_WORKLOAD_SKIPPED:
    case ASSAY_WORKLOAD_INCONCLUSIVE:
      return &statuses[ASSAY_STATUS_SKIPPED];
    default:
      return &statuses[ASSAY_STATUS_FAILED];
    }
}

const char *
assay_badge_evidence_icon (const char *kind)
{
  for (gsize i = 0; i < G_N_ELEMENTS (evidence_icons); i++)
    if (g_strcmp0 (kind, evidence_icons[i].kind) == 0)
      return evidence_icons[i].icon;
  return "assay-note-symbolic";
}

void
assay_badge_image_set (GtkImage *image, const AssayBadge *badge)
{
  GtkWidget *widget = GTK_WIDGET (image);

  for (gsize i = 0; i < G_N_ELEMENTS (severities); i++)
    gtk_widget_remove_css_class (widget, severities[i].css);
  for (gsize i = 0; i < G_N_ELEMENTS (statuses); i++)
    gtk_widget_remove_css_class (widget, statuses[i].css);
  gtk_image_set_from_icon_name (image, badge->icon);
  gtk_widget_add_css_class (widget, badge->css);
  gtk_widget_set_tooltip_text (widget, badge->word);
  gtk_accessible_update_property (GTK_ACCESSIBLE (image), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  badge->word, -1);
}

GtkWidget *
assay_badge_image_new (const AssayBadge *badge)
{
  GtkWidget *image = gtk_image_new ();

  assay_badge_image_set (GTK_IMAGE (image), badge);
  return image;
}

GtkWidget *
assay_chip_new (const AssayBadge *badge, const char *text)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 5);
  GtkWidget *label = gtk_label_new (text);

  gtk_widget_add_css_class (box, "chip");
  gtk_widget_set_valign (box, GTK_ALIGN_CENTER);
  if (badge != NULL)
    {
      gtk_widget_add_css_class (box, badge->css);
      gtk_box_append (GTK_BOX (box), assay_badge_image_new (badge));
    }
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_box_append (GTK_BOX (box), label);
  return box;
}
