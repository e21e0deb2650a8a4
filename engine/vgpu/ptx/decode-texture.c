/* SPDX-License-Identifier: Apache-2.0 */
/* Textures and surfaces. */
#include "engine/vgpu/exec/texture-access.h"
#include "engine/vgpu/ptx/builder.h"

#include <string.h>

static const struct
{
  const char *name;
  VgpuGeometry geometry;
  uint32_t coordinates;
} geometries[] = {{"1d", VGPU_GEOMETRY_1D, 1},
                  {"2d", VGPU_GEOMETRY_2D, 2},
                  {"3d", VGPU_GEOMETRY_3D, 3},
                  {"a1d", VGPU_GEOMETRY_LAYERS_1D, 1},
                  {"a2d", VGPU_GEOMETRY_LAYERS_2D, 2},
                  {"cube", VGPU_GEOMETRY_CUBE, 3},
                  {"acube", VGPU_GEOMETRY_LAYERS_CUBE, 3}};

static bool
read_geometry (const char *opcode, VgpuGeometry *geometry, uint32_t *coordinates)
{
  for (size_t i = 0; i < sizeof geometries / sizeof geometries[0]; i++)
    if (vgpu_opcode_has (opcode, geometries[i].name))
      {
        *geometry = geometries[i].geometry;
        *coordinates = geometries[i].coordinates;
        return true;
      }
  return false;
}

static void
no_operands (int32_t *more)
{
  for (int i = 0; i < VGPU_TEX_OPERANDS; i++)
    more[i] = VGPU_TEX_NO_ROW;
}

/* [object{, sampler}, {coordinates}]; a single coordinate may stand without braces. */
static bool
read_spot (VgpuBuilder *builder, const VgpuOperand *operand, VgpuGeometry geometry,
           uint32_t coordinates, int32_t *more)
{
  if (operand->kind != VGPU_OPERAND_ADDRESS || operand->count < 2 || operand->count > 3)
    return vgpu_builder_fail (builder, "an object and coordinates expected in brackets");
  const VgpuOperand *at = &operand->list[operand->count - 1];
  const VgpuOperand *list = at->kind == VGPU_OPERAND_VECTOR ? at->list : at;
  uint32_t count = at->kind == VGPU_OPERAND_VECTOR ? at->count : 1;
  bool layered = geometry >= VGPU_GEOMETRY_LAYERS_1D && geometry != VGPU_GEOMETRY_CUBE;
  if (count < coordinates + layered)
    return vgpu_builder_fail (builder, "%s with %u coordinates", builder->statement->opcode, count);
  more[VGPU_TEX_OBJECT] = vgpu_source_row (builder, &operand->list[0], 8);
  if (operand->count == 3)
    more[VGPU_TEX_SAMPLER] = vgpu_source_row (builder, &operand->list[1], 8);
  if (layered)
    more[VGPU_TEX_LAYER] = vgpu_source_row (builder, list++, 4);
  for (uint32_t i = 0; i < coordinates; i++)
    more[VGPU_TEX_AT + i] = vgpu_source_row (builder, &list[i], 4);
  return !builder->failed;
}

static bool
read_rows (VgpuBuilder *builder, const VgpuOperand *operand, uint32_t most, int32_t *rows)
{
  const VgpuOperand *list = operand->kind == VGPU_OPERAND_VECTOR ? operand->list : operand;
  uint32_t count = operand->kind == VGPU_OPERAND_VECTOR ? operand->count : 1;
  for (uint32_t i = 0; i < count && i < most; i++)
    rows[i] = vgpu_source_row (builder, &list[i], 4);
  return !builder->failed;
}

/* What follows the spot: a level or derivatives. */
static bool
read_detail (VgpuBuilder *builder, const VgpuStatement *statement, VgpuDetail detail, int32_t *more)
{
  static const uint32_t wanted[] = {2, 3, 4};
  if (statement->operand_count != wanted[detail])
    return vgpu_builder_unsupported (builder, statement->operand_count > wanted[detail]
                                                  ? "texel offsets and depth comparison"
                                                  : NULL);
  const VgpuOperand *operands = statement->operands;
  if (detail == VGPU_DETAIL_LEVEL)
    more[VGPU_TEX_LEVEL] = vgpu_source_row (builder, &operands[2], 4);
  return detail != VGPU_DETAIL_GRADIENT
             ? !builder->failed
             : read_rows (builder, &operands[2], 3, more + VGPU_TEX_DX)
                   && read_rows (builder, &operands[3], 3, more + VGPU_TEX_DY);
}

