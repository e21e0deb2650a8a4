/* SPDX-License-Identifier: Apache-2.0 */
/* Products of warp groups against sums of whole numbers: every type, a from registers and from memory, every
 * swizzle, both directions of a and b. How a tile lies in shared memory is written here as the figures of the PTX
 * ISA draw it: lines of the swizzle's width, eight of which make an atom, in which pieces of 16 bytes change
 * places. */
#include "engine/number/half.h"
#include "tests/vgpu/harness.h"

#include <stdlib.h>
#include <string.h>

typedef enum
{
  F16,
  BF16,
  TF32,
  E4M3,
  E5M2,
  S8,
  U8,
  B1,
  F32,
  S32
} Type;

static const struct
{
  const char *name;
  int bits, k; /* of one step */
} types[] = {{"f16", 16, 16}, {"bf16", 16, 16}, {"tf32", 32, 8}, {"e4m3", 8, 32}, {"e5m2", 8, 32},
             {"s8", 8, 32},   {"u8", 8, 32},    {"b1", 1, 256},  {"f32", 32, 0},  {"s32", 32, 0}};

typedef struct
{
  Type a, b, result;
  int n, swizzle_a, swizzle_b; /* 0 none, 1 32 bytes, 2 64, 3 128 */
  int turned_a, turned_b, from_registers, negated;
} Form;

static const Form forms[] = {
    {F16, F16, F32, 64, 0, 0, 0, 0, 0, 0},    {F16, F16, F32, 64, 1, 1, 0, 0, 0, 0},
    {F16, F16, F32, 128, 2, 2, 0, 0, 0, 0},   {F16, F16, F32, 256, 3, 3, 0, 0, 0, 1},
    {F16, F16, F16, 8, 3, 3, 0, 0, 0, 0},     {F16, F16, F32, 16, 3, 1, 0, 0, 1, 0},
    {F16, F16, F32, 64, 0, 0, 1, 1, 0, 0},    {F16, F16, F32, 64, 1, 1, 1, 1, 0, 0},
    {F16, F16, F32, 128, 2, 2, 1, 1, 0, 0},   {BF16, BF16, F32, 256, 3, 3, 1, 1, 0, 0},
    {BF16, BF16, F32, 64, 3, 2, 0, 1, 0, 0},  {BF16, BF16, F32, 24, 2, 0, 1, 0, 0, 0},
    {BF16, BF16, F32, 96, 3, 3, 0, 1, 1, 1},  {F16, F16, F16, 64, 3, 3, 0, 1, 1, 0},
    {TF32, TF32, F32, 64, 0, 3, 0, 0, 0, 0},  {TF32, TF32, F32, 8, 1, 2, 0, 0, 1, 0},
    {E4M3, E4M3, F32, 64, 3, 3, 0, 0, 0, 0},  {E4M3, E5M2, F32, 16, 2, 1, 0, 0, 1, 0},
    {E5M2, E4M3, F16, 128, 0, 0, 0, 0, 0, 0}, {E5M2, E5M2, F32, 32, 3, 0, 0, 0, 0, 1},
    {S8, S8, S32, 64, 3, 3, 0, 0, 0, 0},      {U8, S8, S32, 32, 1, 2, 0, 0, 1, 0},
    {S8, U8, S32, 256, 0, 3, 0, 0, 0, 0},     {U8, U8, S32, 8, 2, 0, 0, 0, 0, 0},
    {B1, B1, S32, 64, 0, 0, 0, 0, 0, 0},      {B1, B1, S32, 16, 3, 3, 0, 0, 1, 0},
};

static guint32
bits_of (Type type, int value)
{
  guint32 half = assay_float_to_half ((float) value);
  switch (type)
    {
    case F16:
      return half;
    case BF16:
      return assay_float_to_bfloat ((float) value);
    case TF32:
    case F32:
      return assay_float_bits ((float) value);
    case E5M2:
      return half >> 8;
    case E4M3:
      /* From half: one fraction bit more, another bias. */
      half = assay_float_to_half ((float) abs (value));
      return value == 0 ? 0 : (half >> 7) - ((15 - 7) << 3) + (value < 0 ? 0x80 : 0);
    default:
      return (guint32) value;
    }
}

static int
draw (GRand *rand, Type type)
{
  return type == B1     ? g_rand_int_range (rand, 0, 2)
         : type == U8   ? g_rand_int_range (rand, 0, 256)
         : type == S8   ? g_rand_int_range (rand, -128, 128)
         : type == E5M2 ? g_rand_int_range (rand, -4, 5)
                        : g_rand_int_range (rand, -8, 9);
}

/* A tile of lines (rows of a or columns of b) by k, in an image of shared memory. */
typedef struct
{
  Type type;
  int lines, k, swizzle, turned;
  gsize leading, stride; /* bytes, as the descriptor has them */
} Tile;

