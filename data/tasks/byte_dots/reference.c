/* SPDX-License-Identifier: Apache-2.0 */
#include "assay_reference.h"

void
reference (const int64_t *a, const int64_t *b, int64_t *dots, int64_t rows, int64_t cols)
{
  for (int64_t i = 0; i < rows; i++)
    {
      int64_t sum = 0;
      for (int64_t j = 0; j < cols; j++)
        sum += a[i * cols + j] * b[i * cols + j];
      dots[i] = sum;
    }
}
