/* SPDX-License-Identifier: Apache-2.0 */
#include "assay_reference.h"

void
reference (const REAL *x, REAL *y, int64_t rows, int64_t cols)
{
  for (int64_t r = 0; r < rows; r++)
    {
      const REAL *in = x + r * cols;
      REAL *out = y + r * cols;
      REAL largest = in[0], sum = 0;

      for (int64_t c = 1; c < cols; c++)
        if (in[c] > largest)
          largest = in[c];
      for (int64_t c = 0; c < cols; c++)
        sum += out[c] = EXP (in[c] - largest);
      for (int64_t c = 0; c < cols; c++)
        out[c] /= sum;
    }
}
