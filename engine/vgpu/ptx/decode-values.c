/* SPDX-License-Identifier: Apache-2.0 */
/* Moves, conversions, comparisons. */
#include "engine/vgpu/exec/atomics.h"
#include "engine/vgpu/exec/video.h"
#include "engine/vgpu/ptx/builder.h"

#include <stdio.h>
#include <string.h>

static bool
need (VgpuBuilder *builder, uint32_t count)
{
  return builder->statement->operand_count >= count
         || vgpu_builder_fail (builder, "%s with too few operands", builder->statement->opcode);
}

/* mov.b64 {a, b}, c: elements from low to high. */
static bool
unpack (VgpuBuilder *builder, const VgpuOperand *to, const VgpuOperand *from, uint32_t bytes)
{
  uint32_t part = to->count > 0 ? bytes / to->count : 0;
  if (part != 2 && part != 4)
    return vgpu_builder_unsupported (builder, NULL);
  int32_t row = vgpu_source_row (builder, from, bytes);
  for (uint32_t i = 0; i < to->count && !builder->failed; i++)
    {
      if (to->list[i].kind == VGPU_OPERAND_SINK)
        continue;
      int32_t at = row;
      uint32_t have = bytes, index = i;
      if (have == 8 && part == 2)
        {
          at = vgpu_new_row (builder, 4);
          vgpu_emit_rows (builder, index < 2 ? VGPU_OP_COPY_LOW_32_64 : VGPU_OP_UPPER_32_64, at,
                          row, VGPU_NO_ROW, VGPU_NO_ROW);
          have = 4;
          index %= 2;
        }
      VgpuOp op = have == 8 ? (index == 0 ? VGPU_OP_COPY_LOW_32_64 : VGPU_OP_UPPER_32_64)
                            : (index == 0 ? VGPU_OP_COPY_LOW_16_32 : VGPU_OP_UPPER_16_32);
      VgpuDestination d = vgpu_destination (builder, &to->list[i], part);
      vgpu_emit_rows (builder, op, d.row, at, VGPU_NO_ROW, VGPU_NO_ROW);
      vgpu_destination_done (builder, &d, false);
    }
  return !builder->failed;
}

static bool
pack (VgpuBuilder *builder, const VgpuOperand *to, const VgpuOperand *from, uint32_t bytes)
{
  uint32_t part = from->count > 0 ? bytes / from->count : 0;
  int32_t rows[4];
  if ((part != 2 && part != 4) || from->count > 4)
    return vgpu_builder_unsupported (builder, NULL);
  for (uint32_t i = 0; i < from->count; i++)
    rows[i] = vgpu_source_row (builder, &from->list[i], part);
  if (part == 2 && bytes == 8)
    for (int i = 0; i < 2; i++)
      {
        int32_t both = vgpu_new_row (builder, 4);
        vgpu_emit_rows (builder, VGPU_OP_PACK_32_16, both, rows[2 * i], rows[2 * i + 1],
                        VGPU_NO_ROW);
        rows[i] = both;
      }
  VgpuDestination d = vgpu_destination (builder, to, bytes);
  vgpu_emit_rows (builder, bytes == 8 ? VGPU_OP_PACK_64_32 : VGPU_OP_PACK_32_16, d.row, rows[0],
                  rows[1], VGPU_NO_ROW);
  vgpu_destination_done (builder, &d, false);
  return !builder->failed;
}

static bool
move_special (VgpuBuilder *builder, const VgpuStatement *statement, uint32_t bytes)
{
  const char *name = statement->operands[1].name;
  VgpuDestination d = vgpu_destination (builder, &statement->operands[0], bytes);
  if (strncmp (name, "%clock", 6) == 0 || strncmp (name, "%globaltimer", 12) == 0)
    {
      VgpuIns *ins =
          vgpu_emit_rows (builder, VGPU_OP_CLOCK, d.row, VGPU_NO_ROW, VGPU_NO_ROW, VGPU_NO_ROW);
      ins->bytes = (uint8_t) bytes;
      ins->imm = strstr (name, "_hi") != NULL;
    }
  else
    {
      int32_t row = vgpu_source_row (builder, &statement->operands[1], bytes);
      vgpu_resize (builder, row, bytes, d.row, bytes, false);
    }
  vgpu_destination_done (builder, &d, false);
  return !builder->failed;
}

