/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers in shared memory, and the copies that complete on them. */
#include "engine/vgpu/exec/async.h"
#include "engine/vgpu/exec/atomics.h"
#include "engine/vgpu/ptx/builder.h"

#include <string.h>

static bool
need (VgpuBuilder *builder, uint32_t count)
{
  return builder->statement->operand_count >= count
         || vgpu_builder_fail (builder, "%s with too few operands", builder->statement->opcode);
}

static void
set_address (VgpuIns *ins, const VgpuAddress *address)
{
  ins->imm = address->offset;
  ins->bytes = 8;
  ins->vec = 1;
  ins->taint = VGPU_TAINT_HANDLED;
  ins->flags |= address->wide ? VGPU_INS_WIDE_ADDRESS : 0;
}

static bool
decode_wait (VgpuBuilder *builder, const VgpuStatement *statement)
{
  VgpuAddress address;
  if (!need (builder, 3) || !vgpu_address (builder, &statement->operands[1], &address))
    return false;
  bool parity = vgpu_opcode_has (statement->opcode, "parity");
  int32_t state = vgpu_source_row (builder, &statement->operands[2], parity ? 4 : 8);
  int32_t p = vgpu_predicate_destination (builder, &statement->operands[0]);
  VgpuIns *ins =
      vgpu_emit_rows (builder, VGPU_OP_MBARRIER_WAIT, p, address.row, state, VGPU_NO_ROW);
  set_address (ins, &address);
  ins->target = parity;
  return !builder->failed;
}

static bool
decode_arrive (VgpuBuilder *builder, const VgpuStatement *statement)
{
  const char *opcode = statement->opcode;
  VgpuAddress address;
  if (!need (builder, 2) || !vgpu_address (builder, &statement->operands[1], &address))
    return false;
  bool expects = vgpu_opcode_has (opcode, "expect_tx");
  if (expects && !need (builder, 3))
    return false;
  int32_t count = statement->operand_count > 2
                      ? vgpu_source_row (builder, &statement->operands[2], 4)
                      : vgpu_constant (builder, 4, 1);
  VgpuDestination d = vgpu_destination (builder, &statement->operands[0], 8);
  VgpuIns *ins =
      vgpu_emit_rows (builder, VGPU_OP_MBARRIER_ARRIVE, d.row, address.row, count, VGPU_NO_ROW);
  set_address (ins, &address);
  ins->target = (expects ? VGPU_ARRIVE_EXPECTS : 0)
                | (vgpu_opcode_has (opcode, "arrive_drop") ? VGPU_ARRIVE_DROPS : 0);
  vgpu_destination_done (builder, &d, false);
  return !builder->failed;
}

static bool
decode_change (VgpuBuilder *builder, const VgpuStatement *statement, VgpuMbarrierChange change)
{
  VgpuAddress address;
  bool counts = change != VGPU_MBARRIER_INVAL;
  if (!need (builder, counts ? 2 : 1) || !vgpu_address (builder, &statement->operands[0], &address))
    return false;
  int32_t count = counts ? vgpu_source_row (builder, &statement->operands[1], 4)
                         : vgpu_constant (builder, 4, 0);
  VgpuIns *ins =
      vgpu_emit_rows (builder, VGPU_OP_MBARRIER_CHANGE, 0, address.row, count, VGPU_NO_ROW);
  set_address (ins, &address);
  ins->target = change;
  return !builder->failed;
}

bool
vgpu_decode_mbarrier (VgpuBuilder *builder, const VgpuStatement *statement)
{
  const char *opcode = statement->opcode;
  if (strncmp (opcode, "mbarrier.init.", 14) == 0)
    return decode_change (builder, statement, VGPU_MBARRIER_INIT);
  if (strncmp (opcode, "mbarrier.inval.", 15) == 0)
    return decode_change (builder, statement, VGPU_MBARRIER_INVAL);
  if (strncmp (opcode, "mbarrier.expect_tx.", 19) == 0)
    return decode_change (builder, statement, VGPU_MBARRIER_EXPECT);
  if (strncmp (opcode, "mbarrier.complete_tx.", 21) == 0)
    return decode_change (builder, statement, VGPU_MBARRIER_COMPLETE);
  if (strncmp (opcode, "mbarrier.arrive", 15) == 0)
    return decode_arrive (builder, statement);
  if (strncmp (opcode, "mbarrier.test_wait.", 19) == 0
      || strncmp (opcode, "mbarrier.try_wait.", 18) == 0)
    return decode_wait (builder, statement);
  if (strcmp (opcode, "mbarrier.pending_count.b64") != 0)
    return vgpu_builder_unsupported (builder, NULL);
  if (!need (builder, 2))
    return false;
  int32_t state = vgpu_source_row (builder, &statement->operands[1], 8);
  VgpuDestination d = vgpu_destination (builder, &statement->operands[0], 4);
  vgpu_emit_rows (builder, VGPU_OP_MBARRIER_PENDING, d.row, state, VGPU_NO_ROW, VGPU_NO_ROW);
  vgpu_destination_done (builder, &d, false);
  return !builder->failed;
}

