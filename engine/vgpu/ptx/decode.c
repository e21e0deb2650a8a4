/* SPDX-License-Identifier: Apache-2.0 */
/* Statements to instructions: the families that are not a row of the operation table. */
#include "engine/vgpu/ptx/builder.h"

#include <string.h>

static bool
need (VgpuBuilder *builder, uint32_t count)
{
  return builder->statement->operand_count >= count
         || vgpu_builder_fail (builder, "%s with too few operands", builder->statement->opcode);
}

static bool
decode_nothing (VgpuBuilder *builder, const VgpuStatement *statement)
{
  vgpu_emit (builder, VGPU_OP_NOTHING);
  return true;
}

static bool
decode_fence (VgpuBuilder *builder, const VgpuStatement *statement)
{
  /* imm: what asynchronous copies read may be what was stored. */
  vgpu_emit (builder, VGPU_OP_FENCE)->imm =
      strncmp (statement->opcode, "fence.proxy.async", 17) == 0;
  return true;
}

/* A guard on what ends or moves the whole warp becomes a branch around it. */
static size_t
begin_guarded (VgpuBuilder *builder)
{
  if (builder->guard == VGPU_NO_ROW)
    return SIZE_MAX;
  int32_t guard = builder->guard;
  builder->guard = VGPU_NO_ROW;
  VgpuIns *ins = vgpu_emit (builder, VGPU_OP_BRANCH);
  ins->guard = guard;
  if (!builder->guard_negated)
    ins->flags |= VGPU_INS_GUARD_NEGATED;
  return builder->kernel->code_count - 1;
}

static void
end_guarded (VgpuBuilder *builder, size_t around)
{
  if (around != SIZE_MAX && around < builder->kernel->code_count)
    builder->kernel->code[around].target = (uint32_t) builder->kernel->code_count;
}

static void
add_jump (VgpuBuilder *builder, const char *label, uint32_t scope)
{
  VgpuFrame *frame = builder->frame;
  frame->jumps = vgpu_arena_grow (&builder->arena, frame->jumps, frame->jump_count,
                                  &frame->jump_capacity, sizeof *frame->jumps);
  frame->jumps[frame->jump_count++] =
      (VgpuLabel) {label, scope, (uint32_t) builder->kernel->code_count - 1};
}

static bool
decode_branch (VgpuBuilder *builder, const VgpuStatement *statement)
{
  if (!need (builder, 1))
    return false;
  if (statement->operands[0].kind != VGPU_OPERAND_SYMBOL)
    return vgpu_builder_fail (builder, "a label expected");
  if (builder->guard == VGPU_NO_ROW)
    vgpu_emit (builder, VGPU_OP_JUMP);
  else
    {
      VgpuIns *ins = vgpu_emit (builder, VGPU_OP_BRANCH);
      ins->is_guarded = 0;
      if (vgpu_opcode_has (statement->opcode, "uni"))
        ins->flags |= VGPU_INS_UNIFORM;
    }
  add_jump (builder, statement->operands[0].name, statement->scope);
  return true;
}

/* brx.idx index, table: a comparison and a branch for each entry. */
static bool
decode_indexed_branch (VgpuBuilder *builder, const VgpuStatement *statement)
{
  if (!need (builder, 2) || statement->operands[1].kind != VGPU_OPERAND_SYMBOL)
    return vgpu_builder_fail (builder, "brx.idx needs an index and a table");
  const VgpuFunction *function = builder->frame->function;
  const VgpuOperand *table = NULL;
  for (size_t i = 0; i < function->statement_count; i++)
    if (function->statements[i].kind == VGPU_STATEMENT_TARGETS
        && strcmp (function->statements[i].opcode, statement->operands[1].name) == 0)
      table = function->statements[i].operands;
  if (table == NULL || table->count == 0)
    return vgpu_builder_fail (builder, "no table %s", statement->operands[1].name);
  int32_t index = vgpu_source_row (builder, &statement->operands[0], 4);
  size_t around = begin_guarded (builder);
  for (uint32_t i = 0; i < table->count && !builder->failed; i++)
    {
      if (table->list[i].kind != VGPU_OPERAND_SYMBOL)
        return vgpu_builder_fail (builder, "a table entry that is no label");
      if (i + 1 == table->count)
        vgpu_emit (builder, VGPU_OP_JUMP);
      else
        {
          int32_t equal = vgpu_new_row (builder, 1);
          vgpu_emit_rows (builder, VGPU_OP_SETP_EQ_32, equal, index, vgpu_constant (builder, 4, i),
                          VGPU_NO_ROW);
          vgpu_emit (builder, VGPU_OP_BRANCH)->guard = equal;
        }
      add_jump (builder, table->list[i].name, statement->scope);
    }
  end_guarded (builder, around);
  return !builder->failed;
}

