/* SPDX-License-Identifier: Apache-2.0 */
/* PTX that NVRTC does not write: other compilers' habits, and damage. */
#include "tests/vgpu/harness.h"

#include "engine/vgpu/exec/run.h"
#include "engine/vgpu/ptx/builder.h"

#include <string.h>

/* As LLVM's back end writes it for Triton: untyped registers, a preset before each predicated load,
 * braces around single elements, pointers with promises, .loc between, debug sections. */
static const char llvm_ptx[] =
    "//\n// Generated\n//\n\n.version 8.4\n.target sm_80\n.address_size 64\n\n"
    ".extern .shared .align 16 .b8 global_smem[];\n"
    ".visible .entry scale(\n"
    "\t.param .u64 .ptr .global .align 1 scale_param_0,\n"
    "\t.param .u64 .ptr .global .align 1 scale_param_1,\n\t.param .u32 scale_param_2\n)\n"
    ".reqntid 64, 1, 1\n{\n"
    "\t.reg .pred \t%p<4>;\n\t.reg .b16 %rs<9>;\n\t.reg .b32 \t%r<30>;\n\t.reg .b64 \t%rd<6>;\n"
    "$L__func_begin0:\n"
    "\tld.param.b64 \t%rd1, [scale_param_0];\n\tld.param.b64 \t%rd2, [scale_param_1];\n"
    "\tld.param.b32 \t%r1, [scale_param_2];\n$L__tmp0:\n\t.loc\t1 24 0\n"
    "\t// begin inline asm\n\tmov.u32 %r2, %ctaid.x;\n\t// end inline asm\n"
    "\tmov.u32 \t%r3, %tid.x;\n\tshl.b32 \t%r4, %r2, 8;\n\tshl.b32 \t%r5, %r3, 2;\n"
    "\tor.b32 \t%r6, %r4, %r5;\n\tsetp.lt.s32 \t%p1, %r6, %r1;\n"
    "\tmul.wide.s32 \t%rd3, %r6, 4;\n\tadd.s64 \t%rd4, %rd1, %rd3;\n"
    "\tmov.u32 %r7, 0x0;\n\tmov.u32 %r8, 0x0;\n\tmov.u32 %r9, 0x0;\n\tmov.u32 %r10, 0x0;\n"
    "\t@%p1 ld.global.v4.b32 { %r7, %r8, %r9, %r10 }, [ %rd4 + 0 ];\n"
    "\tmov.u32 %r20, 0x0;\n\t@%p1 ld.global.b32 { %r20 }, [ %rd1 + 0 ];\n"
    "\t.loc\t1 25 10\n"
    "\tfma.rn.f32 \t%r11, %r7, 0f40000000, %r20;\n\tfma.rn.f32 \t%r12, %r8, 0f40000000, %r20;\n"
    "\tfma.rn.f32 \t%r13, %r9, 0f40000000, %r20;\n\tfma.rn.f32 \t%r14, %r10, 0f40000000, %r20;\n"
    "\tmov.b32 \t%r15, global_smem;\n\tadd.s32 \t%r16, %r15, %r5;\n"
    "\tst.shared.b32 \t[%r16], %r11;\n\tbar.sync \t0;\n\tld.shared.b32 \t%r17, [%r16];\n"
    "\tadd.s64 \t%rd5, %rd2, %rd3;\n"
    "\t@%p1 st.global.v4.b32 [ %rd5 + 0 ], { %r17, %r12, %r13, %r14 };\n"
    "\tret;\n$L__tmp1:\n$L__func_end0:\n\n}\n"
    "\t.file\t1 \"/tmp/scale.py\"\n\t.section\t.debug_abbrev\n\t{\n.b8 1\n.b8 17\n.b8 0\n\t}\n"
    "\t.section\t.debug_macinfo\t{\t}\n";

static void
test_llvm_style (void)
{
  g_autoptr (Gpu) gpu = gpu_open ("checks=all");
  enum
  {
    N = 1000
  };
  int n = N;
  float in[N], out[N];
  for (int i = 0; i < N; i++)
    in[i] = (float) (i + 1);
  CUdeviceptr din = gpu_put (gpu, in, sizeof in, "in"), dout = gpu_put (gpu, NULL, sizeof out, "o");
  CUfunction f = gpu_load (gpu, llvm_ptx, "scale");
  g_assert_cmpint (gpu_run (gpu, f, 4, 1, 64, 1, 1024, &din, &dout, &n, NULL), ==, CUDA_SUCCESS);
  gpu_get (gpu, out, dout, sizeof out);
  for (int i = 0; i < N; i++)
    g_assert_cmpfloat (out[i], ==, 2 * in[i] + 1);
  g_assert_cmpint (gpu_run (gpu, f, 4, 1, 32, 1, 1024, &din, &dout, &n, NULL), ==,
                   CUDA_ERROR_INVALID_VALUE);
}

