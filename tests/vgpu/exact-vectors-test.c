/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions against exact numbers in Python. */
#include "tests/vgpu/vector-harness.h"

#include <string.h>

static const struct
{
  const char *opcode, *types;
  Operands operands;
} vectors[] = {
    {"min.xorsign.abs.f32", "www", OPERANDS_F32},
    {"max.ftz.NaN.xorsign.abs.f32", "www", OPERANDS_F32},
    {"min.ftz.xorsign.abs.f32", "www", OPERANDS_F32},
    {"max.NaN.xorsign.abs.f16", "hhh", OPERANDS_F16},
    {"min.xorsign.abs.f16x2", "www", OPERANDS_F16},
    {"min.NaN.xorsign.abs.bf16", "hhh", OPERANDS_BF16},
    {"max.xorsign.abs.bf16x2", "www", OPERANDS_BF16},
    {"add.rn.f32x2", "ddd", OPERANDS_F32},
    {"sub.rn.ftz.f32x2", "ddd", OPERANDS_F32},
    {"mul.rn.f32x2", "ddd", OPERANDS_F32},
    {"fma.rn.f32x2", "dddd", OPERANDS_F32},
    {"fma.rn.ftz.f32x2", "dddd", OPERANDS_F32},
    {"prmt.b32.f4e", "wwww", OPERANDS_INTEGER},
    {"prmt.b32.b4e", "wwww", OPERANDS_INTEGER},
    {"prmt.b32.rc8", "wwww", OPERANDS_INTEGER},
    {"prmt.b32.ecl", "wwww", OPERANDS_INTEGER},
    {"prmt.b32.ecr", "wwww", OPERANDS_INTEGER},
    {"vabsdiff4.u32.u32.u32.add", "wwww", OPERANDS_INTEGER},
    {"vabsdiff2.s32.s32.u32", "wwww", OPERANDS_INTEGER},
    {"vadd4.s32.s32.s32.sat", "wwww", OPERANDS_INTEGER},
    {"vadd2.u32.u32.u32.sat", "wwww", OPERANDS_INTEGER},
    {"vsub4.u32.u32.u32", "wwww", OPERANDS_INTEGER},
    {"vsub2.s32.u32.s32.add", "wwww", OPERANDS_INTEGER},
    {"vavrg4.s32.s32.s32", "wwww", OPERANDS_INTEGER},
    {"vavrg2.u32.u32.u32", "wwww", OPERANDS_INTEGER},
    {"vmin4.s32.s32.u32", "wwww", OPERANDS_INTEGER},
    {"vmax2.u32.s32.u32.sat", "wwww", OPERANDS_INTEGER},
    {"prmt.b32.rc16", "wwww", OPERANDS_INTEGER},
};

static void
test_vector (gconstpointer data)
{
  gsize i = GPOINTER_TO_SIZE (data);
  check_vectors_exactly (vectors[i].opcode, vectors[i].types, vectors[i].operands);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (gsize i = 0; i < G_N_ELEMENTS (vectors); i++)
    {
      g_autofree char *path = g_strdup_printf ("/vgpu/exact/%s", vectors[i].opcode);
      g_test_add_data_func (path, GSIZE_TO_POINTER (i), test_vector);
    }
  return g_test_run ();
}
