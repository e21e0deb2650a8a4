/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions by which threads meet: barriers, shuffles, votes. */
#include "engine/vgpu/ptx/builder.h"

#include <string.h>

static bool
need (VgpuBuilder *builder, uint32_t count)
{
  return builder->statement->operand_count >= count
         || vgpu_builder_fail (builder, "%s with too few operands", builder->statement->opcode);
}

/* bar.red: d, a{, b}, {!}p */
static bool
decode_barrier_reduction (VgpuBuilder *builder, const VgpuStatement *statement)
{
  static const char *const kinds[] = {"popc", "and", "or"};
  if (!need (builder, 3))
    return false;
  uint32_t count = statement->operand_count;
  const VgpuOperand *predicate = &statement->operands[count - 1];
  int64_t kind = -1;
  for (int i = 0; i < 3; i++)
    if (vgpu_opcode_has (statement->opcode, kinds[i]))
      kind = i;
  if (kind < 0)
    return vgpu_builder_unsupported (builder, NULL);
  int32_t id = vgpu_source_row (builder, &statement->operands[1], 4);
  int32_t threads = count > 3 ? vgpu_source_row (builder, &statement->operands[2], 4) : VGPU_NO_ROW;
  int32_t p = vgpu_predicate_row (builder, predicate);
  int32_t d = kind == 0 ? vgpu_destination (builder, &statement->operands[0], 4).row
                        : vgpu_predicate_destination (builder, &statement->operands[0]);
  VgpuIns *ins = vgpu_emit_rows (builder, VGPU_OP_BARRIER_REDUCE, d, id, threads, p);
  ins->b = threads;
  ins->imm = kind;
  ins->flags |= predicate->negated ? VGPU_INS_NEGATED : 0;
  return !builder->failed;
}

bool
vgpu_decode_barrier (VgpuBuilder *builder, const VgpuStatement *statement)
{
  const char *opcode = statement->opcode;
  if (strncmp (opcode, "bar.warp", 8) == 0)
    {
      if (!need (builder, 1))
        return false;
      int32_t members = vgpu_source_row (builder, &statement->operands[0], 4);
      vgpu_emit_rows (builder, VGPU_OP_WARP_BARRIER, 0, members, VGPU_NO_ROW, VGPU_NO_ROW);
      return !builder->failed;
    }
  if (strncmp (opcode, "barrier.cluster", 15) == 0)
    {
      bool waits = vgpu_opcode_has (opcode, "wait");
      vgpu_emit (builder, waits ? VGPU_OP_CLUSTER_WAIT : VGPU_OP_CLUSTER_ARRIVE);
      return true;
    }
  /* Under a guard only some lanes arrive: a branch shows them to the check. */
  int32_t guard = builder->guard;
  size_t around = builder->kernel->code_count;
  if (guard != VGPU_NO_ROW)
    {
      builder->guard = VGPU_NO_ROW;
      VgpuIns *branch = vgpu_emit (builder, VGPU_OP_BRANCH);
      branch->guard = guard;
      branch->flags |= builder->guard_negated ? 0 : VGPU_INS_GUARD_NEGATED;
    }
  bool good = true;
  if (vgpu_opcode_has (opcode, "red"))
    good = decode_barrier_reduction (builder, statement);
  else
    {
      bool arrive = vgpu_opcode_has (opcode, "arrive");
      if (!need (builder, arrive ? 2 : 1))
        return false;
      int32_t id = vgpu_source_row (builder, &statement->operands[0], 4);
      int32_t threads = statement->operand_count > 1
                            ? vgpu_source_row (builder, &statement->operands[1], 4)
                            : VGPU_NO_ROW;
      VgpuIns *ins = vgpu_emit_rows (builder, arrive ? VGPU_OP_BARRIER_ARRIVE : VGPU_OP_BARRIER, 0,
                                     id, threads, VGPU_NO_ROW);
      ins->b = threads;
    }
  if (guard != VGPU_NO_ROW)
    builder->kernel->code[around].target = (uint32_t) builder->kernel->code_count;
  return good && !builder->failed;
}

/* shfl.sync.mode.b32 d|p, a, b, c, members */
bool
vgpu_decode_shuffle (VgpuBuilder *builder, const VgpuStatement *statement)
{
  static const char *const modes[] = {"up", "down", "bfly", "idx"};
  if (!need (builder, 5))
    return false;
  const VgpuOperand *operands = statement->operands;
  int64_t mode = -1;
  for (int i = 0; i < 4; i++)
    if (vgpu_opcode_has (statement->opcode, modes[i]))
      mode = i;
  if (mode < 0 || strcmp (vgpu_opcode_last (statement->opcode), "b32") != 0)
    return vgpu_builder_unsupported (builder, NULL);
  int32_t a = vgpu_source_row (builder, &operands[1], 4);
  int32_t b = vgpu_source_row (builder, &operands[2], 4);
  int32_t c = vgpu_source_row (builder, &operands[3], 4);
  VgpuOperand value = operands[0];
  value.second = VGPU_NONE;
  VgpuDestination d = vgpu_destination (builder, &value, 4);
  int32_t more[2] = {vgpu_source_row (builder, &operands[4], 4), VGPU_NO_ROW};
  if (operands[0].kind == VGPU_OPERAND_REGISTER && operands[0].second != VGPU_NONE)
    {
      VgpuOperand inside = {.kind = VGPU_OPERAND_REGISTER, .reg = operands[0].second};
      more[1] = vgpu_predicate_row (builder, &inside);
    }
  uint32_t extra = vgpu_extra (builder, more, 2);
  VgpuIns *ins = vgpu_emit_rows (builder, VGPU_OP_SHUFFLE, d.row, a, b, c);
  ins->imm = mode;
  ins->extra = extra;
  ins->taint = VGPU_TAINT_HANDLED;
  vgpu_destination_done (builder, &d, false);
  return !builder->failed;
}

