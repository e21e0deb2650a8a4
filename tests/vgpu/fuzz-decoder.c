/* SPDX-License-Identifier: Apache-2.0 */
/* Feeds the reader of PTX with kernels that are nearly right: lines of every family, put together at random and
 * then damaged. Whatever it is given it must answer with a kernel or a sentence, and touch no memory that
 * is not its own.
 *
 *   fuzz-decoder [COUNT [SEED [FILE.ptx…]]]
 */
#include "engine/vgpu/exec/run.h"
#include "engine/vgpu/ptx/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES ((size_t) 1 << 20)

static const char head[] =
    ".version 8.6\n.target sm_90a\n.address_size 64\n"
    ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
    ".global .align 8 .b8 g[16] = {1, 2, 3};\n.extern .shared .align 16 .b8 dyn[];\n"
    ".func (.param .b32 out) f (.param .b32 in)\n{\n.reg .b32 %r<4>;\nld.param.b32 %r1, [in];\n"
    "add.s32 %r1, %r1, 1;\nst.param.b32 [out], %r1;\nret;\n}\n"
    ".visible .entry k (.param .u64 p, .param .u32 n)\n.maxntid 128, 1, 1\n{\n"
    ".reg .pred %p<4>;\n.reg .b16 %h<8>;\n.reg .b32 %r<24>;\n.reg .f32 %f<24>;\n"
    ".reg .b64 %d<8>;\n.reg .f64 %e<8>;\n.shared .align 16 .b8 s[256];\n.local .align 8 .b8 "
    "l[64];\n";

