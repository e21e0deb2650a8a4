/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

typedef enum
{
  ASSAY_NOTICE_GOOD,
  ASSAY_NOTICE_WARNING,
  ASSAY_NOTICE_ERROR,
} AssayNoticeKind;

#define ASSAY_TYPE_NOTICE (assay_notice_get_type ())
G_DECLARE_FINAL_TYPE (AssayNotice, assay_notice, ASSAY, NOTICE, GtkWidget)

/* One line that says what happened, where and what to do, above the page it concerns; never modal.
 * `detail` (nullable) goes to the clipboard with "Copy detail". `topic` names what it is about: a
 * new notice on the same topic takes the place of the old one. */
GtkWidget *assay_notice_new (AssayNoticeKind kind, const char *topic, const char *text,
                             const char *detail);
/* Adds a button that activates `action` with `target` (consumed where floating). */
void assay_notice_add_action (AssayNotice *self, const char *label, const char *action,
                              GVariant *target);
const char *assay_notice_get_topic (AssayNotice *self);
const char *assay_notice_get_text (AssayNotice *self);

/* In a vertical GtkBox of notices. */
void assay_notice_box_add (GtkBox *box, AssayNotice *notice);
void assay_notice_box_remove (GtkBox *box, const char *topic);
AssayNotice *assay_notice_box_find (GtkBox *box, const char *topic);

G_END_DECLS