/* cp.async.mbarrier.arrive{.noinc}.b64 [barrier] */
bool
vgpu_decode_copy_arrive (VgpuBuilder *builder, const VgpuStatement *statement)
{
  VgpuAddress address;
  if (!need (builder, 1) || !vgpu_address (builder, &statement->operands[0], &address))
    return false;
  VgpuIns *ins =
      vgpu_emit_rows (builder, VGPU_OP_COPY_ARRIVE, 0, address.row, VGPU_NO_ROW, VGPU_NO_ROW);
  set_address (ins, &address);
  ins->target = vgpu_opcode_has (statement->opcode, "noinc");
  return !builder->failed;
}

/* mapa{.shared::cluster}.{u32,u64} d, a, rank; getctarank{.shared::cluster}.{u32,u64} d, a */
bool
vgpu_decode_rank (VgpuBuilder *builder, const VgpuStatement *statement)
{
  bool maps = statement->opcode[0] == 'm';
  if (!need (builder, maps ? 3 : 2))
    return false;
  uint32_t bytes = vgpu_type_size (vgpu_opcode_last (statement->opcode));
  if (bytes != 4 && bytes != 8)
    return vgpu_builder_unsupported (builder, NULL);
  int32_t a = vgpu_source_row (builder, &statement->operands[1], bytes);
  int32_t b = maps ? vgpu_source_row (builder, &statement->operands[2], 4) : VGPU_NO_ROW;
  VgpuDestination d = vgpu_destination (builder, &statement->operands[0], maps ? bytes : 4);
  VgpuIns *ins = vgpu_emit_rows (builder, maps ? VGPU_OP_MAP_ADDRESS : VGPU_OP_FIND_RANK, d.row, a,
                                 b, VGPU_NO_ROW);
  ins->bytes = (uint8_t) bytes;
  ins->taint = VGPU_TAINT_CLEAN;
  vgpu_destination_done (builder, &d, false);
  return !builder->failed;
}

/* Where opcode names both sides of a copy, "dst.src": the two that PTX knows and the completion of
 * each. */
static bool
read_direction (const char *opcode, VgpuBulkWay *way)
{
  const char *global = strstr (opcode, ".global");
  const char *shared = strstr (opcode, ".shared::");
  if (shared == NULL)
    return false;
  if (global == NULL)
    *way = VGPU_BULK_SHARED_TO_SHARED;
  else
    *way = global < shared ? VGPU_BULK_SHARED_TO_GLOBAL : VGPU_BULK_GLOBAL_TO_SHARED;
  return *way == VGPU_BULK_SHARED_TO_GLOBAL
             ? vgpu_opcode_has (opcode, "bulk_group")
             : strstr (opcode, ".mbarrier::complete_tx::bytes") != NULL;
}

/* The further operands: each address is a row, its offset, and whether it is 64 bits wide. */
static void
put_address (int32_t *to, const VgpuAddress *address)
{
  to[0] = address->row;
  to[1] = (int32_t) address->offset;
  to[2] = address->wide;
}

/* The operands behind destination and source, from the one of this number: barrier, mask. */
static bool
read_completion (VgpuBuilder *builder, const VgpuStatement *statement, VgpuBulkWay way,
                 uint32_t from, int32_t *more)
{
  VgpuAddress barrier = {.row = VGPU_NO_ROW};
  bool completes = way != VGPU_BULK_SHARED_TO_GLOBAL;
  bool spreads = vgpu_opcode_has (statement->opcode, "multicast::cluster");
  if (!need (builder, from + completes + spreads)
      || (completes && !vgpu_address (builder, &statement->operands[from], &barrier)))
    return false;
  put_address (more + VGPU_BULK_BARRIER, &barrier);
  more[VGPU_BULK_MASK] =
      spreads ? vgpu_source_row (builder, &statement->operands[from + 1], 2) : VGPU_NO_ROW;
  return !builder->failed;
}

