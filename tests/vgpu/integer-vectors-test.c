/* SPDX-License-Identifier: Apache-2.0 */
/* Integer instructions, bit for bit, against definitions written another way. */
#include "tests/vgpu/vector-harness.h"

#include <string.h>

typedef unsigned __int128 Wide;
typedef __int128 SignedWide;

#define S16(x) ((gint16) (x))
#define S32(x) ((gint32) (x))
#define S64(x) ((gint64) (x))
#define U32(x) ((guint32) (x))

static guint64
bit (guint64 value, int at)
{
  return at < 64 ? value >> at & 1 : 0;
}

/* Bit by bit, after the pseudo code of the PTX ISA. */
static guint64
field (guint64 value, guint64 start, guint64 length, int bits, bool is_signed)
{
  int at = (int) (start & 0xff), count = (int) (length & 0xff);
  int last = at + count - 1 < bits - 1 ? at + count - 1 : bits - 1;
  guint64 sign = is_signed && count > 0 ? bit (value, last) : 0;
  guint64 result = 0;
  for (int i = 0; i < bits; i++)
    {
      guint64 one = i < count && at + i < bits ? bit (value, at + i) : sign;
      result |= one << i;
    }
  return result;
}

static guint64
inserted (guint64 from, guint64 to, guint64 start, int length, int bits)
{
  int at = (int) (start & 0xff);
  for (int i = 0; i < length && at + i < bits; i++)
    to = (to & ~((guint64) 1 << (at + i))) | bit (from, i) << (at + i);
  return to;
}

static guint64
reversed (guint64 value, int bits)
{
  guint64 result = 0;
  for (int i = 0; i < bits; i++)
    result |= bit (value, i) << (bits - 1 - i);
  return result;
}

static guint64
highest (guint64 value, int bits, bool is_signed)
{
  guint64 sign = is_signed ? bit (value, bits - 1) : 0;
  for (int i = bits - 1; i >= 0; i--)
    if (bit (value, i) != sign)
      return (guint64) i;
  return 0xffffffff;
}

static guint64
halves (guint64 a, guint64 b, bool greatest, bool is_signed, bool relu)
{
  guint64 result = 0;
  for (int i = 1; i >= 0; i--)
    {
      gint64 x = (gint64) (a >> (16 * i) & 0xffff), y = (gint64) (b >> (16 * i) & 0xffff);
      if (is_signed)
        {
          x -= x >= 32768 ? 65536 : 0;
          y -= y >= 32768 ? 65536 : 0;
        }
      gint64 value = greatest ? MAX (x, y) : MIN (x, y);
      result = result << 16 | ((guint64) (relu ? MAX (value, 0) : value) & 0xffff);
    }
  return result;
}

/* After the pseudo code of the PTX ISA. */
static guint64
found (guint32 mask, guint32 base, gint64 offset)
{
  if (offset == 0)
    return base < 32 && (mask >> base & 1) ? base : 0xffffffff;
  gint64 at = base, count = ABS (offset) - 1, step = offset > 0 ? 1 : -1;
  while (at >= 0 && at < 32)
    {
      if (mask >> at & 1)
        {
          if (count == 0)
            return (guint64) at;
          count--;
        }
      at += step;
    }
  return 0xffffffff;
}

static guint64
ones (guint64 value)
{
  guint64 count = 0;
  for (; value != 0; value >>= 1)
    count += value & 1;
  return count;
}

static guint64
permuted (guint64 a, guint64 b, guint64 selector)
{
  guint8 bytes[8], result[4];
  guint32 low = U32 (a), high = U32 (b), word;
  memcpy (bytes, &low, 4);
  memcpy (bytes + 4, &high, 4);
  for (int i = 0; i < 4; i++)
    {
      int nibble = (int) (selector >> (4 * i) & 15);
      result[i] = bytes[nibble & 7];
      if (nibble & 8)
        result[i] = result[i] >= 128 ? 255 : 0;
    }
  memcpy (&word, result, 4);
  return word;
}

