/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* When enough samples were taken. */

typedef enum
{
  ASSAY_STOP_ERROR,   /* the mean's standard error is small against the mean */
  ASSAY_STOP_ENTROPY, /* new samples say nothing new: nvbench's criterion of that name */
} AssayStopKind;

typedef struct
{
  AssayStopKind kind;
  gsize fewest;   /* samples before it may stop */
  double seconds; /* measured in all before it may stop */
  double error;   /* ASSAY_STOP_ERROR: of the mean, relative; 0.0025 */
  /* ASSAY_STOP_ENTROPY: over the last 299 values of the samples' entropy (base 2, equal times are one
   * symbol) a straight line rises by at most `angle` degrees a sample and explains `r2` of their variance. */
  double angle, r2;
} AssayStopRule;

typedef struct _AssayStop AssayStop;

AssayStop *assay_stop_new (const AssayStopRule *rule);
void assay_stop_free (AssayStop *stop);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AssayStop, assay_stop_free)

void assay_stop_add (AssayStop *stop, double seconds);
gboolean assay_stop_reached (const AssayStop *stop);
/* The mean's standard error against the mean, and the entropy in bits, of what was added so far. */
double assay_stop_error (const AssayStop *stop);
double assay_stop_entropy (const AssayStop *stop);

G_END_DECLS
