/* SPDX-License-Identifier: Apache-2.0 */
#include "assay_reference.h"

void
reference (const REAL *image, REAL *blurred, int64_t rows, int64_t cols)
{
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < cols; j++)
      {
        REAL sum = 0;
        for (int64_t k = i - 1; k <= i + 1; k++)
          for (int64_t l = j - 1; l <= j + 1; l++)
            sum += k < 0 || k >= rows || l < 0 || l >= cols ? 0 : image[k * cols + l];
        blurred[i * cols + j] = sum / 9;
      }
}