bool
vgpu_decode_move (VgpuBuilder *builder, const VgpuStatement *statement)
{
  if (!need (builder, 2))
    return false;
  const VgpuOperand *to = &statement->operands[0], *from = &statement->operands[1];
  if (strcmp (statement->opcode, "mov.pred") == 0)
    {
      int32_t a = vgpu_predicate_row (builder, from);
      int32_t d = vgpu_predicate_destination (builder, to);
      VgpuIns *ins = vgpu_emit_rows (builder, VGPU_OP_PRED_MOV, d, a, VGPU_NO_ROW, VGPU_NO_ROW);
      ins->flags |= from->negated ? VGPU_INS_NEGATED : 0;
      return !builder->failed;
    }
  uint32_t bytes = vgpu_type_size (vgpu_opcode_last (statement->opcode));
  if (bytes != 2 && bytes != 4 && bytes != 8)
    return vgpu_builder_unsupported (builder, NULL);
  if (to->kind == VGPU_OPERAND_VECTOR && from->kind == VGPU_OPERAND_VECTOR)
    return vgpu_builder_unsupported (builder, NULL);
  if (to->kind == VGPU_OPERAND_VECTOR)
    return unpack (builder, to, from, bytes);
  if (from->kind == VGPU_OPERAND_VECTOR)
    return pack (builder, to, from, bytes);
  if (from->kind == VGPU_OPERAND_SPECIAL)
    return move_special (builder, statement, bytes);
  return vgpu_builder_unsupported (builder, NULL);
}

static const struct
{
  const char *name;
  VgpuType type;
  uint8_t bytes;
  bool is_integer;
  bool is_signed;
} types[] = {
    {"u8", VGPU_TYPE_U8, 1, true, false},         {"s8", VGPU_TYPE_S8, 1, true, true},
    {"u16", VGPU_TYPE_U16, 2, true, false},       {"s16", VGPU_TYPE_S16, 2, true, true},
    {"u32", VGPU_TYPE_U32, 4, true, false},       {"s32", VGPU_TYPE_S32, 4, true, true},
    {"u64", VGPU_TYPE_U64, 8, true, false},       {"s64", VGPU_TYPE_S64, 8, true, true},
    {"f16", VGPU_TYPE_F16, 2, false, true},       {"bf16", VGPU_TYPE_BF16, 2, false, true},
    {"f32", VGPU_TYPE_F32, 4, false, true},       {"f64", VGPU_TYPE_F64, 8, false, true},
    {"f16x2", VGPU_TYPE_F16X2, 4, false, true},   {"bf16x2", VGPU_TYPE_BF16X2, 4, false, true},
    {"e4m3x2", VGPU_TYPE_E4M3X2, 2, false, true}, {"e5m2x2", VGPU_TYPE_E5M2X2, 2, false, true},
};

static int
find_type (const char *name, size_t length)
{
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
    if (strlen (types[i].name) == length && memcmp (types[i].name, name, length) == 0)
      return (int) i;
  return -1;
}

/* Integer to integer without saturation: keep the low bits, or extend. */
static bool
convert_integers (VgpuBuilder *builder, const VgpuStatement *statement, int to, int from)
{
  uint32_t in = types[from].bytes == 1 ? 2 : types[from].bytes;
  uint32_t out = types[to].bytes == 1 ? 2 : types[to].bytes;
  int32_t row = vgpu_source_row (builder, &statement->operands[1], in);
  if (types[from].bytes == 1)
    {
      int32_t byte = vgpu_new_row (builder, 2);
      vgpu_emit_rows (builder,
                      types[from].is_signed ? VGPU_OP_SIGN_EXTEND_16_8 : VGPU_OP_ZERO_EXTEND_16_8,
                      byte, row, VGPU_NO_ROW, VGPU_NO_ROW);
      row = byte;
    }
  VgpuDestination d = vgpu_destination (builder, &statement->operands[0], out);
  if (types[to].bytes > 1)
    vgpu_resize (builder, row, in, d.row, out, types[from].is_signed);
  else
    {
      int32_t low = vgpu_new_row (builder, 2);
      vgpu_resize (builder, row, in, low, 2, false);
      vgpu_emit_rows (builder,
                      types[to].is_signed ? VGPU_OP_SIGN_EXTEND_16_8 : VGPU_OP_ZERO_EXTEND_16_8,
                      d.row, low, VGPU_NO_ROW, VGPU_NO_ROW);
    }
  vgpu_destination_done (builder, &d, types[to].is_signed);
  return !builder->failed;
}

