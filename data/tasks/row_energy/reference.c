/* SPDX-License-Identifier: Apache-2.0 */
#include "assay_reference.h"

/* Sums of 32 terms first, then the sum of those: the error of the reference grows with the square root
 * of the number of terms only in its small part. */
void
reference (const REAL *x, const REAL *weight, REAL *energy, int64_t rows, int64_t cols)
{
  for (int64_t i = 0; i < rows; i++)
    {
      REAL total = 0;
      for (int64_t start = 0; start < cols; start += 32)
        {
          REAL part = 0;
          for (int64_t j = start; j < cols && j < start + 32; j++)
            part += (weight[j] * x[i * cols + j]) * (weight[j] * x[i * cols + j]);
          total += part;
        }
      energy[i] = total;
    }
}
