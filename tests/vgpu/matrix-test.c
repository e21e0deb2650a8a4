/* SPDX-License-Identifier: Apache-2.0 */
/* Every form of mma.sync, and the rarer ones of wmma, against sums of whole numbers. The layouts of the
 * fragments are written here from the figures of the PTX ISA, a case for each width of an element. */
#include "engine/number/half.h"
#include "tests/vgpu/harness.h"

#include <math.h>
#include <string.h>

typedef enum
{
  F16,
  BF16,
  TF32,
  F64,
  S8,
  U8,
  S4,
  U4,
  B1,
  E4M3,
  E5M2,
  F32,
  S32
} Type;

static const struct
{
  const char *name;
  int bits;
} types[] = {{"f16", 16}, {"bf16", 16}, {"tf32", 32}, {"f64", 64}, {"s8", 8},
             {"u8", 8},   {"s4", 4},    {"u4", 4},    {"b1", 1},   {"e4m3", 8},
             {"e5m2", 8}, {"f32", 32},  {"s32", 32}};

typedef struct
{
  int m, k;
  Type a, b, result;
  const char *more;
} Form;

static const Form forms[] = {
    {16, 8, F16, F16, F32, ""},
    {16, 16, F16, F16, F32, ""},
    {16, 8, F16, F16, F16, ""},
    {16, 16, F16, F16, F16, ""},
    {16, 8, BF16, BF16, F32, ""},
    {16, 16, BF16, BF16, F32, ""},
    {16, 4, TF32, TF32, F32, ""},
    {16, 8, TF32, TF32, F32, ""},
    {8, 4, F64, F64, F64, ""},
    {16, 4, F64, F64, F64, ""},
    {16, 8, F64, F64, F64, ""},
    {16, 16, F64, F64, F64, ""},
    {8, 16, S8, S8, S32, ""},
    {8, 16, U8, S8, S32, ""},
    {16, 16, S8, U8, S32, ""},
    {16, 32, S8, S8, S32, ""},
    {16, 32, U8, U8, S32, ""},
    {16, 32, S8, S8, S32, ".satfinite"},
    {8, 32, S4, S4, S32, ""},
    {8, 32, U4, S4, S32, ".satfinite"},
    {16, 32, S4, U4, S32, ""},
    {16, 64, S4, S4, S32, ""},
    {16, 64, U4, U4, S32, ""},
    {8, 128, B1, B1, S32, ".xor.popc"},
    {16, 128, B1, B1, S32, ".xor.popc"},
    {16, 256, B1, B1, S32, ".and.popc"},
    {16, 16, E4M3, E4M3, F32, ""},
    {16, 32, E4M3, E5M2, F32, ""},
    {16, 32, E5M2, E5M2, F16, ""},
    {16, 16, E5M2, E4M3, F16, ""},
};

/* Bits of a small whole number, and of a type's value. */
static guint64
bits_of (Type type, int value)
{
  double wide = value;
  guint64 bits;
  switch (type)
    {
    case F16:
      return assay_float_to_half ((float) value);
    case BF16:
      return assay_float_to_bfloat ((float) value);
    case TF32:
    case F32:
      return assay_float_bits ((float) value);
    case F64:
      memcpy (&bits, &wide, sizeof bits);
      return bits;
    case E5M2:
      return assay_float_to_half ((float) value) >> 8;
    case E4M3:
      {
        /* Whole numbers up to 8 from half: one fraction bit more, another bias. */
        guint64 half = assay_float_to_half ((float) abs (value));
        return value == 0 ? 0 : (half >> 7) - ((15 - 7) << 3) + (value < 0 ? 0x80 : 0);
      }
    default:
      return (guint64) (gint64) value & ((1ull << types[type].bits) - 1);
    }
}

static int
draw (GRand *rand, Type type)
{
  switch (type)
    {
    case U8:
      return g_rand_int_range (rand, 0, 256);
    case S8:
      return g_rand_int_range (rand, -128, 128);
    case U4:
      return g_rand_int_range (rand, 0, 16);
    case S4:
      return g_rand_int_range (rand, -8, 8);
    case B1:
      return g_rand_int_range (rand, 0, 2);
    case E5M2:
      return g_rand_int_range (rand, -4, 5);
    default:
      return g_rand_int_range (rand, -8, 9);
    }
}

