/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/vgpu/vector-harness.h"

#include <gio/gio.h>
#include <string.h>

static const guint64 special_integers[] = {0,
                                           1,
                                           2,
                                           7,
                                           8,
                                           15,
                                           16,
                                           31,
                                           32,
                                           33,
                                           63,
                                           64,
                                           65,
                                           127,
                                           128,
                                           255,
                                           256,
                                           0x7fff,
                                           0x8000,
                                           0xffff,
                                           0x10000,
                                           0x7fffffff,
                                           0x80000000,
                                           0xffffffff,
                                           0x100000000,
                                           0x7fffffffffffffff,
                                           0x8000000000000000,
                                           0xffffffffffffffff};

static guint64
random_bits (GRand *rand)
{
  return (guint64) g_rand_int (rand) << 32 | g_rand_int (rand);
}

static guint64
random_integer (GRand *rand)
{
  if (g_rand_int_range (rand, 0, 3) == 0)
    return special_integers[g_rand_int_range (rand, 0, G_N_ELEMENTS (special_integers))];
  guint64 value = random_bits (rand) >> g_rand_int_range (rand, 0, 64);
  return g_rand_boolean (rand) ? value : 0 - value;
}

/* Bits of a float format: fields drawn apart, so that all exponents come up, and special ones. */
static guint64
random_float (GRand *rand, int exponent_bits, int fraction_bits)
{
  guint64 most = ((guint64) 1 << exponent_bits) - 1;
  guint64 fraction = random_bits (rand) & (((guint64) 1 << fraction_bits) - 1);
  guint64 bias = most / 2;
  guint64 exponent;
  switch (g_rand_int_range (rand, 0, 8))
    {
    case 0:
      exponent = 0;
      break;
    case 1:
      exponent = most;
      break;
    case 2:
      exponent = most - 1;
      break;
    case 3:
      exponent = random_bits (rand) & most;
      break;
    default:
      exponent = bias - 8 + (guint64) g_rand_int_range (rand, 0, 17);
    }
  if (g_rand_int_range (rand, 0, 4) == 0)
    fraction = g_rand_boolean (rand) ? 0 : ((guint64) 1 << fraction_bits) - 1;
  guint64 sign = (guint64) g_rand_boolean (rand) << (exponent_bits + fraction_bits);
  return sign | exponent << fraction_bits | fraction;
}

static guint64
draw_operand (GRand *rand, Operands operands, char type)
{
  guint64 value, other;
  switch (operands)
    {
    case OPERANDS_F32:
      value = random_float (rand, 8, 23);
      return type == 'd' ? random_float (rand, 8, 23) << 32 | value : value;
    case OPERANDS_F64:
      return random_float (rand, 11, 52);
    case OPERANDS_F16:
      value = random_float (rand, 5, 10);
      other = random_float (rand, 5, 10);
      return type == 'w' ? other << 16 | value : value;
    case OPERANDS_BF16:
      value = random_float (rand, 8, 7);
      other = random_float (rand, 8, 7);
      return type == 'w' ? other << 16 | value : value;
    default:
      return random_integer (rand);
    }
}

static char *
make_ptx (const char *opcode, const char *types, const char *last)
{
  GString *ptx = g_string_new (".version 8.6\n.target sm_90\n.address_size 64\n"
                               ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
                               "  .reg .b16 %h<4>;\n  .reg .b32 %w<4>;\n  .reg .b64 %d<4>;\n"
                               "  .reg .b32 %t<3>;\n  .reg .b64 %q<5>;\n  .reg .pred %p<2>;\n"
                               "  ld.param.u64 %q0, [in];\n  ld.param.u64 %q1, [out];\n"
                               "  mov.u32 %t0, %tid.x;\n  mov.u32 %t1, %ctaid.x;\n"
                               "  mad.lo.u32 %t0, %t1, 256, %t0;\n"
                               "  mad.wide.u32 %q2, %t0, 24, %q0;\n"
                               "  mad.wide.u32 %q3, %t0, 8, %q1;\n");
  static const char letters[] = "hwd";
  static const int bits[] = {16, 32, 64};
  for (size_t i = 1; types[i] != '\0'; i++)
    g_string_append_printf (ptx, "  ld.global.b%d %%%c%zu, [%%q2+%zu];\n",
                            bits[strchr (letters, types[i]) - letters], types[i], i, (i - 1) * 8);
  g_string_append_printf (ptx, "  %s %%%c0", opcode, types[0]);
  for (size_t i = 1; types[i] != '\0'; i++)
    g_string_append_printf (ptx, ", %%%c%zu", types[i], i);
  g_string_append_printf (ptx, "%s;\n", last);
  if (types[0] == 'p')
    g_string_append (ptx, "  selp.u64 %d0, 1, 0, %p0;\n");
  else if (types[0] == 'h')
    g_string_append (ptx, "  cvt.u64.u16 %d0, %h0;\n");
  else if (types[0] == 'w')
    g_string_append (ptx, "  cvt.u64.u32 %d0, %w0;\n");
  g_string_append (ptx, "  st.global.u64 [%q3], %d0;\n  ret;\n}\n");
  return g_string_free (ptx, FALSE);
}

static guint64
narrow (guint64 value, char type)
{
  return type == 'h' ? (guint16) value : type == 'w' ? (guint32) value : value;
}

