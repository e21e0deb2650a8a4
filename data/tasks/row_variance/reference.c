/* SPDX-License-Identifier: Apache-2.0 */
#include "assay_reference.h"

void
reference (const REAL *x, REAL *v, int64_t rows, int64_t cols)
{
  for (int64_t i = 0; i < rows; i++)
    {
      REAL sum = 0, squares = 0;
      for (int64_t j = 0; j < cols; j++)
        {
          sum += x[i * cols + j];
          squares += x[i * cols + j] * x[i * cols + j];
        }
      REAL mean = sum / (REAL) cols;
      v[i] = squares / (REAL) cols - mean * mean;
    }
}