/* Where the i-th element that a lane holds lies in a (m rows), in b (k rows), in c and d. */
static void
place_a (int m, int bits, int lane, int i, int *row, int *column)
{
  int group = lane / 4, thread = lane % 4, per = bits >= 32 ? 1 : 32 / bits;
  int reg = i / per;
  *row = m == 8 || reg % 2 == 0 ? group : group + 8;
  *column = thread * per + i % per + (m == 8 ? reg : reg / 2) * 4 * per;
}

static void
place_b (int bits, int lane, int i, int *row, int *column)
{
  int per = bits >= 32 ? 1 : 32 / bits;
  *row = lane % 4 * per + i % per + i / per * 4 * per;
  *column = lane / 4;
}

static void
place_c (int lane, int i, int *row, int *column)
{
  *row = lane / 4 + (i < 2 ? 0 : 8);
  *column = lane % 4 * 2 + i % 2;
}

typedef struct
{
  guint64 words[32 * 16]; /* registers of each lane */
  int count;              /* of a lane */
} Fragment;

static void
put (Fragment *fragment, int bits, int lane, int i, guint64 value)
{
  int per = bits >= 32 ? 1 : 32 / bits;
  fragment->words[lane * fragment->count + i / per] |= value << (bits >= 32 ? 0 : i % per * bits);
}

static guint64
get (const Fragment *fragment, int bits, int lane, int i)
{
  int per = bits >= 32 ? 1 : 32 / bits;
  guint64 word = fragment->words[lane * fragment->count + i / per];
  return bits >= 32 ? word : word >> (i % per * bits) & ((1ull << bits) - 1);
}

static int
registers (int elements, int bits)
{
  return elements * (bits < 32 ? bits : 32) / 32 / 32;
}

static void
list (GString *text, const char *name, int count)
{
  g_string_append (text, count > 1 ? "{" : "");
  for (int i = 0; i < count; i++)
    g_string_append_printf (text, "%s%%%s%d", i > 0 ? ", " : "", name, i);
  g_string_append (text, count > 1 ? "}" : "");
}

/* A kernel that loads each lane's registers as 64-bit words, and stores the result likewise. */
static char *
make_ptx (const Form *form, const int *counts)
{
  static const char *const names[] = {"d", "a", "b", "c"};
  const bool wide = form->a == F64;
  GString *text = g_string_new (".version 8.7\n.target sm_90\n.address_size 64\n"
                                ".visible .entry k (.param .u64 a, .param .u64 b, .param .u64 c, "
                                ".param .u64 d)\n{\n  .reg .b64 %rd<9>, %w; .reg .b32 %t;\n"
                                "  mov.u32 %t, %tid.x;\n");
  for (int p = 0; p < 4; p++)
    {
      g_string_append_printf (text, "  .reg .b%d %%%s<16>;\n  ld.param.u64 %%rd%d, [%s];\n",
                              wide ? 64 : 32, names[p], p, names[p]);
      g_string_append_printf (text, "  mad.wide.u32 %%rd%d, %%t, %d, %%rd%d;\n", p, 8 * counts[p],
                              p);
      for (int i = 0; p > 0 && i < counts[p]; i++)
        g_string_append_printf (text,
                                wide ? "  ld.global.b64 %%%s%d, [%%rd%d+%d];\n"
                                     : "  ld.global.b32 %%%s%d, [%%rd%d+%d];\n",
                                names[p], i, p, 8 * i);
    }
  /* .xor.popc stands behind the types, .satfinite before them. */
  bool behind = strstr (form->more, "popc") != NULL;
  g_string_append_printf (text, "  mma.sync.aligned.m%dn8k%d.row.col%s.%s.%s.%s.%s%s ", form->m,
                          form->k, behind ? "" : form->more, types[form->result].name,
                          types[form->a].name, types[form->b].name, types[form->result].name,
                          behind ? form->more : "");
  for (int p = 0; p < 4; p++)
    {
      list (text, names[p], counts[p]);
      g_string_append (text, p < 3 ? ", " : ";\n");
    }
  for (int i = 0; i < counts[0]; i++)
    g_string_append_printf (text,
                            wide ? "  st.global.b64 [%%rd0+%d], %%d%d;\n"
                                 : "  cvt.u64.u32 %%w, %%d%d; st.global.b64 [%%rd0+%d], %%w;\n",
                            wide ? 8 * i : i, wide ? i : 8 * i);
  g_string_append (text, "  ret;\n}\n");
  return g_string_free (text, FALSE);
}

