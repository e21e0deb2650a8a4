/* SPDX-License-Identifier: Apache-2.0 */
#include "assay_reference.h"

void
reference (const REAL *x, REAL *p, int64_t rows, int64_t cols)
{
  for (int64_t i = 0; i < rows; i++)
    {
      REAL product = 1;
      for (int64_t j = 0; j < cols; j++)
        {
          product *= x[i * cols + j];
          p[i * cols + j] = product;
        }
    }
}