/* A jump table, and scopes that repeat a label. */
static void
test_tables_and_scopes (void)
{
  static const char ptx[] =
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 o)\n{\n"
      ".reg .b32 %r<9>; .reg .b64 %d<4>; .reg .pred %p<3>;\n"
      "ld.param.u64 %d0, [o]; mov.u32 %r0, %tid.x; and.b32 %r1, %r0, 3;\n"
      "mov.u32 %r2, 0;\n"
      "ts: .branchtargets a, b, c, d;\n"
      "brx.idx %r1, ts;\n"
      "a: mov.u32 %r2, 10; bra.uni e;\n b: mov.u32 %r2, 20; bra.uni e;\n"
      "c: mov.u32 %r2, 30; bra.uni e;\n d: mov.u32 %r2, 40;\n e:\n"
      "{ .reg .b32 %x; mov.u32 %x, 0; again: add.u32 %x, %x, 1; setp.lt.u32 %p0, %x, 5;\n"
      "@%p0 bra again; add.u32 %r2, %r2, %x; }\n"
      "{ .reg .b32 %x; mov.u32 %x, 100; again: add.u32 %x, %x, 1; setp.lt.u32 %p0, %x, 105;\n"
      "@%p0 bra again; add.u32 %r2, %r2, %x; }\n"
      "mul.wide.u32 %d1, %r0, 4; add.s64 %d2, %d0, %d1; st.global.u32 [%d2], %r2; ret;\n}\n";
  g_autoptr (Gpu) gpu = gpu_open ("checks=all");
  int out[32];
  CUdeviceptr dout = gpu_put (gpu, NULL, sizeof out, "out");
  CUfunction f = gpu_load (gpu, ptx, "k");
  g_assert_cmpint (gpu_run (gpu, f, 1, 1, 32, 1, 0, &dout, NULL), ==, CUDA_SUCCESS);
  gpu_get (gpu, out, dout, sizeof out);
  for (int i = 0; i < 32; i++)
    g_assert_cmpint (out[i], ==, 10 * (i % 4 + 1) + 110);
}

/* Code from a header is shown on the line that used it, with the header's line beside. */
static void
test_inlined_places (void)
{
  static const char ptx[] =
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n"
      ".loc 1 5 1\n.loc 2 50 3, function_name $L, inlined_at 2 20 1\n"
      ".loc 2 20 1, function_name $L, inlined_at 1 7 5\n"
      ".loc 1 3 2, function_name $L, inlined_at 1 9 5\nret;\n}\n"
      ".file 1 \"/tmp/k.cu\"\n.file 2 \"/usr/include/h.h\"\n";
  static const struct
  {
    int line, inner_line;
  } want[] = {{5, 0}, {7, 50}, {7, 20}, {3, 0}};
  VgpuSource source;
  char error[VGPU_ERROR_BYTES];
  g_assert_true (vgpu_source_parse (&source, ptx, strlen (ptx), error));
  g_assert_cmpuint (source.location_count, ==, G_N_ELEMENTS (want));
  for (guint i = 0; i < G_N_ELEMENTS (want); i++)
    {
      VgpuPlace place = vgpu_source_place (&source, i);
      g_assert_cmpstr (place.file, ==, "/tmp/k.cu");
      g_assert_cmpint (place.line, ==, want[i].line);
      g_assert_cmpint (place.inner_line, ==, want[i].inner_line);
      g_assert_cmpstr (place.inner_file, ==, want[i].inner_line > 0 ? "/usr/include/h.h" : NULL);
    }
  g_assert_null (vgpu_source_place (&source, VGPU_NONE).file);
  vgpu_source_clear (&source);
}

/* Whatever is done to PTX, it is executed or refused with a sentence: nothing else happens. */

