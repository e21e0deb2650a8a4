/* SPDX-License-Identifier: Apache-2.0 */
#include "assay_reference.h"

void
reference (const int64_t *bytes, int64_t *counts, int64_t n)
{
  for (int64_t i = 0; i < (n + 1023) / 1024 * 256; i++)
    counts[i] = 0;
  for (int64_t i = 0; i < n; i++)
    counts[i / 1024 * 256 + bytes[i]]++;
}
