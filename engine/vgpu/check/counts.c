/* SPDX-License-Identifier: Apache-2.0 */
/* Sectors per request and bank conflicts. Both depend only on how the lanes' addresses lie to one
 * another and on the phase of the first, so a site remembers its last pattern. */
#include "engine/vgpu/check/check.h"

#include <string.h>

#define SECTOR_BYTES 32
#define BANKS 32
#define BANK_BYTES 4

/* Whether the lanes lie to one another as in the last request of the site; else that is so from now on. */
static bool
same_pattern (VgpuSite *site, const int32_t *relative, uint32_t mask)
{
  VgpuPattern *pattern = &site->pattern;
  if (relative == pattern->relative
      || (pattern->mask == mask
          && memcmp (pattern->relative, relative, sizeof pattern->relative) == 0))
    return true;
  pattern->mask = mask;
  pattern->stride = 0;
  memcpy (pattern->relative, relative, sizeof pattern->relative);
  memset (site->results, 0, sizeof site->results);
  return false;
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
  int64_t list[VGPU_LANES * 2], low = 0;
  uint64_t near = 0;
  uint32_t count = 0;
  for (int lane = 0; lane < VGPU_LANES; lane++)
    low = relative[lane] < low ? relative[lane] : low;
  const int64_t origin = (((low + phase) & ~(int64_t) (SECTOR_BYTES - 1)));
  for (uint32_t left = mask; left != 0; left &= left - 1)
    {
      int64_t from = (int64_t) relative[__builtin_ctz (left)] + phase - origin;
      int64_t begin = from / SECTOR_BYTES, end = (from + bytes - 1) / SECTOR_BYTES;
      if (end < 64)
        near |= (uint64_t) 1 << begin | (uint64_t) 1 << end;
      else
        {
          add_once (list, &count, begin);
          add_once (list, &count, end);
        }
    }
  /* A lane that lies across sector 64 has put its first half into the list. */
  for (uint32_t i = 0; i < count; i++)
    if (list[i] < 64)
      {
        near |= (uint64_t) 1 << list[i];
        list[i--] = list[--count];
      }
  return count + (uint32_t) __builtin_popcountll (near);
}

static uint32_t
sectors_of (VgpuSite *site, VgpuShape shape, uint32_t phase, const int32_t *relative, uint32_t mask,
            uint32_t bytes)
{
  const uint32_t lanes = mask >> __builtin_ctz (mask);
  if (shape == VGPU_SHAPE_SAME)
    return (phase + bytes - 1) / SECTOR_BYTES + 1;
  if (shape == VGPU_SHAPE_UNIT && (lanes & (lanes + 1)) == 0)
    return (phase + (uint32_t) (32 - __builtin_clz (lanes)) * bytes - 1) / SECTOR_BYTES + 1;
  uint16_t *known = &site->results[phase / 4];
  if (!same_pattern (site, relative, mask) || *known == 0 || phase % 4 != 0)
    {
      uint32_t count = count_sectors (phase, relative, mask, bytes);
      *known = phase % 4 == 0 ? (uint16_t) count : 0;
      return count;
    }
  return *known;
}

void
vgpu_count_global (VgpuSite *site, VgpuShape shape, uint64_t first, const int32_t *relative,
                   uint32_t mask, uint32_t bytes)
{
  uint32_t phase = first % SECTOR_BYTES;
  uint32_t lanes = (uint32_t) __builtin_popcount (mask);
  uint32_t ideal = (lanes * bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;
  uint32_t sectors = sectors_of (site, shape, phase, relative, mask, bytes);
  site->sectors += sectors;
  site->ideal_sectors += sectors < ideal ? sectors : ideal;
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

/* The same where the lanes lie within so many bytes of one another: a bit for each word of a bank. */
#define NEAR_BYTES (64 * BANKS * BANK_BYTES)

static uint32_t
worst_bank_near (uint32_t from, const int32_t *relative, uint32_t mask, uint32_t bytes)
{
  uint64_t words[BANKS] = {0};
  uint8_t counts[BANKS] = {0};
  uint32_t worst = 0;
  for (uint32_t left = mask; left != 0; left &= left - 1)
    {
      uint32_t at = from + (uint32_t) relative[__builtin_ctz (left)];
      for (uint32_t word = at / BANK_BYTES; word * BANK_BYTES < at + bytes; word++)
        {
          uint32_t bank = word % BANKS;
          uint64_t row = (uint64_t) 1 << word / BANKS;
          counts[bank] += (words[bank] & row) == 0;
          words[bank] |= row;
          worst = counts[bank] > worst ? counts[bank] : worst;
        }
    }
  return worst;
}

static uint32_t
count_ways (uint32_t phase, const int32_t *relative, uint32_t mask, uint32_t bytes)
{
  /* Wide accesses are served in parts of 128 bytes: 16 lanes of 8 bytes, 8 lanes of 16. */
  uint32_t part = bytes <= 4 ? 32 : bytes <= 8 ? 16 : 8;
  uint32_t parts = 0, ways = 0;
  int32_t low = 0, high = 0;
  for (int lane = 0; lane < VGPU_LANES; lane++)
    {
      low = relative[lane] < low ? relative[lane] : low;
      high = relative[lane] > high ? relative[lane] : high;
    }
  /* The first lane's bank does not matter, as long as words stay words. */
  uint32_t from =
      phase + (uint32_t) ((BANK_BYTES - 1 - (int64_t) low) & ~(int64_t) (BANK_BYTES - 1));
  bool near = (int64_t) high - low + bytes + 2 * BANK_BYTES < NEAR_BYTES;
  for (uint32_t at = 0; at < VGPU_LANES; at += part)
    {
      uint32_t lanes = mask & (part == 32 ? VGPU_FULL : ((1u << part) - 1) << at);
      if (lanes == 0)
        continue;
      ways += near ? worst_bank_near (from, relative, lanes, bytes)
                   : worst_bank (phase, relative, lanes, bytes);
      parts++;
    }
  return parts > 0 ? (ways * 100 + parts / 2) / parts : 0;
}

void
vgpu_count_shared (VgpuSite *site, VgpuShape shape, uint64_t first, const int32_t *relative,
                   uint32_t mask, uint32_t bytes)
{
  /* Moving all lanes by whole words turns the banks round, no more. */
  uint32_t phase = first % BANK_BYTES;
  uint16_t *known = &site->results[phase];
  if (shape != VGPU_SHAPE_MIXED && bytes <= 16)
    {
      site->ways += 100;
      return;
    }
  if (!same_pattern (site, relative, mask) || *known == 0)
    *known = (uint16_t) count_ways (phase, relative, mask, bytes);
  site->ways += *known;
}