/* The reduction that a copy makes, if it makes one. */
static bool
read_reduction (const char *opcode, int32_t *reduce, uint32_t *element)
{
  uint32_t code;
  *reduce = 0;
  *element = 1;
  if (strncmp (opcode, "cp.reduce.", 10) != 0)
    return true;
  if (!vgpu_read_atomic_code (opcode, &code, element) || code / 256 > VGPU_ATOM_XOR)
    return false;
  *reduce = (int32_t) code + 1;
  return code % 256 != VGPU_TYPE_F16X2 && code % 256 != VGPU_TYPE_BF16X2;
}

/* cp.async.bulk.dst.src… [dst], [src], size, [barrier]{, mask}{, policy}; cp.reduce.async.bulk likewise */
static bool
decode_bulk_copy (VgpuBuilder *builder, const VgpuStatement *statement)
{
  const char *opcode = statement->opcode;
  VgpuBulkWay way;
  VgpuAddress to, from;
  int32_t more[VGPU_BULK_OPERANDS] = {0};
  uint32_t element;
  if (!read_direction (opcode, &way) || vgpu_opcode_has (opcode, "cp_mask")
      || !read_reduction (opcode, &more[VGPU_BULK_REDUCE], &element))
    return vgpu_builder_unsupported (builder, NULL);
  if (!need (builder, 3) || !vgpu_address (builder, &statement->operands[0], &to)
      || !vgpu_address (builder, &statement->operands[1], &from)
      || !read_completion (builder, statement, way, 3, more))
    return false;
  int32_t size = vgpu_source_row (builder, &statement->operands[2], 4);
  put_address (more + VGPU_BULK_TO, &to);
  put_address (more + VGPU_BULK_FROM, &from);
  uint32_t extra = vgpu_extra (builder, more, VGPU_BULK_OPERANDS);
  VgpuIns *ins = vgpu_emit_rows (builder, VGPU_OP_BULK_COPY, 0, size, VGPU_NO_ROW, VGPU_NO_ROW);
  ins->bytes = (uint8_t) element;
  ins->extra = extra;
  ins->target = way;
  builder->kernel->reads_async |= way != VGPU_BULK_GLOBAL_TO_SHARED;
  return !builder->failed;
}

/* An address with coordinates: [map, {x, y}]. Returns how many there are, 0 after a failure. */
static uint32_t
read_box (VgpuBuilder *builder, const VgpuOperand *operand, VgpuAddress *map, int32_t *more)
{
  if (operand->kind != VGPU_OPERAND_ADDRESS || operand->count != 2
      || operand->list[1].kind != VGPU_OPERAND_VECTOR || operand->list[1].count > 5)
    {
      vgpu_builder_fail (builder, "a tensor map and its coordinates expected in brackets");
      return 0;
    }
  VgpuOperand base = *operand;
  base.count = 1;
  if (!vgpu_address (builder, &base, map))
    return 0;
  const VgpuOperand *vector = &operand->list[1];
  for (uint32_t i = 0; i < vector->count; i++)
    more[VGPU_BULK_COORDINATES + i] = vgpu_source_row (builder, &vector->list[i], 4);
  return builder->failed ? 0 : vector->count;
}

/* Of tensors the map knows the type: the code's is open. */
static bool
read_tensor_reduction (const char *opcode, bool stores, int32_t *reduce)
{
  static const char *const kinds[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};
  *reduce = 0;
  if (strncmp (opcode, "cp.reduce.", 10) != 0)
    return true;
  for (int i = 0; i < 8; i++)
    if (vgpu_opcode_has (opcode, kinds[i]))
      *reduce = 1 + (int32_t) VGPU_ATOM_CODE (i, 0);
  return stores && *reduce != 0;
}

/* cp.async.bulk.tensor.Nd.dst.src… [dst], [map, {…}], [barrier]{, mask}{, policy}, or the other way
 * round */