static bool
read_conversion (const char *opcode, int *to, int *from, uint32_t *flags, int64_t *integral)
{
  static const char *const known[] = {"rn",  "rz",  "rm",  "rp",  "rni",  "rzi",
                                      "rmi", "rpi", "ftz", "sat", "relu", "satfinite"};
  *to = *from = -1;
  *flags = 0;
  *integral = 0;
  for (const char *dot = strchr (opcode, '.'); dot != NULL;)
    {
      const char *word = dot + 1;
      dot = strchr (word, '.');
      size_t length = dot != NULL ? (size_t) (dot - word) : strlen (word);
      int type = find_type (word, length), modifier = -1;
      for (int i = 0; i < 12; i++)
        if (strlen (known[i]) == length && memcmp (known[i], word, length) == 0)
          modifier = i;
      if (type >= 0)
        *(*to < 0 ? to : from) = type;
      else if (modifier < 0)
        return false;
      else if (modifier < 8)
        {
          *flags |= (uint32_t) (modifier % 4) << 2;
          *integral = modifier >= 4 ? 1 : *integral;
        }
      else
        *flags |= modifier == 8    ? VGPU_INS_FTZ
                  : modifier == 9  ? VGPU_INS_SAT
                  : modifier == 10 ? VGPU_INS_RELU
                                   : VGPU_INS_SAT;
    }
  return *to >= 0 && *from >= 0;
}

bool
vgpu_decode_convert (VgpuBuilder *builder, const VgpuStatement *statement)
{
  int to, from;
  uint32_t flags;
  int64_t integral;
  if (!need (builder, 2))
    return false;
  if (!read_conversion (statement->opcode, &to, &from, &flags, &integral))
    return vgpu_builder_unsupported (builder, NULL);
  if (types[to].is_integer && types[from].is_integer && !(flags & VGPU_INS_SAT))
    return convert_integers (builder, statement, to, from);
  bool pair = types[to].type >= VGPU_TYPE_F16X2 && types[from].type == VGPU_TYPE_F32;
  if (statement->operand_count != (pair ? 3u : 2u))
    return vgpu_builder_unsupported (builder, NULL);
  uint32_t in = types[from].bytes == 1 ? 2 : types[from].bytes;
  uint32_t out = types[to].bytes == 1 ? 2 : types[to].bytes;
  int32_t a = vgpu_source_row (builder, &statement->operands[1], in);
  int32_t b = pair ? vgpu_source_row (builder, &statement->operands[2], in) : VGPU_NO_ROW;
  VgpuDestination d = vgpu_destination (builder, &statement->operands[0], out);
  VgpuIns *ins = vgpu_emit_rows (builder, VGPU_OP_CVT_ANY, d.row, a, b, VGPU_NO_ROW);
  ins->flags |= flags;
  ins->imm = integral;
  ins->bytes = (uint8_t) types[to].type;
  ins->vec = (uint8_t) types[from].type;
  vgpu_destination_done (builder, &d, types[to].is_signed);
  return !builder->failed;
}

/* Comparison of two rows of a type into a fresh predicate row. */
static int32_t
compare_rows (VgpuBuilder *builder, const char *cmp, const char *type, bool ftz, int32_t a,
              int32_t b)
{
  char key[32];
  uint32_t flags;
  bool half = strcmp (type, "f16") == 0, bfloat = strcmp (type, "bf16") == 0;
  if (half || bfloat)
    {
      int32_t *sides[2] = {&a, &b};
      for (int i = 0; i < 2; i++)
        {
          int32_t wide = vgpu_new_row (builder, 4);
          vgpu_emit_rows (builder, half ? VGPU_OP_CVT_F32_F16 : VGPU_OP_CVT_F32_BF16, wide,
                          *sides[i], VGPU_NO_ROW, VGPU_NO_ROW);
          *sides[i] = wide;
        }
      type = "f32";
    }
  else if (ftz)
    {
      int32_t *sides[2] = {&a, &b};
      for (int i = 0; i < 2; i++)
        {
          int32_t flushed = vgpu_new_row (builder, 4);
          vgpu_emit_rows (builder, VGPU_OP_FLUSH_F32, flushed, *sides[i], VGPU_NO_ROW, VGPU_NO_ROW);
          *sides[i] = flushed;
        }
    }
  snprintf (key, sizeof key, "%s.%s", cmp, type);
  VgpuOp op = vgpu_operation_find (key, true, &flags);
  if (op == VGPU_OP_COUNT)
    {
      vgpu_builder_unsupported (builder, NULL);
      return 0;
    }
  int32_t result = vgpu_new_row (builder, 1);
  vgpu_emit_rows (builder, op, result, a, b, VGPU_NO_ROW);
  return result;
}