/* tex{.base,.level,.grad}.geom.v4.dtype.ctype d{|p}, [a, c]{, level}{, dx, dy} and tld4.comp.2d… */
bool
vgpu_decode_texture (VgpuBuilder *builder, const VgpuStatement *statement)
{
  const char *opcode = statement->opcode, *last = vgpu_opcode_last (opcode);
  VgpuDestination d[4];
  VgpuGeometry geometry;
  uint32_t coordinates;
  int32_t more[VGPU_TEX_OPERANDS], channel = -1;
  no_operands (more);
  VgpuDetail detail = vgpu_opcode_has (opcode, "level")  ? VGPU_DETAIL_LEVEL
                      : vgpu_opcode_has (opcode, "grad") ? VGPU_DETAIL_GRADIENT
                                                         : VGPU_DETAIL_BASE;
  if (strncmp (opcode, "tld4.", 5) == 0)
    channel = (int32_t) (strchr ("rgba", opcode[5]) - "rgba");
  bool plain = vgpu_opcode_has (opcode, "v4") && strstr (opcode, "f16") == NULL
               && (strcmp (last, "f32") == 0 || strcmp (last, "s32") == 0) && channel < 4;
  if (!plain || !read_geometry (opcode, &geometry, &coordinates))
    return vgpu_builder_unsupported (builder, NULL);
  const VgpuOperand *to = &statement->operands[0];
  if (statement->operand_count < 2 || to->kind != VGPU_OPERAND_VECTOR || to->count != 4)
    return vgpu_builder_fail (builder, "%s needs four results and a place", opcode);
  if (!read_spot (builder, &statement->operands[1], geometry, coordinates, more)
      || !read_detail (builder, statement, detail, more))
    return false;
  for (uint32_t i = 0; i < 4; i++)
    {
      d[i] = vgpu_destination (builder, &to->list[i], 4);
      more[VGPU_TEX_DATA + i] = d[i].row;
    }
  if (to->second != VGPU_NONE)
    {
      VgpuOperand there = {.kind = VGPU_OPERAND_REGISTER, .reg = to->second};
      more[VGPU_TEX_THERE] = vgpu_predicate_destination (builder, &there);
    }
  uint32_t extra = vgpu_extra (builder, more, VGPU_TEX_OPERANDS);
  VgpuIns *ins = vgpu_emit_rows (builder, VGPU_OP_TEXTURE_FETCH, d[0].row, VGPU_NO_ROW, VGPU_NO_ROW,
                                 VGPU_NO_ROW);
  ins->extra = extra;
  ins->bytes = 4;
  ins->taint = VGPU_TAINT_HANDLED;
  ins->target = VGPU_TEX_CODE (geometry, last[0] == 's', detail, channel);
  for (uint32_t i = 0; i < 4; i++)
    vgpu_destination_done (builder, &d[i], false);
  return !builder->failed;
}

/* txq.query.b32 d, [a] and suq */
bool
vgpu_decode_texture_query (VgpuBuilder *builder, const VgpuStatement *statement)
{
  static const char *const queries[] = {"width",
                                        "height",
                                        "depth",
                                        "array_size",
                                        "num_mipmap_levels",
                                        "channel_data_type",
                                        "channel_order",
                                        "normalized_coords"};
  VgpuAddress object;
  bool surface = statement->opcode[0] == 's';
  if (statement->operand_count != 2)
    return vgpu_builder_unsupported (builder, "queries of a level");
  for (uint32_t i = 0; i < sizeof queries / sizeof queries[0]; i++)
    if (vgpu_opcode_has (statement->opcode, queries[i]))
      {
        if (!vgpu_address (builder, &statement->operands[1], &object) || !object.wide)
          return vgpu_builder_fail (builder, "an object of 64 bits expected");
        VgpuDestination d = vgpu_destination (builder, &statement->operands[0], 4);
        VgpuIns *ins = vgpu_emit_rows (builder, VGPU_OP_TEXTURE_QUERY, d.row, object.row,
                                       VGPU_NO_ROW, VGPU_NO_ROW);
        ins->taint = VGPU_TAINT_CLEAN;
        ins->target = i | (uint32_t) surface << 8;
        vgpu_destination_done (builder, &d, false);
        return !builder->failed;
      }
  return vgpu_builder_unsupported (builder, NULL);
}