static guint64
shifted (guint64 low, guint64 high, int by, bool left)
{
  guint64 both = U32 (high);
  both = both << 32 | U32 (low);
  for (int i = 0; i < by; i++)
    both = left ? both << 1 : both >> 1;
  return left ? both >> 32 : U32 (both);
}

static guint64
dot (guint64 a, guint64 b, guint64 c, bool signed_a, bool signed_b)
{
  gint64 sum = S32 (c);
  for (int i = 0; i < 4; i++)
    {
      gint64 x = (guint8) (a >> (8 * i)), y = (guint8) (b >> (8 * i));
      sum += (signed_a && x > 127 ? x - 256 : x) * (signed_b && y > 127 ? y - 256 : y);
    }
  return (guint64) sum;
}

static guint64
clamped (SignedWide value, SignedWide least, SignedWide most)
{
  return (guint64) (value < least ? least : value > most ? most : value);
}

/* clang-format off */
#define VECTORS(X) \
  X ("add.s32", "www", a + b) \
  X ("add.u16", "hhh", a + b) \
  X ("add.s64", "ddd", a + b) \
  X ("add.sat.s32", "www", clamped ((SignedWide) S32 (a) + S32 (b), INT32_MIN, INT32_MAX)) \
  X ("sub.s32", "www", a - b) \
  X ("sub.u64", "ddd", a - b) \
  X ("sub.sat.s32", "www", clamped ((SignedWide) S32 (a) - S32 (b), INT32_MIN, INT32_MAX)) \
  X ("mul.lo.s32", "www", a * b) \
  X ("mul.lo.u16", "hhh", a * b) \
  X ("mul.lo.s64", "ddd", a * b) \
  X ("mul.hi.u32", "www", a * b >> 32) \
  X ("mul.hi.s32", "www", (guint64) ((SignedWide) S32 (a) * S32 (b) >> 32)) \
  X ("mul.hi.u64", "ddd", (guint64) ((Wide) a * b >> 64)) \
  X ("mul.hi.s64", "ddd", (guint64) ((SignedWide) S64 (a) * S64 (b) >> 64)) \
  X ("mul.hi.s16", "hhh", (guint64) ((gint64) S16 (a) * S16 (b) >> 16)) \
  X ("mul.wide.u32", "dww", a * b) \
  X ("mul.wide.s32", "dww", (guint64) ((gint64) S32 (a) * S32 (b))) \
  X ("mul.wide.u16", "whh", a * b) \
  X ("mul.wide.s16", "whh", (guint64) (S16 (a) * S16 (b))) \
  X ("mul24.lo.u32", "www", (a & 0xffffff) * (b & 0xffffff)) \
  X ("mad.lo.s32", "wwww", a * b + c) \
  X ("mad.lo.u64", "dddd", a * b + c) \
  X ("mad.hi.s32", "wwww", (guint64) ((SignedWide) S32 (a) * S32 (b) >> 32) + c) \
  X ("mad.hi.u64", "dddd", (guint64) ((Wide) a * b >> 64) + c) \
  X ("mad.wide.s32", "dwwd", (guint64) ((gint64) S32 (a) * S32 (b)) + c) \
  X ("mad.wide.u32", "dwwd", a * b + c) \
  X ("sad.s32", "wwww", (guint64) (S32 (a) > S32 (b) ? (gint64) S32 (a) - S32 (b) : (gint64) S32 (b) - S32 (a)) + c) \
  X ("sad.u32", "wwww", (a > b ? a - b : b - a) + c) \
  X ("dp2a.lo.u32.u32", "wwww", (guint64) ((gint64) (guint16) a * (guint8) (b >> 0) + (gint64) (guint16) (a >> 16) * (guint8) (b >> 8)) + c) \
  X ("dp2a.lo.u32.s32", "wwww", (guint64) ((gint64) (guint16) a * (gint8) (b >> 0) + (gint64) (guint16) (a >> 16) * (gint8) (b >> 8)) + c) \
  X ("dp2a.lo.s32.u32", "wwww", (guint64) ((gint64) S16 (a) * (guint8) (b >> 0) + (gint64) S16 (a >> 16) * (guint8) (b >> 8)) + c) \
  X ("dp2a.lo.s32.s32", "wwww", (guint64) ((gint64) S16 (a) * (gint8) (b >> 0) + (gint64) S16 (a >> 16) * (gint8) (b >> 8)) + c) \
  X ("dp2a.hi.u32.u32", "wwww", (guint64) ((gint64) (guint16) a * (guint8) (b >> 16) + (gint64) (guint16) (a >> 16) * (guint8) (b >> 24)) + c) \
  X ("dp2a.hi.u32.s32", "wwww", (guint64) ((gint64) (guint16) a * (gint8) (b >> 16) + (gint64) (guint16) (a >> 16) * (gint8) (b >> 24)) + c) \
  X ("dp2a.hi.s32.u32", "wwww", (guint64) ((gint64) S16 (a) * (guint8) (b >> 16) + (gint64) S16 (a >> 16) * (guint8) (b >> 24)) + c) \
  X ("dp2a.hi.s32.s32", "wwww", (guint64) ((gint64) S16 (a) * (gint8) (b >> 16) + (gint64) S16 (a >> 16) * (gint8) (b >> 24)) + c) \
  X ("sad.u16", "hhhh", (guint64) ABS ((gint64) a - (gint64) b) + c) \
  X ("sad.s16", "hhhh", (guint64) ABS ((gint64) S16 (a) - S16 (b)) + c) \
  X ("sad.u64", "dddd", (guint64) ((a > b ? (Wide) a - b : (Wide) b - a) + c)) \
  X ("sad.s64", "dddd", (guint64) (S64 (a) > S64 (b) ? (SignedWide) S64 (a) - S64 (b) : (SignedWide) S64 (b) - S64 (a)) + c) \
  X ("mul24.hi.u32", "www", (a & 0xffffff) * (b & 0xffffff) >> 16) \
  X ("mul24.hi.s32", "www", (guint64) ((S64 (a << 40) >> 40) * (S64 (b << 40) >> 40) >> 16)) \
  X ("mad24.lo.u32", "wwww", (a & 0xffffff) * (b & 0xffffff) + c) \
  X ("mad24.lo.s32", "wwww", (guint64) ((S64 (a << 40) >> 40) * (S64 (b << 40) >> 40)) + c) \
  X ("min.u16x2", "www", halves (a, b, false, false, false)) \
  X ("max.u16x2", "www", halves (a, b, true, false, false)) \
  X ("min.s16x2", "www", halves (a, b, false, true, false)) \
  X ("max.s16x2", "www", halves (a, b, true, true, false)) \
  X ("min.relu.s16x2", "www", halves (a, b, false, true, true)) \
  X ("max.relu.s16x2", "www", halves (a, b, true, true, true)) \
  X ("fns.b32", "wwww", found (U32 (a), U32 (b), S32 (c))) \
  X ("dp4a.u32.u32", "wwww", dot (a, b, c, false, false)) \
  X ("dp4a.s32.s32", "wwww", dot (a, b, c, true, true)) \
  X ("dp4a.s32.u32", "wwww", dot (a, b, c, true, false)) \
  X ("div.s32", "www", b == 0 ? G_MAXUINT64 : (guint64) ((gint64) S32 (a) / S32 (b))) \
  X ("div.u32", "www", b == 0 ? G_MAXUINT64 : a / b) \
  X ("div.u64", "ddd", b == 0 ? G_MAXUINT64 : a / b) \
  X ("div.s64", "ddd", b == 0 ? G_MAXUINT64 : (guint64) ((SignedWide) S64 (a) / S64 (b))) \
  X ("rem.s32", "www", b == 0 ? a : (guint64) ((gint64) S32 (a) % S32 (b))) \
  X ("rem.u64", "ddd", b == 0 ? a : a % b) \
  X ("rem.s64", "ddd", b == 0 ? a : (guint64) ((SignedWide) S64 (a) % S64 (b))) \
  X ("abs.s32", "ww", (guint64) (S32 (a) < 0 ? -(gint64) S32 (a) : S32 (a))) \
  X ("abs.s64", "dd", S64 (a) < 0 ? ~a + 1 : a) \
  X ("neg.s32", "ww", ~a + 1) \
  X ("min.s32", "www", S32 (a) < S32 (b) ? a : b) \
  X ("max.s32", "www", S32 (a) < S32 (b) ? b : a) \
  X ("min.u32", "www", MIN (a, b)) \
  X ("max.u64", "ddd", MAX (a, b)) \
  X ("min.s64", "ddd", S64 (a) < S64 (b) ? a : b) \
  X ("max.s16", "hhh", S16 (a) < S16 (b) ? b : a) \
  X ("max.relu.s32", "www", (guint64) MAX (MAX (S32 (a), S32 (b)), 0)) \
  X ("and.b32", "www", a & b) \
  X ("or.b64", "ddd", a | b) \
  X ("xor.b16", "hhh", a ^ b) \
  X ("not.b32", "ww", ~a) \
  X ("cnot.b32", "ww", a == 0) \
  X ("shl.b32", "www", b > 31 ? 0 : a << b) \
  X ("shl.b64", "ddw", b > 63 ? 0 : a << b) \
  X ("shl.b16", "hhw", b > 15 ? 0 : a << b) \
  X ("shr.u32", "www", b > 31 ? 0 : a >> b) \
  X ("shr.s32", "www", (guint64) (S32 (a) >> MIN (b, 31))) \
  X ("shr.s64", "ddw", (guint64) (S64 (a) >> MIN (b, 63))) \
  X ("shr.u64", "ddw", b > 63 ? 0 : a >> b) \
  X ("shr.s16", "hhw", (guint64) (S16 (a) >> MIN (b, 15))) \
  X ("shf.l.wrap.b32", "wwww", shifted (a, b, c & 31, true)) \
  X ("shf.l.clamp.b32", "wwww", shifted (a, b, (int) MIN (c, 32), true)) \
  X ("shf.r.wrap.b32", "wwww", shifted (a, b, c & 31, false)) \
  X ("shf.r.clamp.b32", "wwww", shifted (a, b, (int) MIN (c, 32), false)) \
  X ("bfe.u32", "wwww", field (a, b, c, 32, false)) \
  X ("bfe.s32", "wwww", field (a, b, c, 32, true)) \
  X ("bfe.u64", "ddww", field (a, b, c, 64, false)) \
  X ("bfe.s64", "ddww", field (a, b, c, 64, true)) \
  X ("bfind.u32", "ww", highest (a, 32, false)) \
  X ("bfind.s32", "ww", highest (a, 32, true)) \
  X ("bfind.u64", "wd", highest (a, 64, false)) \
  X ("bfind.s64", "wd", highest (a, 64, true)) \
  X ("bfind.shiftamt.u32", "ww", a == 0 ? 0xffffffff : 31 - highest (a, 32, false)) \
  X ("clz.b32", "ww", a == 0 ? 32 : 31 - highest (a, 32, false)) \
  X ("clz.b64", "wd", a == 0 ? 64 : 63 - highest (a, 64, false)) \
  X ("popc.b32", "ww", ones (a)) \
  X ("popc.b64", "wd", ones (a)) \
  X ("brev.b32", "ww", reversed (a, 32)) \
  X ("brev.b64", "dd", reversed (a, 64)) \
  X ("prmt.b32", "wwww", permuted (a, b, c)) \
  X ("szext.clamp.s32", "www", b == 0 ? 0 : b > 31 ? a : field (a, 0, b, 32, true)) \
  X ("setp.lt.s32", "pww", S32 (a) < S32 (b)) \
  X ("setp.hi.u32", "pww", a > b) \
  X ("setp.ne.b64", "pdd", a != b) \
  X ("setp.ge.s64", "pdd", S64 (a) >= S64 (b)) \
  X ("setp.le.u16", "phh", a <= b) \
  X ("cvt.u32.u16", "wh", a) \
  X ("cvt.s32.s16", "wh", (guint64) S16 (a)) \
  X ("cvt.s64.s32", "dw", (guint64) S32 (a)) \
  X ("cvt.u32.u64", "wd", a) \
  X ("cvt.s32.s8", "ww", (guint64) (gint8) a) \
  X ("cvt.u16.u8", "hh", (guint8) a) \
  X ("cvt.u8.u32", "ww", (guint8) a) \
  X ("cvt.s8.s32", "ww", (guint64) (gint8) a) \
  X ("cvt.sat.u8.s32", "ww", clamped (S32 (a), 0, 255)) \
  X ("cvt.sat.s8.s64", "wd", clamped (S64 (a), -128, 127)) \
  X ("cvt.sat.s32.u64", "wd", clamped (a, INT32_MIN, INT32_MAX)) \
  X ("cvt.sat.u32.s32", "ww", clamped (S32 (a), 0, UINT32_MAX))