static gint64
step (const Form *form, int a, int b)
{
  if (form->a != B1)
    return (gint64) a * b;
  return strstr (form->more, "and") ? a & b : a ^ b;
}

static void
test_form (gconstpointer data)
{
  const Form *form = data;
  const int m = form->m, k = form->k, bits_a = types[form->a].bits, bits_b = types[form->b].bits;
  const int bits_c = types[form->result].bits;
  static int a[16][256], b[256][8], c[16][8];
  Fragment fa = {.count = registers (m * k, bits_a)}, fb = {.count = registers (k * 8, bits_b)};
  Fragment fc = {.count = registers (m * 8, bits_c)}, fd = {.count = fc.count};
  const int counts[] = {fd.count, fa.count, fb.count, fc.count};
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < k; j++)
      a[i][j] = draw (rand, form->a);
  for (int i = 0; i < k; i++)
    for (int j = 0; j < 8; j++)
      b[i][j] = draw (rand, form->b);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < 8; j++)
      c[i][j] = form->result == S32 && (i + j) % 3 == 0
                    ? ((i + j) % 2 ? G_MAXINT32 - 100 : G_MININT32 + 100)
                    : g_rand_int_range (rand, -100, 101);
  int row, column;
  for (int lane = 0; lane < 32; lane++)
    {
      for (int i = 0; i < m * k / 32; i++)
        {
          place_a (m, bits_a, lane, i, &row, &column);
          put (&fa, bits_a, lane, i, bits_of (form->a, a[row][column]));
        }
      for (int i = 0; i < k * 8 / 32; i++)
        {
          place_b (bits_b, lane, i, &row, &column);
          put (&fb, bits_b, lane, i, bits_of (form->b, b[row][column]));
        }
      for (int i = 0; i < m * 8 / 32; i++)
        {
          place_c (lane, i, &row, &column);
          put (&fc, bits_c, lane, i, bits_of (form->result, c[row][column]));
        }
    }
  g_autoptr (Gpu) gpu = gpu_open ("target=sm_90;checks=all");
  g_autofree char *ptx = make_ptx (form, counts);
  CUdeviceptr da = gpu_put (gpu, fa.words, sizeof fa.words, "a");
  CUdeviceptr db = gpu_put (gpu, fb.words, sizeof fb.words, "b");
  CUdeviceptr dc = gpu_put (gpu, fc.words, sizeof fc.words, "c");
  CUdeviceptr dd = gpu_put (gpu, fd.words, sizeof fd.words, "d");
  CUfunction f = gpu_load (gpu, ptx, "k");
  g_assert_cmpint (gpu_run (gpu, f, 1, 1, 32, 1, 0, &da, &db, &dc, &dd, NULL), ==, CUDA_SUCCESS);
  gpu_get (gpu, fd.words, dd, sizeof fd.words);
  for (int lane = 0; lane < 32; lane++)
    for (int i = 0; i < m * 8 / 32; i++)
      {
        place_c (lane, i, &row, &column);
        gint64 sum = c[row][column];
        for (int l = 0; l < k; l++)
          sum += step (form, a[row][l], b[l][column]);
        if (strcmp (form->more, ".satfinite") == 0)
          sum = CLAMP (sum, G_MININT32, G_MAXINT32);
        guint64 want = form->result == S32 ? (guint32) sum : bits_of (form->result, (int) sum);
        g_assert_cmphex (get (&fd, bits_c, lane, i), ==, want);
      }
  g_autoptr (GPtrArray) reports = gpu_reports (gpu);
  g_assert_null (find_type (reports, "report"));
}

