/* SPDX-License-Identifier: Apache-2.0 */
#include "assay_reference.h"

void
reference (const REAL *x, const REAL *gamma, const REAL *beta, REAL eps, REAL *y, int64_t rows,
           int64_t cols)
{
  for (int64_t i = 0; i < rows; i++)
    {
      const REAL *row = x + i * cols;
      REAL sum = 0, squares = 0;
      for (int64_t j = 0; j < cols; j++)
        sum += row[j];
      REAL mean = sum / (REAL) cols;
      for (int64_t j = 0; j < cols; j++)
        squares += (row[j] - mean) * (row[j] - mean);
      REAL scale = r_rsqrt (squares / (REAL) cols + eps);
      for (int64_t j = 0; j < cols; j++)
        y[i * cols + j] = (row[j] - mean) * scale * gamma[j] + beta[j];
    }
}
