/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gtk/gtk.h>

#include "engine/record/finding.h"
#include "engine/record/run.h"

G_BEGIN_DECLS

/* How states are shown everywhere: an icon, a word and a CSS class, never colour alone. */
typedef struct
{
  const char *icon; /* symbolic icon of our own set */
  const char *word;
  const char *css;
} AssayBadge;

const AssayBadge *assay_badge_severity (int severity);
const AssayBadge *assay_badge_status (int status);
const AssayBadge *assay_badge_workload (int workload_status);
/* By the kind word of an AssayEvidence; a note where the word is not known. */
const char *assay_badge_evidence_icon (const char *kind);

/* Image with the mark's icon and class; its tooltip and accessible label are the word. */
GtkWidget *assay_badge_image_new (const AssayBadge *badge);
void assay_badge_image_set (GtkImage *image, const AssayBadge *badge);
/* Rounded chip: icon and text. */
GtkWidget *assay_chip_new (const AssayBadge *badge, const char *text);

G_END_DECLS