static bool
is_nan_64 (guint64 bits)
{
  return (bits & 0x7fffffffffffffff) > 0x7ff0000000000000;
}

static void
run_vectors (const char *host, const char *opcode, const char *types, const char *last,
             const guint64 *in, guint64 *out)
{
  g_autofree char *settings = g_strdup_printf ("target=sm_90;host=%s", host);
  g_autofree char *ptx = make_ptx (opcode, types, last);
  g_autoptr (Gpu) gpu = gpu_open (settings);
  CUdeviceptr din = gpu_put (gpu, in, VECTOR_COUNT * 24, "in");
  CUdeviceptr dout = gpu_put (gpu, NULL, VECTOR_COUNT * 8, "out");
  CUfunction f = gpu_load (gpu, ptx, "k");
  g_assert_cmpint (gpu_run (gpu, f, VECTOR_COUNT / 256, 1, 256, 1, 0, &din, &dout, NULL), ==,
                   CUDA_SUCCESS);
  gpu_get (gpu, out, dout, VECTOR_COUNT * 8);
  gpu->assayVgpuSet ("host", "best");
}

static guint64 *
draw_operands (const char *opcode, const char *types, Operands operands)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (g_str_hash (opcode));
  guint64 *in = g_new0 (guint64, VECTOR_COUNT * 3);
  for (size_t i = 0; i < VECTOR_COUNT; i++)
    for (size_t j = 0; j < strlen (types) - 1; j++)
      in[3 * i + j] = narrow (draw_operand (rand, operands, types[j + 1]), types[j + 1]);
  return in;
}

static void
compare (const char *opcode, const char *types, const char *last, Operands operands,
         const guint64 *in, const guint64 *want)
{
  static const char *const hosts[] = {"best", "avx2", "plain"};
  g_autofree guint64 *out = g_new0 (guint64, VECTOR_COUNT);
  for (size_t h = 0; h < G_N_ELEMENTS (hosts); h++)
    {
      run_vectors (hosts[h], opcode, types, last, in, out);
      for (size_t i = 0; i < VECTOR_COUNT; i++)
        {
          if (operands == OPERANDS_F64 && types[0] == 'd' && is_nan_64 (out[i])
              && want[i] == ANY_NAN)
            continue;
          if (out[i] != narrow (want[i], types[0]))
            g_error ("%s (%s) of %016" G_GINT64_MODIFIER "x %016" G_GINT64_MODIFIER
                     "x %016" G_GINT64_MODIFIER "x gives %016" G_GINT64_MODIFIER
                     "x, not %016" G_GINT64_MODIFIER "x",
                     opcode, hosts[h], in[3 * i], in[3 * i + 1], in[3 * i + 2], out[i],
                     narrow (want[i], types[0]));
        }
    }
}

static void
check (const char *opcode, const char *types, const char *last, Operands operands,
       Reference reference, const void *data)
{
  g_autofree guint64 *in = draw_operands (opcode, types, operands);
  g_autofree guint64 *want = g_new0 (guint64, VECTOR_COUNT);
  for (size_t i = 0; i < VECTOR_COUNT; i++)
    want[i] = reference (in[3 * i], in[3 * i + 1], in[3 * i + 2], data);
  compare (opcode, types, last, operands, in, want);
}

void
check_vectors_exactly (const char *opcode, const char *types, Operands operands)
{
  g_autofree char *script =
      g_build_filename (g_getenv ("ASSAY_SOURCE_DIR"), "tests", "vgpu", "exact.py", NULL);
  g_autofree guint64 *in = draw_operands (opcode, types, operands);
  g_autofree guint64 *want = g_new0 (guint64, VECTOR_COUNT);
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocess) python =
      g_subprocess_new (G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE, &error,
                        "python3", script, NULL);
  if (!python)
    {
      g_test_skip ("no Python");
      return;
    }
  GString *lines = g_string_new (NULL);
  for (size_t i = 0; i < VECTOR_COUNT; i++)
    g_string_append_printf (
        lines, "%s %" G_GINT64_MODIFIER "x %" G_GINT64_MODIFIER "x %" G_GINT64_MODIFIER "x\n",
        opcode, in[3 * i], in[3 * i + 1], in[3 * i + 2]);
  g_autofree char *questions = g_string_free (lines, FALSE), *answers = NULL;
  g_assert_true (g_subprocess_communicate_utf8 (python, questions, NULL, &answers, NULL, &error));
  g_assert_true (g_subprocess_get_successful (python));
  g_auto (GStrv) results = g_strsplit (answers, "\n", -1);
  g_assert_cmpuint (g_strv_length (results), ==, VECTOR_COUNT + 1);
  for (size_t i = 0; i < VECTOR_COUNT; i++)
    want[i] = g_ascii_strtoull (results[i], NULL, 16);
  compare (opcode, types, "", operands, in, want);
}

void
check_vectors (const char *opcode, const char *types, Operands operands, Reference reference,
               const void *data)
{
  check (opcode, types, "", operands, reference, data);
}

void
check_vectors_with (const char *opcode, const char *types, int last, Operands operands,
                    Reference reference, const void *data)
{
  g_autofree char *text = g_strdup_printf (", %d", last);
  check (opcode, types, text, operands, reference, data);
}