/* In an expanded function, ret goes behind the call; the label is set there. */
static const char return_label[] = "<return>";

static bool
decode_return (VgpuBuilder *builder, const VgpuStatement *statement)
{
  size_t around = begin_guarded (builder);
  bool exits = strncmp (statement->opcode, "exit", 4) == 0;
  bool outermost = builder->frame->caller == NULL;
  bool called = outermost && builder->frame->base != VGPU_NO_ROW && !exits;
  vgpu_emit (builder, called               ? VGPU_OP_CALL_RETURN
                      : outermost || exits ? VGPU_OP_RETURN
                                           : VGPU_OP_JUMP);
  if (!outermost && !exits)
    add_jump (builder, return_label, 0);
  end_guarded (builder, around);
  return true;
}

static bool
decode_trap (VgpuBuilder *builder, const VgpuStatement *statement)
{
  size_t around = begin_guarded (builder);
  vgpu_emit (builder, VGPU_OP_TRAP);
  end_guarded (builder, around);
  return true;
}

static bool
decode_select (VgpuBuilder *builder, const VgpuStatement *statement)
{
  if (!need (builder, 4))
    return false;
  uint32_t bytes = vgpu_type_size (vgpu_opcode_last (statement->opcode));
  VgpuOp op = bytes == 2 ? VGPU_OP_SELECT_16 : bytes == 4 ? VGPU_OP_SELECT_32 : VGPU_OP_SELECT_64;
  if (bytes != 2 && bytes != 4 && bytes != 8)
    return vgpu_builder_unsupported (builder, NULL);
  const VgpuOperand *operands = statement->operands;
  int32_t a = vgpu_source_row (builder, &operands[1], bytes);
  int32_t b = vgpu_source_row (builder, &operands[2], bytes);
  int32_t p = vgpu_predicate_row (builder, &operands[3]);
  VgpuDestination d = vgpu_destination (builder, &operands[0], bytes);
  VgpuIns *ins = vgpu_emit_rows (builder, op, d.row, a, b, p);
  if (operands[3].negated)
    ins->flags |= VGPU_INS_NEGATED;
  vgpu_destination_done (builder, &d, false);
  return !builder->failed;
}

static bool
decode_slct (VgpuBuilder *builder, const VgpuStatement *statement)
{
  if (!need (builder, 4))
    return false;
  bool by_float = strcmp (vgpu_opcode_last (statement->opcode), "f32") == 0;
  const char *dot = strrchr (statement->opcode, '.');
  uint32_t bytes = dot != NULL && dot - statement->opcode > 3 && dot[-1] == '4' ? 8 : 4;
  const VgpuOperand *operands = statement->operands;
  int32_t a = vgpu_source_row (builder, &operands[1], bytes);
  int32_t b = vgpu_source_row (builder, &operands[2], bytes);
  int32_t c = vgpu_source_row (builder, &operands[3], 4);
  VgpuDestination d = vgpu_destination (builder, &operands[0], bytes);
  VgpuIns *ins =
      vgpu_emit_rows (builder, by_float ? VGPU_OP_SLCT_F32 : VGPU_OP_SLCT_S32, d.row, a, b, c);
  ins->bytes = (uint8_t) bytes;
  ins->taint = VGPU_TAINT_MIX;
  if (vgpu_opcode_has (statement->opcode, "ftz"))
    ins->flags |= VGPU_INS_FTZ;
  vgpu_destination_done (builder, &d, false);
  return !builder->failed;
}