/* By which piece of 16 bytes is exchanged with which, in line l of an atom. */
static int
exchange (int swizzle, int l)
{
  return swizzle == 3 ? l % 8 : swizzle == 2 ? l / 2 % 4 : swizzle == 1 ? l / 4 % 2 : 0;
}

/* Bit offset of element (line, k). */
static gsize
place_in (const Tile *t, int line, int k)
{
  int width = 16 << t->swizzle; /* bytes of a line of an atom */
  gsize bit = (gsize) k * (gsize) types[t->type].bits;
  if (!t->turned && t->swizzle == 0)
    /* Blocks of 8 lines by 16 bytes. */
    return ((gsize) (line / 8) * t->stride + bit / 128 * t->leading + (gsize) (line % 8) * 16) * 8
           + bit % 128;
  if (!t->turned)
    {
      gsize piece = bit / 128 ^ (gsize) exchange (t->swizzle, line % 8);
      return ((gsize) (line / 8) * t->stride + (gsize) (line % 8 * width) + piece * 16) * 8
             + bit % 128;
    }
  /* Eight elements of 16 bits along the lines make a piece. */
  int group = line / 8, in_piece = line % 8;
  if (t->swizzle == 0)
    return ((gsize) group * t->stride + (gsize) (k / 8) * t->leading + (gsize) (k % 8) * 16) * 8
           + (gsize) in_piece * 16;
  int across = 1 << t->swizzle;
  int piece = group % across ^ exchange (t->swizzle, k % 8);
  return ((gsize) (group / across) * t->leading + (gsize) (k / 8) * t->stride
          + (gsize) (k % 8 * width) + (gsize) piece * 16)
             * 8
         + (gsize) in_piece * 16;
}

/* Distances without gaps, but for one in the layouts that leave both open. */
static Tile
make_tile (Type type, int lines, int swizzle, int turned)
{
  Tile t = {.type = type, .lines = lines, .swizzle = swizzle, .turned = turned};
  gsize width = (gsize) 16 << swizzle, groups = (gsize) (lines + 7) / 8;
  t.k = types[type].k;
  if (!turned && swizzle == 0)
    {
      t.stride = 128;
      t.leading = groups * 128 + 64;
    }
  else if (!turned)
    t.stride = 8 * width;
  else if (swizzle == 0)
    {
      t.leading = 128;
      t.stride = 2 * 128;
    }
  else
    {
      t.stride = 8 * width;
      t.leading = 2 * 8 * width;
    }
  return t;
}

#define A_AT 0
#define B_AT 16384
#define IMAGE 49152

static guint64
descriptor (const Tile *t, gsize start)
{
  static const guint64 modes[] = {0, 3, 2, 1};
  return (start & 0x3ffff) >> 4 | (guint64) (t->leading >> 4) << 16
         | (guint64) (t->stride >> 4) << 32 | modes[t->swizzle] << 62;
}

static void
put (guint8 *image, gsize bit, int bits, guint32 value)
{
  for (int i = 0; i < bits; i++)
    if (value >> i & 1)
      image[(bit + (gsize) i) / 8] |= (guint8) (1 << (bit + (gsize) i) % 8);
}