/* vote.sync.mode d, {!}a, members */
bool
vgpu_decode_vote (VgpuBuilder *builder, const VgpuStatement *statement)
{
  static const char *const modes[] = {"all", "any", "uni", "ballot"};
  if (!need (builder, 3))
    return false;
  const VgpuOperand *operands = statement->operands;
  int64_t mode = -1;
  for (int i = 0; i < 4; i++)
    if (vgpu_opcode_has (statement->opcode, modes[i]))
      mode = i;
  if (mode < 0)
    return vgpu_builder_unsupported (builder, NULL);
  int32_t a = vgpu_predicate_row (builder, &operands[1]);
  int32_t members = vgpu_source_row (builder, &operands[2], 4);
  int32_t d = mode == 3 ? vgpu_destination (builder, &operands[0], 4).row
                        : vgpu_predicate_destination (builder, &operands[0]);
  VgpuIns *ins = vgpu_emit_rows (builder, VGPU_OP_VOTE, d, a, members, VGPU_NO_ROW);
  ins->imm = mode;
  ins->flags |= operands[1].negated ? VGPU_INS_NEGATED : 0;
  return !builder->failed;
}

/* match.any.sync.type d, a, members; match.all also has d|p */
bool
vgpu_decode_match (VgpuBuilder *builder, const VgpuStatement *statement)
{
  if (!need (builder, 3))
    return false;
  const VgpuOperand *operands = statement->operands;
  bool wide = strcmp (vgpu_opcode_last (statement->opcode), "b64") == 0;
  bool all = vgpu_opcode_has (statement->opcode, "all");
  int32_t a = vgpu_source_row (builder, &operands[1], wide ? 8 : 4);
  int32_t members = vgpu_source_row (builder, &operands[2], 4);
  int32_t p = VGPU_NO_ROW;
  if (operands[0].kind == VGPU_OPERAND_REGISTER && operands[0].second != VGPU_NONE)
    {
      VgpuOperand second = {.kind = VGPU_OPERAND_REGISTER, .reg = operands[0].second};
      p = vgpu_predicate_row (builder, &second);
    }
  VgpuOperand value = operands[0];
  value.second = VGPU_NONE;
  VgpuDestination d = vgpu_destination (builder, &value, 4);
  VgpuIns *ins = vgpu_emit_rows (builder, VGPU_OP_MATCH, d.row, a, members, VGPU_NO_ROW);
  ins->c = p;
  ins->imm = all;
  ins->bytes = wide ? 8 : 4;
  vgpu_destination_done (builder, &d, false);
  return !builder->failed;
}

bool
vgpu_decode_redux (VgpuBuilder *builder, const VgpuStatement *statement)
{
  static const char *const kinds[] = {"add", "min", "max", "and", "or", "xor"};
  if (!need (builder, 3))
    return false;
  const VgpuOperand *operands = statement->operands;
  const char *type = vgpu_opcode_last (statement->opcode);
  int64_t kind = -1;
  for (int i = 0; i < 6; i++)
    if (vgpu_opcode_has (statement->opcode, kinds[i]))
      kind = i;
  if (kind < 0 || vgpu_type_size (type) != 4 || type[0] == 'f')
    return vgpu_builder_unsupported (builder, NULL);
  int32_t a = vgpu_source_row (builder, &operands[1], 4);
  int32_t members = vgpu_source_row (builder, &operands[2], 4);
  VgpuDestination d = vgpu_destination (builder, &operands[0], 4);
  VgpuIns *ins = vgpu_emit_rows (builder, VGPU_OP_REDUX, d.row, a, members, VGPU_NO_ROW);
  ins->imm = kind;
  ins->flags |= type[0] == 's' ? VGPU_INS_SIGNED : 0;
  vgpu_destination_done (builder, &d, false);
  return !builder->failed;
}

/* activemask.b32 d; elect.sync d|p, members */
bool
vgpu_decode_active (VgpuBuilder *builder, const VgpuStatement *statement)
{
  const VgpuOperand *operands = statement->operands;
  bool elect = statement->opcode[0] == 'e';
  if (!need (builder, elect ? 2 : 1))
    return false;
  VgpuOperand value = operands[0];
  value.second = VGPU_NONE;
  int32_t members = elect ? vgpu_source_row (builder, &operands[1], 4) : VGPU_NO_ROW;
  int32_t p = VGPU_NO_ROW;
  if (operands[0].second != VGPU_NONE && elect)
    {
      VgpuOperand second = {.kind = VGPU_OPERAND_REGISTER, .reg = operands[0].second};
      p = vgpu_predicate_row (builder, &second);
    }
  VgpuDestination d = vgpu_destination (builder, &value, 4);
  VgpuIns *ins = vgpu_emit_rows (builder, elect ? VGPU_OP_ELECT : VGPU_OP_ACTIVE_MASK, d.row,
                                 members, VGPU_NO_ROW, VGPU_NO_ROW);
  ins->c = p;
  vgpu_destination_done (builder, &d, false);
  return !builder->failed;
}