typedef struct
{
  char cmp[8];
  char type[8];
  char other[8]; /* destination type of set */
  uint32_t combine;
  bool ftz;
} Comparison;

static bool
read_comparison (VgpuBuilder *builder, Comparison *comparison, bool is_set)
{
  const char *at = strchr (builder->statement->opcode, '.');
  memset (comparison, 0, sizeof *comparison);
  for (int part = 0; at != NULL; part++)
    {
      char word[8] = {0};
      const char *start = at + 1;
      at = strchr (start, '.');
      size_t length = at != NULL ? (size_t) (at - start) : strlen (start);
      if (length >= sizeof word)
        return vgpu_builder_unsupported (builder, NULL);
      memcpy (word, start, length);
      if (part == 0)
        memcpy (comparison->cmp, word, sizeof word);
      else if (strcmp (word, "ftz") == 0)
        comparison->ftz = true;
      else if (strcmp (word, "and") == 0)
        comparison->combine = VGPU_COMBINE_AND;
      else if (strcmp (word, "or") == 0)
        comparison->combine = VGPU_COMBINE_OR;
      else if (strcmp (word, "xor") == 0)
        comparison->combine = VGPU_COMBINE_XOR;
      else if (is_set && comparison->other[0] == '\0')
        memcpy (comparison->other, word, sizeof word);
      else
        memcpy (comparison->type, word, sizeof word);
    }
  return comparison->type[0] != '\0' || vgpu_builder_unsupported (builder, NULL);
}

static bool
is_pair (const char *type)
{
  return strcmp (type, "f16x2") == 0 || strcmp (type, "bf16x2") == 0;
}

/* Both halves of two packed operands, compared: results[0] is that of the lower. */
static void
compare_pairs (VgpuBuilder *builder, const Comparison *comparison, int32_t a, int32_t b,
               int32_t *results)
{
  const char *type = comparison->type[0] == 'b' ? "bf16" : "f16";
  for (int i = 0; i < 2; i++)
    {
      VgpuOp op = i == 0 ? VGPU_OP_COPY_LOW_16_32 : VGPU_OP_UPPER_16_32;
      int32_t x = vgpu_new_row (builder, 2), y = vgpu_new_row (builder, 2);
      vgpu_emit_rows (builder, op, x, a, VGPU_NO_ROW, VGPU_NO_ROW);
      vgpu_emit_rows (builder, op, y, b, VGPU_NO_ROW, VGPU_NO_ROW);
      results[i] = compare_rows (builder, comparison->cmp, type, comparison->ftz, x, y);
    }
}

static void
put_predicate (VgpuBuilder *builder, const Comparison *comparison, int32_t to, int32_t from,
               int32_t with, bool with_negated, bool negated)
{
  static const VgpuOp ops[] = {VGPU_OP_PRED_MOV, VGPU_OP_PRED_AND, VGPU_OP_PRED_OR,
                               VGPU_OP_PRED_XOR};
  if (negated)
    {
      int32_t inverse = vgpu_new_row (builder, 1);
      vgpu_emit_rows (builder, VGPU_OP_PRED_NOT, inverse, from, VGPU_NO_ROW, VGPU_NO_ROW);
      from = inverse;
    }
  VgpuIns *ins =
      vgpu_emit_rows (builder, ops[comparison->combine >> 13], to, from, with, VGPU_NO_ROW);
  ins->flags |= with_negated && comparison->combine != 0 ? VGPU_INS_SPLIT_NEGATED : 0;
}