static const char *const lines[] = {
    "ld.param.u64 %d1, [p];",
    "cvta.to.global.u64 %d2, %d1;",
    "cvta.shared.u64 %d2, %d1;",
    "mov.u32 %r1, %tid.x;",
    "mov.u32 %r2, %cluster_ctarank;",
    "mov.b64 {%r1, %r2}, %d1;",
    "mov.b64 %d1, {%r1, %r2};",
    "mov.u64 %d3, g;",
    "mov.u32 %r3, s;",
    "mov.u64 %d4, f;",
    "mad.lo.s32 %r4, %r1, %r2, 7;",
    "add.cc.u32 %r1, %r2, %r3;",
    "addc.u32 %r1, %r2, 0;",
    "lop3.b32 %r5, %r1, %r2, %r3, 0xe8;",
    "prmt.b32 %r5, %r1, %r2, 0x3210;",
    "shf.l.wrap.b32 %r5, %r1, %r2, 3;",
    "bfe.u32 %r5, %r1, 3, 4;",
    "bfi.b32 %r5, %r1, %r2, 3, 4;",
    "dp4a.u32.s32 %r5, %r1, %r2, %r3;",
    "fma.rn.ftz.f32 %f1, %f2, %f3, 0f3F800000;",
    "fma.rn.f64 %e1, %e2, %e3, 0d3FF0000000000000;",
    "div.full.f32 %f1, %f2, %f3;",
    "ex2.approx.ftz.f32 %f1, %f2;",
    "min.NaN.f32 %f1, %f2, %f3;",
    "fma.rn.relu.bf16x2 %r1, %r2, %r3, %r4;",
    "cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2;",
    "cvt.rzi.s64.f64 %d1, %e1;",
    "cvt.rna.tf32.f32 %r1, %f1;",
    "setp.lt.and.s32 %p1|%p2, %r1, %r2, %p3;",
    "set.eq.u32.f32 %r1, %f1, %f2;",
    "selp.b32 %r1, %r2, %r3, !%p1;",
    "slct.s32.f32 %r1, %r2, %r3, %f1;",
    "testp.finite.f32 %p1, %f1;",
    "isspacep.shared %p1, %d1;",
    "and.pred %p1, %p2, !%p3;",
    "ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%d1+16];",
    "ld.shared.v2.b64 {%d1, %d2}, [s+16];",
    "ld.local.u8 %h1, [l+3];",
    "ld.acquire.gpu.global.u32 %r1, [%d1];",
    "st.global.v2.b32 [%d1], {%r1, %r2};",
    "st.shared::cluster.b32 [%r1], %r2;",
    "st.local.b64 [l+8], %d1;",
    "atom.global.add.f32 %f1, [%d1], %f2;",
    "atom.shared.cas.b32 %r1, [s], %r2, %r3;",
    "red.global.max.s32 [%d1], %r1;",
    "bar.sync 0;",
    "barrier.cta.arrive 1, 64;",
    "bar.red.popc.u32 %r1, 0, %p1;",
    "barrier.cluster.arrive.release.aligned;",
    "barrier.cluster.wait.acquire.aligned;",
    "shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, -1;",
    "vote.sync.ballot.b32 %r1, %p1, -1;",
    "match.all.sync.b64 %r1|%p1, %d1, -1;",
    "redux.sync.add.s32 %r1, %r2, -1;",
    "elect.sync %r1|%p1, -1;",
    "activemask.b32 %r1;",
    "cp.async.cg.shared.global [s], [%d1], 16, %r1;",
    "cp.async.commit_group;",
    "cp.async.wait_group 1;",
    "cp.async.mbarrier.arrive.noinc.shared.b64 [s+8];",
    "mbarrier.init.shared.b64 [s], 32;",
    "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %d1, [s], %r1;",
    "mbarrier.try_wait.parity.shared::cta.b64 %p1, [s], %r1, 1000;",
    "mbarrier.pending_count.b64 %r1, %d1;",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%d1], 128, [s+128];",
    "cp.async.bulk.global.shared::cta.bulk_group [%d1], [s], %r1;",
    "cp.async.bulk.wait_group.read 0;",
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [s], [%d1, "
    "{%r1, "
    "%r2}], [s+128];",
    "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%d1, {%r1}], [s];",
    "mapa.shared::cluster.u32 %r1, %r2, %r3;",
    "getctarank.u64 %r1, %d1;",
    "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r1, %r2, %r3, %r4}, [%r5];",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, "
    "{%r5, %r6}, {%f1, %f2, %f3, %f4};",
    "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, "
    "[s], 16;",
    "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, "
    "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, "
    "{%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8};",
    "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}|%p1, [%d1, {%f1, %f2}];",
    "tex.a2d.v4.u32.f32 {%r1, %r2, %r3, %r4}, [%d1, %d2, {%r1, %f1, %f2, %f2}];",
    "tex.grad.3d.v4.s32.f32 {%r1, _, _, _}, [%d1, {%f1, %f2, %f3, %f3}], {%f1, %f2, %f3, %f3}, "
    "{%f1, %f2, %f3, %f3};",
    "tex.level.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%d1, {%r1}], %r2;",
    "tld4.b.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f1, %f2}];",
    "txq.width.b32 %r1, [%d1];",
    "suld.b.2d.v2.b32.clamp {%r1, %r2}, [%d1, {%r1, %r2}];",
    "sust.b.a1d.b8.zero [%d1, {%r1, %r2}], {%h1};",
    "sured.b.add.1d.u64.trap [%d1, {%r1}], %d2;",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%e1, %e2}, {%e1}, {%e2}, {%e1, %e2};",
    "mma.sync.aligned.m16n8k64.row.col.satfinite.s32.s4.u4.s32 {%r1, %r2, %r3, %r4}, {%r1, %r2, "
    "%r3, "
    "%r4}, {%r1, %r2}, {%r1, %r2, %r3, %r4};",
    "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc {%r1, %r2, %r3, %r4}, {%r1, %r2, "
    "%r3, "
    "%r4}, {%r1, %r2}, {%r1, %r2, %r3, %r4};",
    "wmma.load.c.sync.aligned.row.m8n8k4.f64 {%e1, %e2}, [%d1], %r1;",
    "wmma.load.b.sync.aligned.col.m8n8k32.s4 {%r1}, [%d1], %r2;",
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %d1, %d2, %p1, 1, -1, "
    "0, 1;",
    "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.u8 {%r1, %r2, %r3, %r4}, {%r1, %r2, %r3, %r4}, "
    "%d2, 0;",
    "wgmma.wait_group.sync.aligned 1;",
    "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [s], {%r1, %r2}, [s+128];",
    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [s], %r1, "
    "[s+128];",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%d1], [s], 64;",
    "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%d1, {%r1, %r2}], [s];",
    "red.global.add.v4.f32 [%d1], {%f1, %f2, %f3, %f4};",
    "atom.global.add.noftz.v2.f16x2 {%r1, %r2}, [%d1], {%r3, %r4};",
    "lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 0x80, %p2;",
    "movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;",
    "vabsdiff4.u32.s32.u32.add %r1, %r2, %r3, %r4;",
    "mov.u32 %r1, %reserved_smem_offset_1;",
    "@%p1 bra L1;",
    "bra.uni L2;",
    "L1:",
    "L2:",
    "T: .branchtargets L1, L2;",
    "brx.idx %r1, T;",
    "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call.uni (b), f, (a); ld.param.b32 "
    "%r1, "
    "[b]; }",
    "P: .callprototype (.param .b32 _) _ (.param .b32 _);",
    "{ .param .b32 a; .param .b32 b; call (b), %d4, (a), P; }",
    "{ .reg .b32 %r<2>; .reg .pred q; mov.b32 %r1, 1; }",
    "fence.proxy.async;",
    "membar.gl;",
    "nanosleep.u32 100;",
    "setmaxnreg.inc.sync.aligned.u32 232;",
    "griddepcontrol.wait;",
    "createpolicy.fractional.L2::evict_first.b64 %d1, 1.0;",
    "@!%p2 trap;",
    "exit;",
    ".loc 1 10 3",
    ".pragma \"nounroll\";",
};

