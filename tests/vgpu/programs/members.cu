/* SPDX-License-Identifier: Apache-2.0 */
// Lanes that come to a .sync instruction together and name different members: each set is for itself.
#include "check.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__global__ void
by_mask (const int *labels, const int *values, unsigned *out)
{
  int i = threadIdx.x, label = labels[i];
  unsigned mask = __match_any_sync (0xffffffffu, label);
  out[8 * i] = mask;
  out[8 * i + 1] = __ballot_sync (mask, values[i] & 1);
  out[8 * i + 2] = __any_sync (mask, values[i] > 900) + 2 * __all_sync (mask, values[i] > 100);
  out[8 * i + 3] = __reduce_max_sync (mask, values[i]);
  out[8 * i + 4] = __reduce_add_sync (mask, (unsigned) values[i]);
  out[8 * i + 5] = __match_any_sync (mask, values[i] % 3);
  out[8 * i + 6] = __shfl_sync (mask, values[i], __ffs (mask) - 1);
  __syncwarp (mask);
  cg::coalesced_group active = cg::coalesced_threads ();
  auto group = cg::labeled_partition (active, label);
  out[8 * i + 7] = cg::reduce (group, values[i], cg::greater<int> ());
}

int
main ()
{
  int *labels, *values;
  unsigned *out;
  OK (cudaMallocManaged (&labels, 32 * 4));
  OK (cudaMallocManaged (&values, 32 * 4));
  OK (cudaMallocManaged (&out, 8 * 32 * 4));
  for (int round = 0; round < 20; round++)
    {
      for (int i = 0; i < 32; i++)
        {
          labels[i] = (i * 7 + round * round) % (1 + round % 7);
          values[i] = (i * 379 + round * 101) % 1000;
        }
      by_mask<<<1, 32>>> (labels, values, out);
      OK (cudaDeviceSynchronize ());
      for (int i = 0; i < 32; i++)
        {
          unsigned mask = 0, odd = 0, sum = 0, thirds = 0;
          int most = 0, first = -1;
          bool any = false, all = true;
          for (int j = 0; j < 32; j++)
            {
              if (labels[j] != labels[i])
                continue;
              first = first < 0 ? j : first;
              mask |= 1u << j;
              odd |= (values[j] & 1u) << j;
              sum += values[j];
              thirds |= (unsigned) (values[j] % 3 == values[i] % 3) << j;
              most = values[j] > most ? values[j] : most;
              any = any || values[j] > 900;
              all = all && values[j] > 100;
            }
          const unsigned *got = out + 8 * i;
          CHECK (got[0] == mask && got[1] == odd && got[2] == (unsigned) any + 2u * all);
          CHECK (got[3] == (unsigned) most && got[4] == sum && got[5] == thirds);
          CHECK (got[6] == (unsigned) values[first] && got[7] == (unsigned) most);
        }
    }
  std::printf ("fine\n");
}