bool
vgpu_decode_compare (VgpuBuilder *builder, const VgpuStatement *statement)
{
  Comparison comparison;
  const VgpuOperand *operands = statement->operands;
  if (!read_comparison (builder, &comparison, false)
      || !need (builder, comparison.combine != 0 ? 4 : 3))
    return false;
  bool pair = is_pair (comparison.type);
  uint32_t bytes = vgpu_type_size (comparison.type);
  if (bytes < 2 || bytes > 8)
    return vgpu_builder_unsupported (builder, NULL);
  int32_t a = vgpu_source_row (builder, &operands[1], bytes);
  int32_t b = vgpu_source_row (builder, &operands[2], bytes);
  int32_t with = comparison.combine != 0 ? vgpu_predicate_row (builder, &operands[3]) : VGPU_NO_ROW;
  bool with_negated = comparison.combine != 0 && operands[3].negated;
  int32_t results[2];
  if (pair)
    compare_pairs (builder, &comparison, a, b, results);
  else
    results[0] = results[1] =
        compare_rows (builder, comparison.cmp, comparison.type, comparison.ftz, a, b);
  if (builder->failed)
    return false;
  int32_t first = vgpu_predicate_destination (builder, &operands[0]);
  /* Straight into its register when nothing else is asked. */
  if (!pair && comparison.combine == 0 && operands[0].second == VGPU_NONE && !builder->failed)
    {
      builder->kernel->code[builder->kernel->code_count - 1].d = first;
      return true;
    }
  if (operands[0].second != VGPU_NONE && operands[0].kind == VGPU_OPERAND_REGISTER)
    {
      VgpuOperand second = {.kind = VGPU_OPERAND_REGISTER, .reg = operands[0].second};
      put_predicate (builder, &comparison, vgpu_predicate_row (builder, &second), results[1], with,
                     with_negated, !pair);
    }
  put_predicate (builder, &comparison, first, results[0], with, with_negated, false);
  return !builder->failed;
}

static void
set_value (VgpuBuilder *builder, int32_t d, int32_t predicate, uint32_t bytes, uint64_t value)
{
  VgpuIns *ins = vgpu_emit_rows (builder, VGPU_OP_SET_MASK, d, predicate, VGPU_NO_ROW, VGPU_NO_ROW);
  ins->imm = (int64_t) value;
  ins->bytes = (uint8_t) bytes;
}

bool
vgpu_decode_set (VgpuBuilder *builder, const VgpuStatement *statement)
{
  static const struct
  {
    const char *type;
    uint64_t value;
  } ones[] = {{"u32", 0xffffffff}, {"s32", 0xffffffff}, {"f32", 0x3f800000},
              {"u16", 0xffff},     {"s16", 0xffff},     {"f16", 0x3c00},
              {"bf16", 0x3f80},    {"f16x2", 0x3c00},   {"bf16x2", 0x3f80}};
  Comparison comparison;
  if (!need (builder, 3) || !read_comparison (builder, &comparison, true))
    return false;
  bool pair = is_pair (comparison.type);
  uint32_t bytes = vgpu_type_size (comparison.type);
  uint32_t out = vgpu_type_size (comparison.other);
  uint64_t one = 0;
  for (size_t i = 0; i < sizeof ones / sizeof ones[0]; i++)
    if (strcmp (ones[i].type, comparison.other) == 0)
      one = ones[i].value;
  if (one == 0 || comparison.combine != 0 || bytes < 2 || bytes > 8)
    return vgpu_builder_unsupported (builder, NULL);
  int32_t a = vgpu_source_row (builder, &statement->operands[1], bytes);
  int32_t b = vgpu_source_row (builder, &statement->operands[2], bytes);
  VgpuDestination d = vgpu_destination (builder, &statement->operands[0], out);
  if (pair)
    {
      int32_t results[2], halves[2];
      /* set.u32.f16x2 fills each half with ones. */
      uint64_t half = out == 4 && one == 0xffffffff ? 0xffff : one;
      compare_pairs (builder, &comparison, a, b, results);
      for (int i = 0; i < 2; i++)
        {
          halves[i] = vgpu_new_row (builder, 2);
          set_value (builder, halves[i], results[i], 2, half);
        }
      vgpu_emit_rows (builder, VGPU_OP_PACK_32_16, d.row, halves[0], halves[1], VGPU_NO_ROW);
    }
  else
    {
      int32_t result =
          compare_rows (builder, comparison.cmp, comparison.type, comparison.ftz, a, b);
      set_value (builder, d.row, result, out, one);
    }
  vgpu_destination_done (builder, &d, false);
  return !builder->failed;
}

