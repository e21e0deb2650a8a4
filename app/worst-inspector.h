/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/record/run.h"

G_BEGIN_DECLS

/* (transfer full): three lines of Pango markup about one of the worst elements: its place and errors,
 * then the bits of the candidate and of the gold below one another, sign, exponent and fraction apart,
 * those that agree faint. */
char *assay_worst_markup (const AssayOutput *output, const AssayWorst *worst);

G_END_DECLS