static bool
decode_insert (VgpuBuilder *builder, const VgpuStatement *statement)
{
  if (!need (builder, 5))
    return false;
  bool wide = strcmp (vgpu_opcode_last (statement->opcode), "b64") == 0;
  uint32_t bytes = wide ? 8 : 4;
  const VgpuOperand *operands = statement->operands;
  int32_t a = vgpu_source_row (builder, &operands[1], bytes);
  int32_t b = vgpu_source_row (builder, &operands[2], bytes);
  int32_t c = vgpu_source_row (builder, &operands[3], 4);
  int32_t length = vgpu_source_row (builder, &operands[4], 4);
  uint32_t extra = vgpu_extra (builder, &length, 1);
  VgpuDestination d = vgpu_destination (builder, &operands[0], bytes);
  vgpu_emit_rows (builder, wide ? VGPU_OP_BFI_64 : VGPU_OP_BFI_32, d.row, a, b, c)->extra = extra;
  vgpu_destination_done (builder, &d, false);
  return !builder->failed;
}

static bool
decode_testp (VgpuBuilder *builder, const VgpuStatement *statement)
{
  static const char *const properties[] = {"finite",     "infinite", "number",
                                           "notanumber", "normal",   "subnormal"};
  if (!need (builder, 2))
    return false;
  bool wide = strcmp (vgpu_opcode_last (statement->opcode), "f64") == 0;
  int32_t a = vgpu_source_row (builder, &statement->operands[1], wide ? 8 : 4);
  int32_t d = vgpu_predicate_destination (builder, &statement->operands[0]);
  for (int i = 0; i < 6; i++)
    if (vgpu_opcode_has (statement->opcode, properties[i]))
      {
        vgpu_emit_rows (builder, wide ? VGPU_OP_TESTP_F64 : VGPU_OP_TESTP_F32, d, a, VGPU_NO_ROW,
                        VGPU_NO_ROW)
            ->imm = i;
        return !builder->failed;
      }
  return vgpu_builder_unsupported (builder, NULL);
}

static bool
decode_isspacep (VgpuBuilder *builder, const VgpuStatement *statement)
{
  static const struct
  {
    const char *name;
    uint64_t window;
  } windows[] = {{"global", 0},
                 {"const", 0},
                 {"shared", VGPU_WINDOW_SHARED},
                 {"local", VGPU_WINDOW_LOCAL},
                 {"param", VGPU_WINDOW_PARAM}};
  if (!need (builder, 2))
    return false;
  int32_t a = vgpu_source_row (builder, &statement->operands[1], 8);
  int32_t d = vgpu_predicate_destination (builder, &statement->operands[0]);
  for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++)
    if (strncmp (vgpu_opcode_last (statement->opcode), windows[i].name, strlen (windows[i].name))
        == 0)
      {
        VgpuIns *ins = vgpu_emit_rows (builder, VGPU_OP_ISSPACEP, d, a, VGPU_NO_ROW, VGPU_NO_ROW);
        ins->imm = (int64_t) windows[i].window;
        ins->taint = VGPU_TAINT_MIX;
        return !builder->failed;
      }
  return vgpu_builder_unsupported (builder, NULL);
}

static bool
decode_predicate_logic (VgpuBuilder *builder, const VgpuStatement *statement)
{
  static const struct
  {
    const char *opcode;
    VgpuOp op;
  } ops[] = {{"and.pred", VGPU_OP_PRED_AND},
             {"or.pred", VGPU_OP_PRED_OR},
             {"xor.pred", VGPU_OP_PRED_XOR},
             {"not.pred", VGPU_OP_PRED_NOT}};
  for (size_t i = 0; i < 4; i++)
    if (strcmp (statement->opcode, ops[i].opcode) == 0)
      {
        bool unary = ops[i].op == VGPU_OP_PRED_NOT;
        if (!need (builder, unary ? 2 : 3))
          return false;
        int32_t a = vgpu_predicate_row (builder, &statement->operands[1]);
        int32_t b = unary ? VGPU_NO_ROW : vgpu_predicate_row (builder, &statement->operands[2]);
        int32_t d = vgpu_predicate_destination (builder, &statement->operands[0]);
        vgpu_emit_rows (builder, ops[i].op, d, a, b, VGPU_NO_ROW);
        return !builder->failed;
      }
  return vgpu_builder_unsupported (builder, NULL);
}

