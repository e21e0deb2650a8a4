/* SPDX-License-Identifier: Apache-2.0 */
#include "assay_reference.h"

/* Sums of 64 terms first, then the sum of those. */
void
reference (const REAL *x, REAL *mean, int64_t rows, int64_t cols)
{
  for (int64_t i = 0; i < rows; i++)
    {
      REAL total = 0;
      for (int64_t start = 0; start < cols; start += 64)
        {
          REAL part = 0;
          for (int64_t j = start; j < cols && j < start + 64; j++)
            part += x[i * cols + j];
          total += part;
        }
      mean[i] = total / (REAL) cols;
    }
}
