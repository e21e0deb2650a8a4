/* SPDX-License-Identifier: Apache-2.0 */
#include "assay_reference.h"

void
reference (const REAL *a, const REAL *b, REAL *c, int64_t m, int64_t n, int64_t k)
{
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++)
      {
        REAL sum = 0;
        for (int64_t l = 0; l < k; l++)
          sum += a[i * k + l] * b[l * n + j];
        c[i * n + j] = sum;
      }
}
