/* SPDX-License-Identifier: Apache-2.0 */
/* Sectors per request and bank conflicts. Both depend only on how the lanes' addresses lie to one
 * another and on the phase of the first, so a site remembers its last pattern. */
#include "engine/vgpu/check/check.h"

#include <string.h>

#define SECTOR_BYTES 32
#define BANKS 32
#define BANK_BYTES 4

static bool
same_pattern (const VgpuSite *site, uint32_t phase, const int32_t *relative, uint32_t mask)
{
  return site->memo_mask == mask && site->memo_phase == phase
         && memcmp (site->memo_rel, relative, sizeof site->memo_rel) == 0;
}

static void
keep_pattern (VgpuSite *site, uint32_t phase, const int32_t *relative, uint32_t mask,
              uint32_t result)
{
  site->memo_mask = mask;
  site->memo_phase = phase;
  site->memo_result = result;
  memcpy (site->memo_rel, relative, sizeof site->memo_rel);
}

static bool
add_once (int64_t *list, uint32_t *count, int64_t value)
{
  for (uint32_t i = *count; i-- > 0;)
    if (list[i] == value)
      return false;
  list[(*count)++] = value;
  return true;
}

/* Different 32-byte sectors that the request touches. */
static uint32_t
count_sectors (uint32_t phase, const int32_t *relative, uint32_t mask, uint32_t bytes)
{
  int64_t list[VGPU_LANES * 2];
  uint32_t count = 0;
  for (uint32_t left = mask; left != 0; left &= left - 1)
    {
      int64_t from = (int64_t) relative[__builtin_ctz (left)] + phase + ((int64_t) 1 << 40);
      add_once (list, &count, from / SECTOR_BYTES);
      add_once (list, &count, (from + bytes - 1) / SECTOR_BYTES);
    }
  return count;
}

void
vgpu_count_global (VgpuSite *site, uint64_t first, const int32_t *relative, uint32_t mask,
                   uint32_t bytes)
{
  uint32_t phase = first % SECTOR_BYTES;
  uint32_t lanes = (uint32_t) __builtin_popcount (mask);
  uint32_t ideal = (lanes * bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;
  if (!same_pattern (site, phase, relative, mask))
    keep_pattern (site, phase, relative, mask, count_sectors (phase, relative, mask, bytes));
  site->sectors += site->memo_result;
  site->ideal_sectors += site->memo_result < ideal ? site->memo_result : ideal;
}

/* The most different words of one bank among some lanes: so many times the access is repeated. */
static uint32_t
worst_bank (uint32_t phase, const int32_t *relative, uint32_t mask, uint32_t bytes)
{
  int64_t words[BANKS][VGPU_LANES];
  uint32_t counts[BANKS] = {0};
  uint32_t worst = 0;
  for (uint32_t left = mask; left != 0; left &= left - 1)
    {
      int64_t from = (int64_t) relative[__builtin_ctz (left)] + phase + ((int64_t) 1 << 40);
      for (int64_t word = from / BANK_BYTES; word * BANK_BYTES < from + bytes; word++)
        {
          uint32_t bank = (uint32_t) (word % BANKS);
          if (counts[bank] < VGPU_LANES)
            add_once (words[bank], &counts[bank], word);
          worst = counts[bank] > worst ? counts[bank] : worst;
        }
    }
  return worst;
}

void
vgpu_count_shared (VgpuSite *site, uint64_t first, const int32_t *relative, uint32_t mask,
                   uint32_t bytes)
{
  /* Moving all lanes by whole words turns the banks round, no more. */
  uint32_t phase = first % BANK_BYTES;
  if (!same_pattern (site, phase, relative, mask))
    {
      /* Wide accesses are served in parts of 128 bytes: 16 lanes of 8 bytes, 8 lanes of 16. */
      uint32_t part = bytes <= 4 ? 32 : bytes <= 8 ? 16 : 8;
      uint32_t parts = 0, ways = 0;
      for (uint32_t at = 0; at < VGPU_LANES; at += part)
        {
          uint32_t lanes = mask & (part == 32 ? VGPU_FULL : ((1u << part) - 1) << at);
          if (lanes == 0)
            continue;
          ways += worst_bank (phase, relative, lanes, bytes);
          parts++;
        }
      keep_pattern (site, phase, relative, mask, parts > 0 ? (ways * 100 + parts / 2) / parts : 0);
    }
  site->ways += site->memo_result;
}
