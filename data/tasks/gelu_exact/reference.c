/* SPDX-License-Identifier: Apache-2.0 */
#include "assay_reference.h"

void
reference (const REAL *x, REAL *y, int64_t n)
{
  for (int64_t i = 0; i < n; i++)
    y[i] = x[i] / 2 * (1 + r_erf (x[i] * R (0.70710678118654752440084436210484903928)));
}