/* lop3.{or,and}.b32 d|p, a, b, c, table, q: p is whether d has a bit set, combined with q */
bool
vgpu_decode_logic (VgpuBuilder *builder, const VgpuStatement *statement)
{
  const VgpuOperand *operands = statement->operands;
  bool either = vgpu_opcode_has (statement->opcode, "or");
  if ((!either && !vgpu_opcode_has (statement->opcode, "and"))
      || strcmp (vgpu_opcode_last (statement->opcode), "b32") != 0)
    return vgpu_builder_unsupported (builder, NULL);
  if (!need (builder, 6) || operands[0].second == VGPU_NONE)
    return vgpu_builder_fail (builder, "%s needs a predicate behind '|'", statement->opcode);
  int32_t a = vgpu_source_row (builder, &operands[1], 4);
  int32_t b = vgpu_source_row (builder, &operands[2], 4);
  int32_t c = vgpu_source_row (builder, &operands[3], 4);
  int32_t q = vgpu_predicate_row (builder, &operands[5]);
  VgpuOperand there = {.kind = VGPU_OPERAND_REGISTER, .reg = operands[0].second};
  VgpuDestination d = vgpu_destination (builder, &operands[0], 4);
  vgpu_emit_rows (builder, VGPU_OP_LOP3, d.row, a, b, c)->imm = operands[4].value;
  int32_t any = vgpu_new_row (builder, 1);
  vgpu_emit_rows (builder, VGPU_OP_SETP_NE_32, any, d.row, vgpu_constant (builder, 4, 0),
                  VGPU_NO_ROW);
  int32_t p = vgpu_predicate_destination (builder, &there);
  VgpuIns *ins =
      vgpu_emit_rows (builder, either ? VGPU_OP_PRED_OR : VGPU_OP_PRED_AND, p, any, q, VGPU_NO_ROW);
  ins->flags |= operands[5].negated ? VGPU_INS_SPLIT_NEGATED : 0;
  vgpu_destination_done (builder, &d, false);
  return !builder->failed;
}

/* vadd4.d.a.b{.sat,.add} d, a, b, c and its like: c is what sums are added to, and else is not looked at. */
bool
vgpu_decode_video (VgpuBuilder *builder, const VgpuStatement *statement)
{
  static const char *const works[VGPU_VIDEO_WORKS] = {"vadd",     "vsub", "vavrg",
                                                      "vabsdiff", "vmin", "vmax"};
  const char *opcode = statement->opcode, *types = strchr (opcode, '.');
  char types_want[3][5];
  uint32_t code = VGPU_VIDEO_WORKS;
  int at = 0;
  size_t stem = strcspn (opcode, ".") - 1;
  for (uint32_t i = 0; i < VGPU_VIDEO_WORKS; i++)
    if (strlen (works[i]) == stem && strncmp (works[i], opcode, stem) == 0)
      code = i;
  if (code == VGPU_VIDEO_WORKS || types == NULL
      || sscanf (types, ".%3[us32].%3[us32].%3[us32]%n", types_want[0], types_want[1],
                 types_want[2], &at)
             != 3)
    return vgpu_builder_unsupported (builder, NULL);
  const char *rest = types + at;
  bool sums = strcmp (rest, ".add") == 0, saturates = strcmp (rest, ".sat") == 0;
  if (!sums && !saturates && *rest != '\0')
    return vgpu_builder_unsupported (builder, NULL);
  if (!need (builder, 4))
    return false;
  for (uint32_t i = 0; i < 3; i++)
    code |= types_want[i][0] == 's' ? (uint32_t) VGPU_VIDEO_SIGNED_D << i : 0;
  code |= (sums ? VGPU_VIDEO_SUMS : 0) | (saturates ? VGPU_VIDEO_SATURATES : 0);
  const VgpuOperand *operands = statement->operands;
  int32_t a = vgpu_source_row (builder, &operands[1], 4);
  int32_t b = vgpu_source_row (builder, &operands[2], 4);
  int32_t c = vgpu_source_row (builder, &operands[3], 4);
  VgpuDestination d = vgpu_destination (builder, &operands[0], 4);
  VgpuIns *ins = vgpu_emit_rows (builder, VGPU_OP_VIDEO, d.row, a, b, c);
  ins->target = code;
  ins->bytes = opcode[stem] == '4' ? 1 : 2;
  ins->taint = VGPU_TAINT_MIX;
  vgpu_destination_done (builder, &d, false);
  return !builder->failed;
}