static bool
decode_bulk_tensor (VgpuBuilder *builder, const VgpuStatement *statement)
{
  const char *opcode = statement->opcode;
  VgpuBulkWay way;
  VgpuAddress shared, map;
  int32_t more[VGPU_BULK_OPERANDS] = {0};
  if (!read_direction (opcode, &way) || way == VGPU_BULK_SHARED_TO_SHARED
      || strstr (opcode, ".im2col") != NULL || strstr (opcode, ".tile::") != NULL
      || strstr (opcode, ".cta_group") != NULL)
    return vgpu_builder_unsupported (builder, "tensors only tiled, between global and shared");
  bool stores = way == VGPU_BULK_SHARED_TO_GLOBAL;
  if (!read_tensor_reduction (opcode, stores, &more[VGPU_BULK_REDUCE]))
    return vgpu_builder_unsupported (builder, NULL);
  if (!need (builder, 2) || !vgpu_address (builder, &statement->operands[stores], &shared))
    return false;
  uint32_t rank = read_box (builder, &statement->operands[!stores], &map, more);
  if (rank == 0 || !read_completion (builder, statement, way, 2, more))
    return false;
  char wanted[4] = {(char) ('0' + rank), 'd', '\0'};
  if (!vgpu_opcode_has (opcode, wanted))
    return vgpu_builder_fail (builder, "%s with %u coordinates", opcode, rank);
  put_address (more + (stores ? VGPU_BULK_TO : VGPU_BULK_FROM), &map);
  put_address (more + (stores ? VGPU_BULK_FROM : VGPU_BULK_TO), &shared);
  uint32_t extra = vgpu_extra (builder, more, VGPU_BULK_OPERANDS);
  VgpuIns *ins = vgpu_emit (builder, VGPU_OP_BULK_TENSOR);
  ins->extra = extra;
  ins->target = way;
  builder->kernel->reads_async |= way != VGPU_BULK_GLOBAL_TO_SHARED;
  ins->imm = rank;
  return !builder->failed;
}

bool
vgpu_decode_bulk (VgpuBuilder *builder, const VgpuStatement *statement)
{
  const char *opcode = statement->opcode;
  if (vgpu_opcode_has (opcode, "prefetch"))
    {
      vgpu_emit (builder, VGPU_OP_NOTHING);
      return true;
    }
  if (vgpu_opcode_has (opcode, "tensor"))
    return decode_bulk_tensor (builder, statement);
  if (vgpu_opcode_has (opcode, "commit_group"))
    {
      vgpu_emit (builder, VGPU_OP_BULK_COMMIT);
      return true;
    }
  if (vgpu_opcode_has (opcode, "wait_group"))
    {
      if (!need (builder, 1))
        return false;
      vgpu_emit (builder, VGPU_OP_BULK_WAIT)->imm = statement->operands[0].value;
      return true;
    }
  return decode_bulk_copy (builder, statement);
}

/* st.async… {.v2,.v4}.type [a], b, [barrier] and red.async….op.type [a], b, [barrier] */
bool
vgpu_decode_store_async (VgpuBuilder *builder, const VgpuStatement *statement)
{
  const char *opcode = statement->opcode;
  bool reduces = opcode[0] == 'r';
  VgpuAddress to, barrier;
  int32_t more[VGPU_STORE_OPERANDS] = {0};
  uint32_t code = 0, bytes = vgpu_type_size (vgpu_opcode_last (opcode));
  uint32_t vec = vgpu_opcode_has (opcode, "v4") ? 4 : vgpu_opcode_has (opcode, "v2") ? 2 : 1;
  if (strstr (opcode, ".mbarrier::complete_tx::bytes") == NULL || bytes < 4 || bytes * vec > 16
      || (reduces
          && (vec > 1 || !vgpu_read_atomic_code (opcode, &code, &bytes)
              || code / 256 > VGPU_ATOM_XOR || code % 256 >= VGPU_TYPE_F16)))
    return vgpu_builder_unsupported (builder, NULL);
  if (!need (builder, 3) || !vgpu_address (builder, &statement->operands[0], &to)
      || !vgpu_address (builder, &statement->operands[2], &barrier))
    return false;
  const VgpuOperand *from = &statement->operands[1];
  const VgpuOperand *list = from->kind == VGPU_OPERAND_VECTOR ? from->list : from;
  if ((from->kind == VGPU_OPERAND_VECTOR ? from->count : 1) != vec)
    return vgpu_builder_fail (builder, "%s with a vector of another length", opcode);
  put_address (more + VGPU_STORE_TO, &to);
  put_address (more + VGPU_STORE_BARRIER, &barrier);
  for (uint32_t i = 0; i < vec; i++)
    more[VGPU_STORE_DATA + i] = vgpu_source_row (builder, &list[i], bytes);
  uint32_t extra = vgpu_extra (builder, more, VGPU_STORE_OPERANDS);
  VgpuIns *ins = vgpu_emit (builder, VGPU_OP_STORE_ASYNC);
  ins->extra = extra;
  ins->bytes = (uint8_t) bytes;
  ins->vec = (uint8_t) vec;
  ins->target = reduces ? code + 1 : 0;
  return !builder->failed;
}