/* The image comes from global memory; a's registers, if it has them, from behind it. */
static char *
make_ptx (const Form *f, int registers, guint64 a, guint64 b)
{
  static const char fence[] = "  fence.proxy.async.shared::cta;\n  bar.sync 0;\n";
  const char *scale = f->a <= E5M2 ? f->negated ? ", -1, 1" : ", 1, 1" : "";
  GString *text =
      g_string_new (".version 8.7\n.target sm_90a\n.address_size 64\n"
                    ".shared .align 1024 .b8 image[49152];\n"
                    ".visible .entry k (.param .u64 in, .param .u64 out)\n{\n"
                    "  .reg .b64 %rd<8>; .reg .b32 %r<8>, %a<4>, %d<128>; .reg .pred %p;\n"
                    "  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];\n"
                    "  mov.u32 %r1, %tid.x; mov.u32 %r2, %r1;\n"
                    "copy:\n  mul.wide.u32 %rd3, %r2, 4; add.u64 %rd4, %rd1, %rd3;\n"
                    "  ld.global.u32 %r3, [%rd4]; shl.b32 %r4, %r2, 2;\n"
                    "  mov.u32 %r5, image; add.u32 %r5, %r5, %r4;\n"
                    "  st.shared.u32 [%r5], %r3; add.u32 %r2, %r2, 128;\n"
                    "  setp.lt.u32 %p, %r2, 12288; @%p bra copy;\n");
  g_string_append_printf (text, "%s  mul.wide.u32 %%rd3, %%r1, 16; add.u64 %%rd4, %%rd1, %%rd3;\n",
                          fence);
  g_string_append_printf (text, "  ld.global.v4.u32 {%%a0, %%a1, %%a2, %%a3}, [%%rd4+%d];\n",
                          IMAGE);
  g_string_append_printf (
      text, "  mov.u64 %%rd5, %" G_GUINT64_FORMAT ";\n  mov.u64 %%rd6, %" G_GUINT64_FORMAT ";\n", a,
      b);
  for (int i = 0; i < registers; i++)
    g_string_append_printf (text, "  mov.u32 %%d%d, 0x%x;\n", i,
                            f->result == F32   ? 0x40000000
                            : f->result == F16 ? 0x40004000
                                               : 2);
  g_string_append_printf (text,
                          "  setp.ge.u32 %%p, %%r1, 0;\n  wgmma.fence.sync.aligned;\n"
                          "  wgmma.mma_async.sync.aligned.m64n%dk%d.%s.%s.%s%s {",
                          f->n, types[f->a].k, types[f->result].name, types[f->a].name,
                          types[f->b].name, f->a == B1 ? ".and.popc" : "");
  for (int i = 0; i < registers; i++)
    g_string_append_printf (text, "%s%%d%d", i > 0 ? ", " : "", i);
  g_string_append_printf (text, "}, %s, %%rd6, %%p%s",
                          f->from_registers ? "{%a0, %a1, %a2, %a3}" : "%rd5", scale);
  if (f->a <= BF16 && !f->from_registers)
    g_string_append_printf (text, ", %d", f->turned_a);
  if (f->a <= BF16)
    g_string_append_printf (text, ", %d", f->turned_b);
  g_string_append (text,
                   ";\n  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n");
  g_string_append_printf (text, "  mul.wide.u32 %%rd3, %%r1, %d; add.u64 %%rd4, %%rd2, %%rd3;\n",
                          4 * registers);
  for (int i = 0; i < registers; i++)
    g_string_append_printf (text, "  st.global.u32 [%%rd4+%d], %%d%d;\n", 4 * i, i);
  g_string_append (text, "  ret;\n}\n");
  return g_string_free (text, FALSE);
}

static void
test_form (gconstpointer data)
{
  const Form *f = data;
  static int a[64][256], b[256][256];
  const Tile ta = make_tile (f->a, 64, f->swizzle_a, f->turned_a);
  const Tile tb = make_tile (f->b, f->n, f->swizzle_b, f->turned_b);
  const int bits = types[f->a].bits, per = f->result == F16 ? 2 : 1;
  const int registers = f->n / 2 / per;
  g_autofree guint8 *in = g_malloc0 (IMAGE + 128 * 16);
  g_autofree guint32 *out = g_new0 (guint32, 128 * registers);
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  for (int k = 0; k < ta.k; k++)
    {
      for (int i = 0; i < 64; i++)
        {
          a[i][k] = draw (rand, f->a);
          put (in + A_AT, place_in (&ta, i, k), bits,
               bits_of (f->a, a[i][k]) & (guint32) ((1ull << bits) - 1));
        }
      for (int j = 0; j < f->n; j++)
        {
          b[j][k] = draw (rand, f->b);
          put (in + B_AT, place_in (&tb, j, k), bits,
               bits_of (f->b, b[j][k]) & (guint32) ((1ull << bits) - 1));
        }
    }
  /* Registers of a: figure "WGMMA .m64nNk16 register fragment layout for matrix A", in 32-bit words of k. */
  for (int thread = 0; thread < 128; thread++)
    for (int reg = 0; reg < 4; reg++)
      {
        int row = thread / 32 * 16 + thread % 32 / 4 + (reg % 2) * 8;
        int word = thread % 4 + (reg / 2) * 4;
        for (int i = 0; i < 32 / bits; i++)
          put (in + IMAGE + thread * 16 + reg * 4, (gsize) (i * bits), bits,
               bits_of (f->a, a[row][word * (32 / bits) + i]) & (guint32) ((1ull << bits) - 1));
      }
  g_autofree char *ptx = make_ptx (f, registers, descriptor (&ta, A_AT), descriptor (&tb, B_AT));
  g_autoptr (Gpu) gpu = gpu_open ("target=sm_90;checks=all");
  CUdeviceptr din = gpu_put (gpu, in, IMAGE + 128 * 16, "in");
  CUdeviceptr dout = gpu_put (gpu, NULL, (gsize) registers * 128 * 4, "out");
  CUfunction k = gpu_load (gpu, ptx, "k");
  g_assert_cmpint (gpu_run (gpu, k, 1, 1, 128, 1, 0, &din, &dout, NULL), ==, CUDA_SUCCESS);
  gpu_get (gpu, out, dout, (gsize) registers * 128 * 4);
  /* Figure "WGMMA .m64nNk16 register fragment layout for accumulator matrix D". */
  for (int thread = 0; thread < 128; thread++)
    for (int i = 0; i < registers * per; i++)
      {
        int row = thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
        int column = i / 4 * 8 + thread % 4 * 2 + i % 2;
        int sum = 0;
        for (int l = 0; l < ta.k; l++)
          sum += f->a == B1 ? a[row][l] & b[column][l] : a[row][l] * b[column][l];
        sum = 2 + (f->negated ? -sum : sum);
        guint32 word = out[thread * registers + i / per];
        guint32 got = per == 2 ? word >> (i % 2 * 16) & 0xffff : word;
        g_assert_cmphex (got, ==, bits_of (f->result, sum));
      }
  g_autoptr (GPtrArray) reports = gpu_reports (gpu);
  JsonObject *report = find_type (reports, "report");
  if (report)
    g_error ("%s", json_object_get_string_member (report, "message"));
}

