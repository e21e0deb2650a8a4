/* SPDX-License-Identifier: Apache-2.0 */
#include "assay_reference.h"

void
reference (const REAL *scores, REAL *p, int64_t queries, int64_t keys)
{
  for (int64_t i = 0; i < queries; i++)
    {
      const REAL *row = scores + i * keys;
      int64_t end = i + 1 + keys - queries;
      REAL largest = row[0], sum = 0;
      for (int64_t j = 1; j < end; j++)
        largest = r_fmax (largest, row[j]);
      for (int64_t j = 0; j < end; j++)
        sum += r_exp (row[j] - largest);
      for (int64_t j = 0; j < keys; j++)
        p[i * keys + j] = j < end ? r_exp (row[j] - largest) / sum : 0;
    }
}
