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

/* With AVX-512 an instruction can say how it rounds; changing the mode of the host takes longer than all
 * the rest. rounded_ID (a, b, c, flags): sixteen lanes, as the loop below would. */
#ifdef __AVX512F__
#include <immintrin.h>

static inline __m512
flush_16 (__m512 value, u32 flags)
{
  const __m512i bits = _mm512_castps_si512 (value);
  if ((flags & VGPU_INS_FTZ) == 0)
    return value;
  const __mmask16 tiny = _mm512_testn_epi32_mask (bits, _mm512_set1_epi32 (0x7f800000));
  return _mm512_castsi512_ps (
      _mm512_mask_and_epi32 (bits, tiny, bits, _mm512_set1_epi32 ((s32) 0x80000000u)));
}

static inline __m512
finish_16 (__m512 value, u32 flags)
{
  const __m512 flushed = flush_16 (value, flags);
  const __mmask16 none = _mm512_cmp_ps_mask (flushed, flushed, _CMP_UNORD_Q);
  const __m512 result = _mm512_castsi512_ps (
      _mm512_mask_set1_epi32 (_mm512_castps_si512 (flushed), none, 0x7fffffff));
  if ((flags & VGPU_INS_SAT) == 0)
    return result;
  return _mm512_min_ps (_mm512_max_ps (result, _mm512_setzero_ps ()), _mm512_set1_ps (1.0f));
}

#define ROUNDED_AS(mode, CALL) CALL (a, b, c, (mode) | _MM_FROUND_NO_EXC)
#define ROUNDED(id, CALL)                                                                          \
  static inline __m512 rounded_##id (__m512 a, __m512 b, __m512 c, u32 flags)                      \
  {                                                                                                \
    (void) b;                                                                                      \
    (void) c;                                                                                      \
    switch (flags & VGPU_INS_ROUND)                                                                \
      {                                                                                            \
      case VGPU_ROUND_ZERO:                                                                        \
        return ROUNDED_AS (_MM_FROUND_TO_ZERO, CALL);                                              \
      case VGPU_ROUND_DOWN:                                                                        \
        return ROUNDED_AS (_MM_FROUND_TO_NEG_INF, CALL);                                           \
      case VGPU_ROUND_UP:                                                                          \
        return ROUNDED_AS (_MM_FROUND_TO_POS_INF, CALL);                                           \
      default:                                                                                     \
        return ROUNDED_AS (_MM_FROUND_TO_NEAREST_INT, CALL);                                       \
      }                                                                                            \
  }

#define ADD_16(a, b, c, how) _mm512_add_round_ps (a, b, how)
#define SUB_16(a, b, c, how) _mm512_sub_round_ps (a, b, how)
#define MUL_16(a, b, c, how) _mm512_mul_round_ps (a, b, how)
#define FMA_16(a, b, c, how) _mm512_fmadd_round_ps (a, b, c, how)
#define DIV_16(a, b, c, how) _mm512_div_round_ps (a, b, how)
#define RCP_16(a, b, c, how) _mm512_div_round_ps (_mm512_set1_ps (1.0f), a, how)
#define SQRT_16(a, b, c, how) _mm512_sqrt_round_ps (a, how)
ROUNDED (ADD_F32, ADD_16)
ROUNDED (SUB_F32, SUB_16)
ROUNDED (MUL_F32, MUL_16)
ROUNDED (FMA_F32, FMA_16)
ROUNDED (MAD_F32, FMA_16)
ROUNDED (DIV_F32, DIV_16)
ROUNDED (RCP_F32, RCP_16)
ROUNDED (SQRT_F32, SQRT_16)

#define MODIFIED(id, expression)                                                                   \
  for (int half = 0; half < VGPU_LANES; half += 16)                                                \
    {                                                                                              \
      const __m512 a = flush_16 (_mm512_load_ps (row_a + half), flags);                            \
      const __m512 b = flush_16 (_mm512_load_ps (row_b + half), flags);                            \
      const __m512 c = flush_16 (_mm512_load_ps (row_c + half), flags);                            \
      const __m512 value = finish_16 (rounded_##id (a, b, c, flags), flags);                       \
      const __m512 old = _mm512_load_ps (row_d + half);                                            \
      _mm512_store_ps (row_d + half,                                                               \
                       _mm512_mask_blend_ps ((__mmask16) (mask >> half), old, value));             \
    }
#else
#define MODIFIED(id, expression)                                                                   \
  const u32 old = enter_rounding (flags);                                                          \
  VGPU_LANE_LOOP                                                                                   \
  {                                                                                                \
    const f32 a = flush_f32 (row_a[lane], flags);                                                  \
    const f32 b = flush_f32 (row_b[lane], flags);                                                  \
    const f32 c = flush_f32 (row_c[lane], flags);                                                  \
    (void) b;                                                                                      \
    (void) c;                                                                                      \
    const f32 value = finish (expression, flags);                                                  \
    row_d[lane] = CHOSEN (value, row_d[lane]);                                                     \
  }                                                                                                \
  leave_rounding (old);
#endif

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
    MODIFIED (id, expression)                                                                      \
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
