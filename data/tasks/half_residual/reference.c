/* SPDX-License-Identifier: Apache-2.0 */
#include "assay_reference.h"

void
reference (const REAL *x, const REAL *r, REAL *y, int64_t n)
{
  for (int64_t i = 0; i < n; i++)
    y[i] = x[i] + r[i] / 2;
}