static bool
decode_division (VgpuBuilder *builder, const VgpuStatement *statement)
{
  if (!need (builder, 3))
    return false;
  int32_t a = vgpu_source_row (builder, &statement->operands[1], 4);
  int32_t b = vgpu_source_row (builder, &statement->operands[2], 4);
  VgpuDestination d = vgpu_destination (builder, &statement->operands[0], 4);
  VgpuIns *ins = vgpu_emit_rows (builder, VGPU_OP_DIV_APPROX, d.row, a, b, VGPU_NO_ROW);
  ins->imm = vgpu_opcode_has (statement->opcode, "full");
  if (vgpu_opcode_has (statement->opcode, "ftz"))
    ins->flags |= VGPU_INS_FTZ;
  vgpu_destination_done (builder, &d, false);
  return !builder->failed;
}

/* createpolicy and the like: a hint whose value means nothing here. */
static bool
decode_policy (VgpuBuilder *builder, const VgpuStatement *statement)
{
  if (!need (builder, 1))
    return false;
  VgpuDestination d = vgpu_destination (builder, &statement->operands[0], 8);
  vgpu_emit_rows (builder, VGPU_OP_MOV_64, d.row, vgpu_constant (builder, 8, 0), VGPU_NO_ROW,
                  VGPU_NO_ROW);
  vgpu_destination_done (builder, &d, false);
  return !builder->failed;
}

typedef struct
{
  const char *stem; /* the opcode, or its beginning up to a dot */
  VgpuFamilyDecoder decode;
  const char *forms; /* NULL: said by another */
} Family;

