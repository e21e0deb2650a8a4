/* SPDX-License-Identifier: Apache-2.0 */
/* Binary32 and binary64 arithmetic with flushing, saturation and directed rounding. */
#include "engine/vgpu/exec/handlers.h"

/* The host rounds as the instruction asks while these are in force. */
static inline u32
enter_rounding (u32 flags)
{
  static const u32 modes[4] = {0x0000, 0x6000, 0x2000, 0x4000};
  u32 old;
  __asm__ volatile("stmxcsr %0" : "=m"(old) : : "memory");
  u32 wanted = (old & ~0x6000u) | modes[(flags & VGPU_INS_ROUND) >> 2];
  __asm__ volatile("ldmxcsr %0" : : "m"(wanted) : "memory");
  return old;
}

static inline void
leave_rounding (u32 old)
{
  __asm__ volatile("ldmxcsr %0" : : "m"(old) : "memory");
}

#define CHOSEN(value, old) (mask >> lane & 1 ? (value) : (old))

#define ROWS(T)                                                                                    \
  const u32 flags = ins->flags;                                                                    \
  const u32 mask = warp->mask;                                                                     \
  T *row_d = VGPU_ROW (T, ins->d);                                                                 \
  const T *row_a = VGPU_ROW (const T, ins->a);                                                     \
  const T *row_b = VGPU_ROW (const T, ins->b);                                                     \
  const T *row_c = VGPU_ROW (const T, ins->c);                                                     \
  (void) flags;                                                                                    \
  (void) row_b;                                                                                    \
  (void) row_c;

#define PLAIN(T, VALUE)                                                                            \
  if (mask == VGPU_FULL)                                                                           \
    {                                                                                              \
      VGPU_LANE_LOOP                                                                               \
      {                                                                                            \
        const T a = row_a[lane], b = row_b[lane], c = row_c[lane];                                 \
        (void) b;                                                                                  \
        (void) c;                                                                                  \
        row_d[lane] = VALUE;                                                                       \
      }                                                                                            \
    }                                                                                              \
  else                                                                                             \
    {                                                                                              \
      VGPU_LANE_LOOP                                                                               \
      {                                                                                            \
        const T a = row_a[lane], b = row_b[lane], c = row_c[lane];                                 \
        (void) b;                                                                                  \
        (void) c;                                                                                  \
        row_d[lane] = CHOSEN (VALUE, row_d[lane]);                                                 \
      }                                                                                            \
    }

static inline f32
finish (f32 value, u32 flags)
{
  f32 flushed = canonical (flush_f32 (value, flags));
  return (flags & VGPU_INS_SAT) != 0 ? saturate (flushed) : flushed;
}

#define SINGLE(id, pattern, expression)                                                            \
  VGPU_HANDLER (id)                                                                                \
  {                                                                                                \
    ROWS (f32)                                                                                     \
    PLAIN (f32, canonical (expression))                                                            \
    VGPU_CONTINUE (ins + 1);                                                                       \
  }                                                                                                \
  VGPU_HANDLER (id##_M)                                                                            \
  {                                                                                                \
    ROWS (f32)                                                                                     \
    u32 old = enter_rounding (flags);                                                              \
    VGPU_LANE_LOOP                                                                                 \
    {                                                                                              \
      const f32 a = flush_f32 (row_a[lane], flags);                                                \
      const f32 b = flush_f32 (row_b[lane], flags);                                                \
      const f32 c = flush_f32 (row_c[lane], flags);                                                \
      (void) b;                                                                                    \
      (void) c;                                                                                    \
      const f32 value = finish (expression, flags);                                                \
      row_d[lane] = CHOSEN (value, row_d[lane]);                                                   \
    }                                                                                              \
    leave_rounding (old);                                                                          \
    VGPU_CONTINUE (ins + 1);                                                                       \
  }

VGPU_SINGLE_LANES (SINGLE, SINGLE, SINGLE)

#define DOUBLE(id, pattern, expression)                                                            \
  VGPU_HANDLER (id)                                                                                \
  {                                                                                                \
    ROWS (f64)                                                                                     \
    if ((flags & VGPU_INS_ROUND) == VGPU_ROUND_NEAREST)                                            \
      {                                                                                            \
        PLAIN (f64, (expression))                                                                  \
        VGPU_CONTINUE (ins + 1);                                                                   \
      }                                                                                            \
    u32 old = enter_rounding (flags);                                                              \
    PLAIN (f64, (expression))                                                                      \
    leave_rounding (old);                                                                          \
    VGPU_CONTINUE (ins + 1);                                                                       \
  }

VGPU_DOUBLE_LANES (DOUBLE, DOUBLE, DOUBLE)