/* ---- wmma ---- */

static char *wmma_ptx;

typedef struct
{
  const char *kernel;
  int m, n, k, bits; /* of an element of a and b */
} Wmma;

static const Wmma wmmas[] = {{"wmma_tf32", 16, 16, 8, 32},
                             {"wmma_f64", 8, 8, 4, 64},
                             {"wmma_s8", 16, 16, 16, 8},
                             {"wmma_s4", 8, 8, 32, 4},
                             {"wmma_b1", 8, 8, 128, 1}};

static int
small (int i, int j, int bits)
{
  int value = (i * 7 + j * 5) % 13 - 6;
  return bits == 1 ? value & 1 : value;
}

/* One product by nvcc's own fragments: a by rows, b by columns, each with two unused columns behind. */
static void
test_wmma (gconstpointer data)
{
  const Wmma *w = data;
  if (!wmma_ptx)
    wmma_ptx = compile_kernels ("wmma.cu", NULL);
  if (!wmma_ptx)
    return;
  guint8 a[4096] = {0}, b[4096] = {0};
  double c[256], sums[256];
  const int leading = w->bits < 8 ? w->k : w->k + (w->bits == 8 ? 16 : w->bits == 32 ? 4 : 2);
  for (int side = 0; side < 2; side++)
    for (int i = 0; i < (side ? w->n : w->m); i++)
      for (int l = 0; l < w->k; l++)
        {
          gsize at = (gsize) (i * leading + l) * (gsize) w->bits;
          guint8 *to = (side ? b : a) + at / 8;
          int value = side ? small (l, i + 3, w->bits) : small (i, l, w->bits);
          float single = (float) value;
          double wide = value;
          if (w->bits == 64)
            memcpy (to, &wide, 8);
          else if (w->bits == 32)
            memcpy (to, &single, 4);
          else
            *to |= (guint8) ((value & ((1 << w->bits) - 1)) << at % 8);
        }
  g_autoptr (Gpu) gpu = gpu_open ("checks=all");
  CUdeviceptr da = gpu_put (gpu, a, sizeof a, "a"), db = gpu_put (gpu, b, sizeof b, "b");
  CUdeviceptr dc = gpu_put (gpu, NULL, sizeof c, "c");
  CUfunction f = gpu_load (gpu, wmma_ptx, w->kernel);
  g_assert_cmpint (gpu_run (gpu, f, 1, 1, 32, 1, 0, &da, &db, &dc, NULL), ==, CUDA_SUCCESS);
  gpu_get (gpu, c, dc, (gsize) (w->m * w->n) * 8);
  for (int i = 0; i < w->m; i++)
    for (int j = 0; j < w->n; j++)
      {
        double *sum = &sums[i * w->n + j];
        *sum = 1;
        for (int l = 0; l < w->k; l++)
          *sum += w->bits == 1 ? small (i, l, 1) ^ small (l, j + 3, 1)
                               : small (i, l, w->bits) * small (l, j + 3, w->bits);
        g_assert_cmpfloat (c[i * w->n + j], ==, *sum);
      }
  g_autoptr (GPtrArray) reports = gpu_reports (gpu);
  g_assert_null (find_type (reports, "report"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (size_t i = 0; i < G_N_ELEMENTS (forms); i++)
    {
      const Form *form = &forms[i];
      g_autofree char *path = g_strdup_printf ("/vgpu/matrix/m%dn8k%d.%s.%s.%s%s", form->m, form->k,
                                               types[form->result].name, types[form->a].name,
                                               types[form->b].name, form->more);
      g_test_add_data_func (path, form, test_form);
    }
  for (size_t i = 0; i < G_N_ELEMENTS (wmmas); i++)
    {
      g_autofree char *path = g_strdup_printf ("/vgpu/matrix/%s", wmmas[i].kernel);
      g_test_add_data_func (path, &wmmas[i], test_wmma);
    }
  int result = g_test_run ();
  g_free (wmma_ptx);
  return result;
}