/* The access and the size of one element; 0: not one of these. */
static uint32_t
read_work (const char *opcode, VgpuSurfaceWork *work, bool *is_signed)
{
  static const char *const reductions[] = {"add", "min", "max", "and", "or"};
  static const char *const types[] = {"u32", "s32", "b32", "u64", "s64", "b64"};
  const char *before = opcode + strlen (opcode);
  *is_signed = false;
  *work = opcode[2] == 'l' ? VGPU_SURFACE_LOAD : VGPU_SURFACE_STORE;
  while (before > opcode && *before != '.')
    before--;
  if (strncmp (opcode, "sured.b.", 8) == 0)
    {
      for (int i = 0; i < 6; i++)
        if (vgpu_opcode_has (opcode, types[i]))
          for (int j = 0; j < 5; j++)
            if (vgpu_opcode_has (opcode, reductions[j]))
              {
                *work = (VgpuSurfaceWork) (VGPU_SURFACE_ADD + j);
                *is_signed = types[i][0] == 's';
                return i < 3 ? 4 : 8;
              }
      return 0;
    }
  return strncmp (opcode + 4, ".b.", 3) != 0 ? 0
         : vgpu_opcode_has (opcode, "b8")    ? 1
         : vgpu_opcode_has (opcode, "b16")   ? 2
         : vgpu_opcode_has (opcode, "b32")   ? 4
         : vgpu_opcode_has (opcode, "b64")   ? 8
                                             : 0;
}

/* suld.b.geom{.vec}.type.clamp d, [a, b]; sust.b… [a, b], c; sured.b.op.geom.type.clamp [a, b], c */
bool
vgpu_decode_surface (VgpuBuilder *builder, const VgpuStatement *statement)
{
  const char *opcode = statement->opcode, *last = vgpu_opcode_last (opcode);
  VgpuDestination d[4];
  VgpuGeometry geometry;
  VgpuSurfaceWork work;
  bool is_signed;
  uint32_t coordinates;
  int32_t more[VGPU_TEX_OPERANDS];
  no_operands (more);
  uint32_t bytes = read_work (opcode, &work, &is_signed);
  uint32_t vec = vgpu_opcode_has (opcode, "v4") ? 4 : vgpu_opcode_has (opcode, "v2") ? 2 : 1;
  bool loads = work == VGPU_SURFACE_LOAD;
  VgpuOutside outside = strcmp (last, "clamp") == 0  ? VGPU_OUTSIDE_CLAMP
                        : strcmp (last, "zero") == 0 ? VGPU_OUTSIDE_ZERO
                                                     : VGPU_OUTSIDE_TRAP;
  if (bytes == 0 || bytes * vec > 16 || !read_geometry (opcode, &geometry, &coordinates))
    return vgpu_builder_unsupported (builder, NULL);
  if (statement->operand_count != 2)
    return vgpu_builder_fail (builder, "%s needs two operands", opcode);
  const VgpuOperand *data = &statement->operands[!loads];
  const VgpuOperand *list = data->kind == VGPU_OPERAND_VECTOR ? data->list : data;
  if ((data->kind == VGPU_OPERAND_VECTOR ? data->count : 1) != vec)
    return vgpu_builder_fail (builder, "%s with a vector of another length", opcode);
  if (!read_spot (builder, &statement->operands[loads], geometry, coordinates, more))
    return false;
  uint32_t row_bytes = bytes == 1 ? 2 : bytes;
  for (uint32_t i = 0; i < vec; i++)
    if (loads)
      {
        d[i] = vgpu_destination (builder, &list[i], row_bytes);
        more[VGPU_TEX_DATA + i] = d[i].row;
      }
    else
      more[VGPU_TEX_DATA + i] = vgpu_source_row (builder, &list[i], row_bytes);
  uint32_t extra = vgpu_extra (builder, more, VGPU_TEX_OPERANDS);
  VgpuIns *ins = vgpu_emit (builder, VGPU_OP_SURFACE_ACCESS);
  ins->extra = extra;
  ins->bytes = (uint8_t) bytes;
  ins->vec = (uint8_t) vec;
  ins->flags |= is_signed ? VGPU_INS_SIGNED : 0;
  ins->taint = VGPU_TAINT_HANDLED;
  ins->target = VGPU_SURFACE_CODE (geometry, work, outside);
  for (uint32_t i = 0; loads && i < vec; i++)
    vgpu_destination_done (builder, &d[i], false);
  return !builder->failed;
}