/* ---- compiled by NVRTC for sm_90a ---- */

static char *wgmma_ptx;

typedef struct
{
  const char *kernel, *rule, *marker;
} Fault;

static const Fault cases[] = {
    {"product_good", NULL, NULL},
    {"ring_good", NULL, NULL},
    {"no_wait", "race.async-copy", "fault: no wait"},
    {"overwritten", "race.async-copy", "fault: overwritten"},
    {"no_proxy_fence", "race.async-copy", "fault: no proxy fence"},
    {"no_fence", "race.async-copy", "fault: no fence"},
    {"unfilled", "mem.uninitialised", "fault: unfilled"},
    {"outside", "mem.out-of-bounds", "fault: outside"},
};

/* 64 by 64 by 64 in halves: c = a b'. */
static void
test_kernel (gconstpointer data)
{
  const Fault *fault = data;
  guint16 a[64][64], b[64][64];
  float c[64][64];
  if (!wgmma_ptx)
    wgmma_ptx = compile_kernels ("wgmma.cu", "--gpu-architecture=compute_90a");
  if (!wgmma_ptx)
    return;
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++)
      {
        a[i][j] = assay_float_to_half ((float) ((i * 3 + j * 5) % 7 - 3));
        b[i][j] = assay_float_to_half ((float) ((i * 5 + j * 2) % 9 - 4));
      }
  g_autoptr (Gpu) gpu = gpu_open ("target=sm_90;checks=all;continue_on_fault=1");
  CUdeviceptr da = gpu_put (gpu, a, sizeof a, "a"), db = gpu_put (gpu, b, sizeof b, "b");
  CUdeviceptr dc = gpu_put (gpu, NULL, sizeof c, "c");
  CUfunction f = gpu_load (gpu, wgmma_ptx, fault->kernel);
  g_assert_cmpint (gpu_run (gpu, f, 1, 1, 128, 1, 0, &da, &db, &dc, NULL), ==, CUDA_SUCCESS);
  g_autoptr (GPtrArray) reports = gpu_reports (gpu);
  if (fault->rule)
    {
      JsonObject *report = find_report (reports, fault->rule);
      g_assert_nonnull (report);
      g_test_message ("%s", json_object_get_string_member (report, "message"));
      g_assert_cmpint (json_object_get_int_member (report, "line"), ==,
                       marked_line ("wgmma.cu", fault->marker));
      return;
    }
  JsonObject *report = find_type (reports, "report");
  if (report)
    g_error ("line %d: %s", (int) json_object_get_int_member (report, "line"),
             json_object_get_string_member (report, "message"));
  gpu_get (gpu, c, dc, sizeof c);
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++)
      {
        float sum = 0;
        for (int k = 0; k < 64; k++)
          sum += assay_half_to_float (a[i][k]) * assay_half_to_float (b[j][k]);
        g_assert_cmpfloat (c[i][j], ==, sum);
      }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (size_t i = 0; i < G_N_ELEMENTS (forms); i++)
    {
      const Form *f = &forms[i];
      g_autofree char *path = g_strdup_printf (
          "/vgpu/wgmma/%s.%s.%s-n%d-%s%d%s-%d%s%s", types[f->result].name, types[f->a].name,
          types[f->b].name, f->n, f->from_registers ? "registers" : "", f->swizzle_a,
          f->turned_a ? "t" : "", f->swizzle_b, f->turned_b ? "t" : "", f->negated ? "-neg" : "");
      g_test_add_data_func (path, f, test_form);
    }
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/vgpu/wgmma/%s", cases[i].kernel);
      g_test_add_data_func (path, &cases[i], test_kernel);
    }
  int result = g_test_run ();
  g_free (wgmma_ptx);
  return result;
}
