/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/numerics/compare.h"
#include "engine/record/run.h"

G_BEGIN_DECLS

/* The plane of tolerances (rtol across, atol up) for the rule |c - r| <= atol + rtol |r|: where each
 * answer begins to pass, and where right answers pass while wrong ones do not. */

/* (transfer full): an empty plane over rtol 1e-9 … 1, four values a decade. */
AssayPlane *assay_plane_new (const char *workload, const char *output);
/* Moves the nearest column to the rtol of the task's own rule, so that what is said of the gate is no
 * interpolation; a gate outside of the plane changes nothing. Before any frontier is made. */
void assay_plane_set_gate (AssayPlane *plane, double rtol);

/* The frontier of one answer: atol[i] = max (|c - r| - rtol[i] |r|), at least 0, infinite when a NaN or
 * infinity stands against a number. `rtol` ascends, of any length. Only candidate, reference and threads of
 * `input` are read. */
gboolean assay_frontier (const AssayCompareInput *input, const GArray *rtol, GArray *atol,
                         GCancellable *cancellable, GError **error);

/* Appends the answer's frontier to the plane. */
gboolean assay_plane_add (AssayPlane *plane, int kind, const char *name,
                          const AssayCompareInput *input, GCancellable *cancellable,
                          GError **error);
/* The candidate's frontier and the share of its elements that pass, over the plane. */
gboolean assay_plane_set_candidate (AssayPlane *plane, const AssayCompareInput *input,
                                    GCancellable *cancellable, GError **error);

/* Sets the proposal from the frontiers. At each rtol the right answers need some atol; both terms are then
 * widened together until a wrong answer passes. Where that factor is largest: four times what the right
 * answers need, but its geometric middle when the factor is below sixteen. No room, no proposal, and the
 * reason. */
void assay_plane_propose (AssayPlane *plane);

G_END_DECLS
