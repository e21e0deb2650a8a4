/* SPDX-License-Identifier: Apache-2.0 */
#include "assay_reference.h"

/* Written from the specification alone. */
void
reference (const REAL *x, REAL *s, int64_t rows, int64_t cols)
{
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < cols; j++)
      s[i * cols + j] = j == 0 ? 0 : s[i * cols + j - 1] + x[i * cols + j - 1];
}
