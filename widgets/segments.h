/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define ASSAY_TYPE_SEGMENTS (assay_segments_get_type ())
G_DECLARE_FINAL_TYPE (AssaySegments, assay_segments, ASSAY, SEGMENTS, GtkWidget)

/* A row of short bars, one for each step: stages of a run, criteria of a review. Skipped steps are
 * hollow, faulty ones taller, so that the row reads without colour. */
typedef enum
{
  ASSAY_SEGMENT_EMPTY,
  ASSAY_SEGMENT_ACTIVE,
  ASSAY_SEGMENT_DONE,
  ASSAY_SEGMENT_FAULT,
  ASSAY_SEGMENT_SKIPPED,
} AssaySegment;

void assay_segments_set_count (AssaySegments *self, guint count);
/* `fraction` of the bar that is filled, for active ones. */
void assay_segments_set (AssaySegments *self, guint index, AssaySegment segment, double fraction);

G_END_DECLS
