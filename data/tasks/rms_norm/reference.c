/* SPDX-License-Identifier: Apache-2.0 */
#include "assay_reference.h"

void
reference (const REAL *x, const REAL *weight, REAL *y, int64_t rows, int64_t cols)
{
  for (int64_t i = 0; i < rows; i++)
    {
      REAL squares = 0;
      for (int64_t j = 0; j < cols; j++)
        squares += x[i * cols + j] * x[i * cols + j];
      REAL scale = r_rsqrt (squares / (REAL) cols);
      for (int64_t j = 0; j < cols; j++)
        y[i * cols + j] = x[i * cols + j] * scale * weight[j];
    }
}
