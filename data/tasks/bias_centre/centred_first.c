/* SPDX-License-Identifier: Apache-2.0 */
#include "assay_reference.h"

void
reference (const REAL *x, const REAL *bias, REAL *y, int64_t rows, int64_t cols)
{
  for (int64_t i = 0; i < rows; i++)
    {
      REAL total = 0;
      for (int64_t start = 0; start < cols; start += 32)
        {
          REAL part = 0;
          for (int64_t j = start; j < cols && j < start + 32; j++)
            part += x[i * cols + j];
          total += part;
        }
      REAL mean = total / (REAL) cols;
      for (int64_t j = 0; j < cols; j++)
        y[i * cols + j] = (x[i * cols + j] - mean) + bias[i];
    }
}