/* clang-format off */
static const Family families[] = {
  { "mov.pred", vgpu_decode_move, "mov.pred" },
  { "mov", vgpu_decode_move, "mov.{b16,b32,b64,…}: registers, special registers, addresses, vectors to be packed or unpacked" },
  { "ld", vgpu_decode_load, "ld{.weak,.volatile,.relaxed,.acquire}{.scope}{.global{.nc},.shared{::cta,::cluster},.local,.param,.const}{cache hints}{.v2,.v4}.type" },
  { "ldu", vgpu_decode_load, "ldu.global{.v2,.v4}.type" },
  { "st", vgpu_decode_store, "st{.weak,.volatile,.relaxed,.release}{.scope}{.global,.shared{::cta,::cluster},.local,.param}{cache hints}{.v2,.v4}.type; st.async.shared::cluster.mbarrier::complete_tx::bytes{.v2,.v4}" },
  { "atom", vgpu_decode_atomic, "atom{.sem}{.scope}{.global,.shared{::cta,::cluster}}.{add,min,max,inc,dec,and,or,xor,exch,cas}{.noftz}.type, types u32 s32 u64 s64 b32 b64 f32 f64 f16 f16x2 bf16 bf16x2 b16 (cas); add{.v2,.v4,.v8} of f32, f16, f16x2, bf16, bf16x2, min and max of the 16-bit ones" },
  { "red", vgpu_decode_reduction, "red: as atom, without result; red.async.shared::cluster.mbarrier::complete_tx::bytes" },
  { "cvt", vgpu_decode_convert, "cvt{.rnd}{.ftz}{.sat}{.relu}.d.s between all of u8…u64, s8…s64, f16, bf16, f32, f64; packs of two; e4m3x2 and e5m2x2" },
  { "setp", vgpu_decode_compare, "setp.cmp{.bool}{.ftz}.type, all types, f16x2 and bf16x2 included" },
  { "set", vgpu_decode_set, "set.cmp{.ftz}.{u32,s32,f32,f16,bf16,f16x2,bf16x2}.type" },
  { "lop3", vgpu_decode_logic, "lop3.{or,and}.b32, with a predicate" },
  { "selp", decode_select, "selp.type" },
  { "slct", decode_slct, "slct{.ftz}.type.{s32,f32}" },
  { "bfi", decode_insert, "bfi.{b32,b64}" },
  { "testp", decode_testp, "testp.{finite,infinite,number,notanumber,normal,subnormal}.{f32,f64}" },
  { "isspacep", decode_isspacep, "isspacep.{global,const,shared,local,param}" },
  { "and.pred", decode_predicate_logic, "and.pred" },
  { "or.pred", decode_predicate_logic, "or.pred" },
  { "xor.pred", decode_predicate_logic, "xor.pred" },
  { "not.pred", decode_predicate_logic, "not.pred" },
  { "div.approx", decode_division, "div.approx{.ftz}.f32" },
  { "div.full", decode_division, "div.full{.ftz}.f32" },
  { "bra", decode_branch, "bra{.uni}" },
  { "brx.idx", decode_indexed_branch, "brx.idx{.uni}" },
  { "call", vgpu_decode_call, "call{.uni} of functions of the module, by name or through a pointer, recursive ones too; vprintf, __assertfail, malloc, free" },
  { "ret", decode_return, "ret{.uni}" },
  { "exit", decode_return, "exit" },
  { "trap", decode_trap, "trap" },
  { "brkpt", decode_nothing, "brkpt (ignored)" },
  { "bar", vgpu_decode_barrier, "bar{.cta}.{sync,arrive,red.{popc,and,or}}, bar.warp.sync" },
  { "barrier", vgpu_decode_barrier, "barrier{.cta}.{sync,arrive,red.{popc,and,or}}{.aligned}, barrier.cluster.{arrive,wait}{.sem}{.aligned}" },
  { "membar", decode_fence, "membar.{cta,gl,sys}" },
  { "fence", decode_fence, "fence{.sem}.scope, fence.proxy" },
  { "shfl.sync", vgpu_decode_shuffle, "shfl.sync.{up,down,bfly,idx}.b32" },
  { "vote", vgpu_decode_vote, "vote.sync.{all,any,uni}.pred, vote.sync.ballot.b32, also as vote.ballot.sync.b32" },
  { "match", vgpu_decode_match, "match.{any,all}.sync.{b32,b64}" },
  { "redux.sync", vgpu_decode_redux, "redux.sync.{add,min,max}.{u32,s32}, redux.sync.{and,or,xor}.b32" },
  { "activemask", vgpu_decode_active, "activemask.b32" },
  { "elect.sync", vgpu_decode_active, "elect.sync" },
  { "cp.async", vgpu_decode_copy_async, "cp.async.{ca,cg}.shared.global (4, 8, 16 bytes, with source size or predicate), cp.async.{commit_group,wait_group,wait_all}" },
  { "cp.async.mbarrier.arrive", vgpu_decode_copy_arrive, "cp.async.mbarrier.arrive{.noinc}{.shared}.b64" },
  { "cp.async.bulk", vgpu_decode_bulk, "cp.async.bulk.{shared::cluster,shared::cta}.global and .shared::cluster.shared::cta .mbarrier::complete_tx::bytes{.multicast::cluster}, .global.shared::cta.bulk_group, cp.async.bulk.tensor.{1d…5d} between the same, {.tile}, with maps of cuTensorMapEncodeTiled, .{commit_group,wait_group{.read}}, .prefetch (ignored)" },
  { "cp.reduce.async.bulk", vgpu_decode_bulk, "cp.reduce.async.bulk and .tensor: as cp.async.bulk, from shared memory, with .{add,min,max,inc,dec,and,or,xor}.type" },
  { "mapa", vgpu_decode_rank, "mapa{.shared::cluster}.{u32,u64}" },
  { "getctarank", vgpu_decode_rank, "getctarank{.shared::cluster}.{u32,u64}" },
  { "mbarrier", vgpu_decode_mbarrier, "mbarrier.{init,inval,expect_tx,complete_tx,arrive{.expect_tx}{.noComplete},arrive_drop,test_wait{.parity},try_wait{.parity},pending_count}{.sem}{.scope}{.shared}.b64" },
  { "ldmatrix", vgpu_decode_matrix_load, "ldmatrix.sync.aligned.m8n8.{x1,x2,x4}{.trans}.shared.b16" },
  { "stmatrix", vgpu_decode_matrix_load, "stmatrix.sync.aligned.m8n8.{x1,x2,x4}{.trans}.shared.b16" },
  { "movmatrix", vgpu_decode_move_matrix, "movmatrix.sync.aligned.m8n8.trans.b16" },
  { "mma.sync", vgpu_decode_mma, "mma.sync.aligned{.row.col}: m16n8 of f16 (k8, k16), bf16, tf32 (k4, k8), s8 and u8 (k16, k32), s4 and u4 (k32, k64), b1 (k128, k256; xor and and), e4m3 and e5m2 (k16, k32), f64 (k4, k8, k16); m8n8 of s8, u8 (k16), s4, u4 (k32), b1 (k128), f64 (k4); {.satfinite}; accumulators f32, f16, s32, f64" },
  { "wgmma", vgpu_decode_wgmma, "wgmma.mma_async.sync.aligned{.satfinite} m64nN, N of 8 to 256, of f16, bf16 (k16), tf32 (k8), e4m3, e5m2, s8, u8 (k32), b1 (k256, and); a from registers or shared memory, swizzles none, 32, 64, 128; scale-d, negated and turned factors; wgmma.{fence,commit_group,wait_group}" },
  { "wmma", vgpu_decode_wmma, "wmma.{load,store,mma}.sync.aligned m16n16k16, m8n32k16, m32n8k16 of f16, bf16, s8, u8; m16n16k8 of tf32; m8n8k4 of f64; m8n8k32 of s4, u4; m8n8k128 of b1; {.satfinite}; accumulators f32, f16, s32, f64" },
  { "tex", vgpu_decode_texture, "tex{.base,.level,.grad}.{1d,2d,3d,a1d,a2d,cube,acube}.v4.{u32,s32,f32}.{s32,f32}, by object and in independent mode" },
  { "tld4", vgpu_decode_texture, "tld4.{r,g,b,a}.{2d,a2d,cube,acube}.v4.{u32,s32,f32}.f32" },
  { "txq", vgpu_decode_texture_query, "txq.{width,height,depth,array_size,num_mipmap_levels,channel_data_type,channel_order,normalized_coords}.b32" },
  { "suq", vgpu_decode_texture_query, "suq: as txq" },
  { "suld", vgpu_decode_surface, "suld.b.{1d,2d,3d,a1d,a2d}{cache hints}{.v2,.v4}.{b8,b16,b32,b64}.{trap,clamp,zero}" },
  { "sust", vgpu_decode_surface, "sust.b: as suld" },
  { "sured", vgpu_decode_surface, "sured.b.{add,min,max,and,or}.{1d,2d,3d,a1d,a2d}.{u32,s32,b32,u64,s64,b64}.{trap,clamp,zero}" },
  { "vadd2", vgpu_decode_video, "vadd2, vsub2, vavrg2, vabsdiff2, vmin2, vmax2 .{u32,s32}.{u32,s32}.{u32,s32}{.sat,.add}, without masks and selectors" },
  { "vadd4", vgpu_decode_video, "vadd4, vsub4, vavrg4, vabsdiff4, vmin4, vmax4: as of two" },
  { "vsub2", vgpu_decode_video, NULL },
  { "vsub4", vgpu_decode_video, NULL },
  { "vavrg2", vgpu_decode_video, NULL },
  { "vavrg4", vgpu_decode_video, NULL },
  { "vabsdiff2", vgpu_decode_video, NULL },
  { "vabsdiff4", vgpu_decode_video, NULL },
  { "vmin2", vgpu_decode_video, NULL },
  { "vmin4", vgpu_decode_video, NULL },
  { "vmax2", vgpu_decode_video, NULL },
  { "vmax4", vgpu_decode_video, NULL },
  { "prefetch", decode_nothing, "prefetch (ignored)" },
  { "prefetchu", decode_nothing, "prefetchu (ignored)" },
  { "applypriority", decode_nothing, "applypriority (ignored)" },
  { "discard", decode_nothing, "discard (ignored)" },
  { "nanosleep", decode_nothing, "nanosleep (takes no time)" },
  { "pmevent", decode_nothing, "pmevent (ignored)" },
  { "setmaxnreg", decode_nothing, "setmaxnreg (registers are never short)" },
  { "griddepcontrol", decode_nothing, "griddepcontrol (launches are never concurrent)" },
  { "createpolicy", decode_policy, "createpolicy (the policy is ignored)" },
};
/* clang-format on */

VgpuFamilyDecoder
vgpu_family_find (const char *opcode)
{
  size_t best = 0;
  VgpuFamilyDecoder decode = NULL;
  for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
    {
      size_t length = strlen (families[i].stem);
      if (length > best && strncmp (opcode, families[i].stem, length) == 0
          && (opcode[length] == '.' || opcode[length] == '\0'))
        {
          best = length;
          decode = families[i].decode;
        }
    }
  return decode;
}

size_t
vgpu_family_forms (const char **forms, size_t most)
{
  size_t count = 0;
  for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
    if (families[i].forms != NULL)
      {
        if (count < most)
          forms[count] = families[i].forms;
        count++;
      }
  return count;
}
