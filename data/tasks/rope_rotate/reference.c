/* SPDX-License-Identifier: Apache-2.0 */
#include "assay_reference.h"

void
reference (const REAL *x, const REAL *cosines, const REAL *sines, REAL *y, int64_t tokens,
           int64_t width)
{
  int64_t h = width / 2;
  for (int64_t t = 0; t < tokens; t++)
    for (int64_t i = 0; i < h; i++)
      {
        REAL a = x[t * width + i], b = x[t * width + i + h];
        REAL c = cosines[t * h + i], s = sines[t * h + i];
        y[t * width + i] = a * c - b * s;
        y[t * width + i + h] = b * c + a * s;
      }
}