static const char *const words[] = {
    ".f32",
    ".f16",
    ".bf16x2",
    ".b8",
    ".u64",
    ".pred",
    ".v4",
    ".v2",
    ".rn",
    ".rz",
    ".sat",
    ".ftz",
    ".relu",
    ".shared",
    ".local",
    ".sync",
    ".noinc",
    ".cc",
    ".wide",
    ".x2",
    "%p1",
    "%h1",
    "%r1",
    "%d1",
    "%f1",
    "%e1",
    "_",
    "{",
    "}",
    "[",
    "]",
    ",",
    ";",
    "-1",
    "0x7fffffffffffffff",
    "0f7F800000",
    "s+255",
    "dyn",
    "g",
    "l",
    "f",
    "%tid.x",
    "!%p1",
    "%r1|%p1",
    "4096",
    "1",
    "@%p1",
    ":",
    "mma",
    "wmma",
    "cvt",
    "cp.async.bulk",
    "wgmma",
    "tex",
    "suld",
    ".f64",
    ".v8",
    "m64n256k16",
    "mbarrier",
    "ld",
    "st",
    "atom",
    "mov",
};

static uint64_t state;

static uint32_t
draw (uint32_t below)
{
  /* xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators", 2016. */
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return (uint32_t) ((state * 0x2545f4914f6cdd1du) >> 33) % below;
}

typedef struct
{
  char *text;
  size_t length;
} Text;

static void
put (Text *text, size_t at, size_t drop, const char *with, size_t count)
{
  if (text->length - drop + count >= MOST_BYTES)
    return;
  memmove (text->text + at + count, text->text + at + drop, text->length - at - drop);
  memmove (text->text + at, with, count);
  text->length += count - drop;
}

static void
append (Text *text, const char *with)
{
  put (text, text->length, 0, with, strlen (with));
  put (text, text->length, 0, "\n", 1);
}

/* Start of a word near a random place, and how long the word is. */
static size_t
pick_word (const Text *text, size_t *count)
{
  static const char ends[] = " \n\t.,;[]{}()+";
  size_t at = draw ((uint32_t) text->length);
  while (at > 0 && strchr (ends, text->text[at - 1]) == NULL)
    at--;
  *count = 0;
  while (at + *count < text->length && strchr (ends, text->text[at + *count]) == NULL)
    ++*count;
  return at;
}

static void
damage (Text *text)
{
  char copy[64];
  size_t count, other, at = pick_word (text, &count);
  const char *word = words[draw (sizeof words / sizeof words[0])];
  switch (draw (6))
    {
    case 0:
      put (text, at, count, word, strlen (word));
      break;
    case 1:
      put (text, at, 0, word, strlen (word));
      break;
    case 2:
      put (text, at, count, "", 0);
      break;
    case 3:
      other = pick_word (text, &count);
      count = count < sizeof copy ? count : sizeof copy;
      memcpy (copy, text->text + other, count);
      put (text, at, 0, copy, count);
      break;
    case 4:
      text->text[draw ((uint32_t) text->length)] ^= (char) (1 << draw (7));
      break;
    default:
      text->text[draw ((uint32_t) text->length)] = "0123456789%.;,[]{}"[draw (18)];
    }
}

static bool
build_all (const Text *text)
{
  VgpuSource source;
  char error[VGPU_ERROR_BYTES] = "";
  bool good = vgpu_source_parse (&source, text->text, text->length, error);
  if (good != (error[0] == '\0'))
    abort ();
  for (VgpuVariable *v = source.variables; good && v != NULL; v = v->next)
    v->place = 4096;
  for (VgpuFunction *f = source.functions; good && f != NULL; f = f->next)
    if (f->is_entry && f->has_body)
      {
        error[0] = '\0';
        VgpuKernel *kernel = vgpu_kernel_build (&source, f, error);
        if (kernel == NULL && error[0] == '\0')
          abort ();
        good = kernel != NULL;
        vgpu_kernel_free (kernel);
      }
  vgpu_source_clear (&source);
  return good;
}

static bool
read_file (const char *path, Text *text)
{
  FILE *file = fopen (path, "rb");
  if (file == NULL)
    return false;
  text->length = fread (text->text, 1, MOST_BYTES - 1, file);
  fclose (file);
  return text->length > 0;
}

int
main (int argc, char **argv)
{
  uint64_t count = argc > 1 ? strtoull (argv[1], NULL, 10) : 20000;
  uint64_t accepted = 0;
  Text text = {malloc (MOST_BYTES), 0};
  state = (argc > 2 ? strtoull (argv[2], NULL, 10) : 1) * 0x9e3779b97f4a7c15u | 1;
  vgpu_choose_handlers (VGPU_WIDEST);
  for (uint64_t i = 0; i < count; i++)
    {
      text.length = 0;
      if (argc > 3)
        {
          if (!read_file (argv[3 + draw ((uint32_t) argc - 3)], &text))
            return 2;
        }
      else
        {
          append (&text, head);
          for (uint32_t left = 1 + draw (12); left > 0; left--)
            append (&text, lines[draw (sizeof lines / sizeof lines[0])]);
          append (&text, "ret;\n}");
        }
      for (uint32_t left = draw (5); left > 0; left--)
        damage (&text);
      accepted += build_all (&text);
    }
  free (text.text);
  printf ("%llu kernels, %llu of them accepted\n", (unsigned long long) count,
          (unsigned long long) accepted);
  return accepted > 0 ? 0 : 1;
}
