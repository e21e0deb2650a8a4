/* SPDX-License-Identifier: Apache-2.0 */
#include "assay_reference.h"

void
reference (const REAL *x, REAL *y, int64_t rows, int64_t cols)
{
  for (int64_t i = 0; i < rows; i++)
    {
      const REAL *row = x + i * cols;
      REAL largest = row[0], sum = 0, total = 0;
      for (int64_t j = 1; j < cols; j++)
        largest = r_fmax (largest, row[j]);
      for (int64_t j = 0; j < cols; j++)
        sum += r_exp (row[j] - largest);
      for (int64_t j = 0; j < cols; j++)
        total += r_exp (row[j] - largest) / sum;
      y[i] = total / (REAL) cols;
    }
}