static void
damage (GRand *rand, GString *text, int most)
{
  static const char *const pieces[] = {";",
                                       "{",
                                       "}",
                                       ",",
                                       "[",
                                       "]",
                                       "%r1",
                                       "%p1",
                                       "0x7fffffff",
                                       "-1",
                                       ".b64",
                                       ".reg .b32 %r<9>;",
                                       "bra $L__BB0_2;",
                                       "@%p1 ",
                                       "ret;",
                                       ".v4",
                                       "\n",
                                       "%tid.x",
                                       "_",
                                       "(",
                                       ")",
                                       "\"",
                                       "/*"};
  for (int count = g_rand_int_range (rand, 1, most + 1); count > 0; count--)
    {
      gssize at = g_rand_int_range (rand, 0, (gint32) text->len);
      switch (g_rand_int_range (rand, 0, 5))
        {
        case 0:
          {
            gssize length = g_rand_int_range (rand, 1, 12);
            g_string_erase (text, at, MIN ((gssize) text->len - at, length));
          }
          break;
        case 1:
          text->str[at] = (char) g_rand_int_range (rand, 1, 256);
          break;
        case 2:
          g_string_insert (text, at, pieces[g_rand_int_range (rand, 0, G_N_ELEMENTS (pieces))]);
          break;
        case 3:
          g_string_truncate (text, (gsize) at);
          break;
        default:
          {
            gssize from = g_rand_int_range (rand, 0, (gint32) text->len);
            gssize length = MIN ((gssize) text->len - from, 30);
            g_autofree char *copy = g_strndup (text->str + from, (gsize) length);
            g_string_insert (text, at, copy);
          }
        }
      if (text->len == 0)
        g_string_append_c (text, ' ');
    }
}

static void
build_all (const char *text, size_t length)
{
  VgpuSource source;
  char error[VGPU_ERROR_BYTES] = "";
  bool parsed = vgpu_source_parse (&source, text, length, error);
  g_assert_true (parsed == (error[0] == '\0'));
  for (VgpuVariable *v = source.variables; parsed && v != NULL; v = v->next)
    v->place = 4096;
  for (VgpuFunction *f = source.functions; parsed && f != NULL; f = f->next)
    if (f->is_entry && f->has_body)
      {
        VgpuKernel *kernel = vgpu_kernel_build (&source, f, error);
        g_assert_true (kernel != NULL || error[0] != '\0');
        vgpu_kernel_free (kernel);
        error[0] = '\0';
      }
  vgpu_source_clear (&source);
}

static void
fuzz (const char *ptx, unsigned seed, int rounds)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  vgpu_choose_handlers (VGPU_WIDEST);
  build_all (ptx, strlen (ptx));
  for (int i = 0; i < rounds; i++)
    {
      GString *text = g_string_new (ptx);
      damage (rand, text, 4);
      build_all (text->str, text->len);
      g_string_free (text, TRUE);
    }
}

static void
test_damaged (void)
{
  fuzz (llvm_ptx, 1, 3000);
}

static void
test_damaged_kernels (void)
{
  static const char *const files[] = {"basic.cu", "features.cu", "driver.cu"};
  for (size_t i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *ptx = compile_kernels (files[i], NULL);
      if (ptx == NULL)
        return;
      fuzz (ptx, (unsigned) i, 500);
    }
}

/* Damaged kernels that are accepted are also run: memory faults and endless loops are theirs to
 * make and ours to survive. */
static void
test_damaged_runs (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (9);
  int accepted = 0;
  for (int i = 0; i < 1500; i++)
    {
      g_autoptr (Gpu) gpu = gpu_open ("checks=all;max_instructions=20000;threads=1");
      CUmodule module;
      CUfunction f;
      int n = 200;
      CUdeviceptr p = gpu_put (gpu, NULL, 1024, "p");
      void *parameters[8] = {&p, &p, &n, &n, &n, &n, &n, &n};
      GString *text = g_string_new (llvm_ptx);
      damage (rand, text, 1);
      if (gpu->driver.module_load_data (&module, text->str) == CUDA_SUCCESS
          && gpu->driver.module_get_function (&f, module, "scale") == CUDA_SUCCESS)
        {
          accepted++;
          gpu->driver.launch_kernel (f, 2, 1, 1, 64, 1, 1, 512, NULL, parameters, NULL);
        }
      g_string_free (text, TRUE);
    }
  g_test_message ("%d damaged kernels were run", accepted);
  g_assert_cmpint (accepted, >, 50);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/vgpu/ptx/llvm-style", test_llvm_style);
  g_test_add_func ("/vgpu/ptx/tables-and-scopes", test_tables_and_scopes);
  g_test_add_func ("/vgpu/ptx/inlined-places", test_inlined_places);
  g_test_add_func ("/vgpu/ptx/damaged", test_damaged);
  g_test_add_func ("/vgpu/ptx/damaged-kernels", test_damaged_kernels);
  g_test_add_func ("/vgpu/ptx/damaged-runs", test_damaged_runs);
  return g_test_run ();
}
