/* SPDX-License-Identifier: Apache-2.0 */
/* Two numbers of 16 bits or four of 8 at a time: PTX ISA, "Video Instructions". */
#include "engine/vgpu/exec/handlers.h"
#include "engine/vgpu/exec/video.h"

static s32
part_of (u32 word, u32 shift, u32 bits, bool is_signed)
{
  const u32 raised = word << (32 - bits - shift);
  return is_signed ? (s32) raised >> (32 - bits) : (s32) (raised >> (32 - bits));
}

static s32
combine (u32 work, s32 a, s32 b)
{
  switch (work)
    {
    case VGPU_VIDEO_ADD:
      return a + b;
    case VGPU_VIDEO_SUB:
      return a - b;
    case VGPU_VIDEO_AVERAGE:
      return (a + b + (a + b >= 0)) >> 1;
    case VGPU_VIDEO_DISTANCE:
      return a > b ? a - b : b - a;
    case VGPU_VIDEO_MIN:
      return a < b ? a : b;
    default:
      return a > b ? a : b;
    }
}

static s32
clamp (s32 value, u32 bits, bool is_signed)
{
  const s32 most = is_signed ? (s32) (1u << (bits - 1)) - 1 : (s32) (1u << bits) - 1;
  const s32 least = is_signed ? -most - 1 : 0;
  return value > most ? most : value < least ? least : value;
}

VGPU_HANDLER (VIDEO)
{
  const u32 work = ins->target & 15, bits = ins->bytes * 8u, flags = ins->target;
  const u32 *rows[3] = {VGPU_ROW (const u32, ins->a), VGPU_ROW (const u32, ins->b),
                        VGPU_ROW (const u32, ins->c)};
  u32 *to = VGPU_ROW (u32, ins->d);
  for (u32 left = warp->mask; left != 0; left &= left - 1)
    {
      const int lane = __builtin_ctz (left);
      u32 packed = 0, sum = rows[2][lane];
      for (u32 shift = 0; shift < 32; shift += bits)
        {
          s32 value =
              combine (work, part_of (rows[0][lane], shift, bits, flags & VGPU_VIDEO_SIGNED_A),
                       part_of (rows[1][lane], shift, bits, flags & VGPU_VIDEO_SIGNED_B));
          if (flags & VGPU_VIDEO_SATURATES)
            value = clamp (value, bits, flags & VGPU_VIDEO_SIGNED_D);
          const u32 narrow = (u32) value & (0xffffffffu >> (32 - bits));
          packed |= narrow << shift;
          sum += (u32) part_of (narrow, 0, bits, flags & VGPU_VIDEO_SIGNED_D);
        }
      to[lane] = flags & VGPU_VIDEO_SUMS ? sum : packed;
    }
  return ins + 1;
}