/* clang-format on */

typedef struct
{
  const char *opcode;
  const char *types;
} Vector;

static const Vector vectors[] = {
#define VECTOR(opcode, types, expression) {opcode, types},
    VECTORS (VECTOR)
#undef VECTOR
};

/* The reference of a vector is found by its number. */
static guint64
refer (guint64 a, guint64 b, guint64 c, const void *data)
{
  const size_t wanted = (size_t) ((const Vector *) data - vectors);
  size_t number = 0;
#define VECTOR(opcode, types, expression)                                                          \
  if (number++ == wanted)                                                                          \
    return (guint64) (expression);
  VECTORS (VECTOR)
#undef VECTOR
  g_assert_not_reached ();
}

static void
test_vector (gconstpointer data)
{
  const Vector *vector = data;
  check_vectors (vector->opcode, vector->types, OPERANDS_INTEGER, refer, vector);
}

/* An instruction with an immediate, and one with five operands. */

static guint64
refer_lop3 (guint64 a, guint64 b, guint64 c, const void *data)
{
  guint32 table = GPOINTER_TO_UINT (data), result = 0;
  for (int i = 0; i < 32; i++)
    result |= (table >> (bit (a, i) << 2 | bit (b, i) << 1 | bit (c, i)) & 1) << i;
  return result;
}

static void
test_lop3 (void)
{
  for (int table = 0; table < 256; table += 37)
    check_vectors_with ("lop3.b32", "wwww", table, OPERANDS_INTEGER, refer_lop3,
                        GINT_TO_POINTER (table));
}

static guint64
refer_insert (guint64 a, guint64 b, guint64 c, const void *data)
{
  return inserted (a, b, c, GPOINTER_TO_INT (data), 32);
}

static void
test_insert (void)
{
  static const int lengths[] = {0, 1, 7, 31, 32, 40};
  for (size_t i = 0; i < G_N_ELEMENTS (lengths); i++)
    check_vectors_with ("bfi.b32", "wwww", lengths[i], OPERANDS_INTEGER, refer_insert,
                        GINT_TO_POINTER (lengths[i]));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (size_t i = 0; i < G_N_ELEMENTS (vectors); i++)
    {
      g_autofree char *path =
          g_strdup_printf ("/vgpu/integer/%s-%s", vectors[i].opcode, vectors[i].types);
      g_test_add_data_func (path, &vectors[i], test_vector);
    }
  g_test_add_func ("/vgpu/integer/lop3", test_lop3);
  g_test_add_func ("/vgpu/integer/bfi", test_insert);
  return g_test_run ();
}
