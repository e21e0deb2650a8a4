/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix instructions and the copies that feed them. Products are exact, the sum is taken in
 * binary64 and rounded once: the answer that does not depend on an order which the ISA leaves
 * open. */
#include "engine/vgpu/exec/control.h"
#include "engine/vgpu/exec/handlers.h"
#include "engine/vgpu/exec/matrix.h"
#include "engine/vgpu/exec/request.h"

#define MAX_SIDE 32

static const s32 *
form_of (const VgpuWarp *warp, const VgpuIns *ins, VgpuMatrixForm *form)
{
  const s32 *words = warp->kernel->extra + ins->extra;
  __builtin_memcpy (form, words, sizeof *form);
  return words + VGPU_MATRIX_FORM_WORDS;
}

/* One element of every lane as binary64. */
static inline void
read_elements (const u32 *row, u32 element, s32 type, f64 *values)
{
  switch (type)
    {
    case VGPU_TYPE_F16:
      for (int lane = 0; lane < VGPU_LANES; lane++)
        values[lane] = assay_half_to_float ((u16) (row[lane] >> (16 * element)));
      return;
    case VGPU_TYPE_BF16:
      for (int lane = 0; lane < VGPU_LANES; lane++)
        values[lane] = assay_bfloat_to_float ((u16) (row[lane] >> (16 * element)));
      return;
    case VGPU_TYPE_U8:
      for (int lane = 0; lane < VGPU_LANES; lane++)
        values[lane] = (u8) (row[lane] >> (8 * element));
      return;
    case VGPU_TYPE_S8:
      for (int lane = 0; lane < VGPU_LANES; lane++)
        values[lane] = (s8) (row[lane] >> (8 * element));
      return;
    case VGPU_TYPE_S32:
      for (int lane = 0; lane < VGPU_LANES; lane++)
        values[lane] = (s32) row[lane];
      return;
    case VGPU_TYPE_U32:
      /* tf32: the low 13 bits are ignored. */
      for (int lane = 0; lane < VGPU_LANES; lane++)
        values[lane] = assay_float_from_bits (row[lane] & ~0x1fffu);
      return;
    default:
      for (int lane = 0; lane < VGPU_LANES; lane++)
        values[lane] = assay_float_from_bits (row[lane]);
    }
}

static void
gather (const VgpuWarp *warp, const VgpuMatrixForm *form, VgpuMatrixPart part, s32 type,
        const s32 *rows, f64 (*matrix)[MAX_SIDE])
{
  const u32 per = vgpu_matrix_per_register (type);
  const s32 *map = warp->kernel->extra + form->maps[part];
  for (s32 reg = 0; reg < form->registers[part]; reg++)
    for (u32 element = 0; element < per; element++, map += VGPU_LANES)
      {
        f64 values[VGPU_LANES];
        read_elements (VGPU_ROW (const u32, rows[reg]), element, type, values);
        for (int lane = 0; lane < VGPU_LANES; lane++)
          matrix[VGPU_MATRIX_ROW (map[lane])][VGPU_MATRIX_COLUMN (map[lane])] = values[lane];
      }
}

static inline u32
bits_of (f64 value, s32 type)
{
  switch (type)
    {
    case VGPU_TYPE_F16:
      return value != value ? 0x7fff : assay_double_to_half (value);
    case VGPU_TYPE_S32:
      return (u32) (s64) value;
    default:
      return assay_float_bits (canonical ((f32) value));
    }
}

static void
scatter (VgpuWarp *warp, const VgpuMatrixForm *form, const s32 *rows, f64 (*matrix)[MAX_SIDE])
{
  const u32 per = vgpu_matrix_per_register (form->result);
  const s32 *map = warp->kernel->extra + form->maps[VGPU_MATRIX_D];
  for (s32 reg = 0; reg < form->registers[VGPU_MATRIX_D]; reg++)
    {
      u32 *row = VGPU_ROW (u32, rows[reg]);
      for (u32 element = 0; element < per; element++, map += VGPU_LANES)
        for (int lane = 0; lane < VGPU_LANES; lane++)
          {
            const f64 value = matrix[VGPU_MATRIX_ROW (map[lane])][VGPU_MATRIX_COLUMN (map[lane])];
            const u32 bits = bits_of (value, form->result) << (16 * element);
            row[lane] = element == 0 ? bits : row[lane] | bits;
          }
    }
}

typedef struct
{
  u8 places[MAX_SIDE][MAX_SIDE];
  u32 origin;
} Doubt;

/* Marks the places of a matrix that come from uninitialised registers. */
static void
gather_doubt (const VgpuWarp *warp, const VgpuMatrixForm *form, VgpuMatrixPart part, s32 type,
              const s32 *rows, Doubt *doubt)
{
  const u32 per = vgpu_matrix_per_register (type);
  const s32 *map = warp->kernel->extra + form->maps[part];
  for (s32 reg = 0; reg < form->registers[part]; reg++)
    {
      const u32 poison = rows[reg] < 0 ? 0 : warp->poison[rows[reg] / VGPU_ROW_UNIT];
      if (poison != 0)
        doubt->origin = warp->origin[rows[reg] / VGPU_ROW_UNIT];
      for (u32 element = 0; element < per; element++, map += VGPU_LANES)
        for (u32 left = poison; left != 0; left &= left - 1)
          {
            const s32 at = map[__builtin_ctz (left)];
            doubt->places[VGPU_MATRIX_ROW (at)][VGPU_MATRIX_COLUMN (at)] = 1;
          }
    }
}

/* A doubtful element of a spoils its row of the result, one of b its column. */
static void
taint_product (VgpuWarp *warp, const VgpuMatrixForm *form, const s32 *rows)
{
  const s32 *rows_a = rows + form->registers[0], *rows_b = rows_a + form->registers[1];
  Doubt a = {.origin = 0}, b = {.origin = 0}, c = {.origin = 0};
  u8 bad_rows[MAX_SIDE] = {0}, bad_columns[MAX_SIDE] = {0};
  if (!warp->tainted)
    return;
  gather_doubt (warp, form, VGPU_MATRIX_A, form->type, rows_a, &a);
  gather_doubt (warp, form, VGPU_MATRIX_B, form->type_b, rows_b, &b);
  gather_doubt (warp, form, VGPU_MATRIX_C, form->accumulator, rows_b + form->registers[2], &c);
  for (int i = 0; i < MAX_SIDE; i++)
    for (int j = 0; j < MAX_SIDE; j++)
      {
        bad_rows[i] |= a.places[i][j];
        bad_columns[j] |= b.places[i][j];
      }
  const u32 per = vgpu_matrix_per_register (form->result);
  const s32 *map = warp->kernel->extra + form->maps[VGPU_MATRIX_D];
  for (s32 reg = 0; reg < form->registers[0]; reg++)
    {
      u32 poison = 0;
      for (u32 element = 0; element < per; element++, map += VGPU_LANES)
        for (u32 lane = 0; lane < VGPU_LANES; lane++)
          {
            const u32 row = VGPU_MATRIX_ROW (map[lane]), column = VGPU_MATRIX_COLUMN (map[lane]);
            const u8 bad = bad_rows[row] | bad_columns[column] | c.places[row][column];
            poison |= (u32) bad << lane;
          }
      warp->poison[rows[reg] / VGPU_ROW_UNIT] = poison;
      if (poison != 0)
        warp->origin[rows[reg] / VGPU_ROW_UNIT] = a.origin != 0   ? a.origin
                                                  : b.origin != 0 ? b.origin
                                                                  : c.origin;
    }
}

typedef f64 Eight __attribute__ ((vector_size (64), aligned (8)));

/* Eight columns at a time: all shapes are multiples. */
static void
multiply (const VgpuMatrixForm *form, f64 (*a)[MAX_SIDE], f64 (*b)[MAX_SIDE], f64 (*d)[MAX_SIDE])
{
  for (s32 j = 0; j < form->n; j += 8)
    for (s32 i = 0; i < form->m; i++)
      {
        Eight sum = *(const Eight *) &d[i][j];
        for (s32 k = 0; k < form->k; k++)
          sum += a[i][k] * *(const Eight *) &b[k][j];
        *(Eight *) &d[i][j] = sum;
      }
}

VGPU_HANDLER (MMA)
{
  VgpuMatrixForm form;
  const s32 *rows = form_of (warp, ins, &form);
  f64 a[MAX_SIDE][MAX_SIDE], b[MAX_SIDE][MAX_SIDE], d[MAX_SIDE][MAX_SIDE];
  const s32 *rows_a = rows + form.registers[0], *rows_b = rows_a + form.registers[1];
  vgpu_check_whole_warp (warp, ins);
  if (warp->checks & VGPU_CHECK_UNINIT)
    taint_product (warp, &form, rows);
  gather (warp, &form, VGPU_MATRIX_A, form.type, rows_a, a);
  gather (warp, &form, VGPU_MATRIX_B, form.type_b, rows_b, b);
  gather (warp, &form, VGPU_MATRIX_C, form.accumulator, rows_b + form.registers[2], d);
  multiply (&form, a, b, d);
  scatter (warp, &form, rows, d);
  return ins + 1;
}

static void
watch_lanes (VgpuWarp *warp, const VgpuIns *ins, const VgpuRequest *request, u64 first,
             const s32 *relative, u32 mask)
{
  VgpuReach reach;
  vgpu_reach_lanes (&reach, first, relative, mask, request->bytes);
  vgpu_race_shared (warp, ins, request, &reach);
}

/* Where a warp finds its shared memory for ldmatrix; NULL for a lane that may not look. */
static char *
matrix_row (VgpuWarp *warp, const u64 *addresses, u32 good, int lane)
{
  return good >> lane & 1 ? warp->worker->shared + addresses[lane] : NULL;
}

static u32
check_matrix_rows (VgpuWarp *warp, const VgpuIns *ins, VgpuAccess access, u64 *addresses)
{
  const u32 lanes = ins->imm == 4 ? VGPU_FULL : (1u << (8 * ins->imm)) - 1;
  const VgpuRequest request = {
      .space = VGPU_SPACE_SHARED, .access = access, .bytes = 16, .align = 16};
  VgpuSite *site = &warp->worker->sites[ins->site];
  pattern_addresses (warp, ins, warp->kernel->extra[ins->extra], addresses);
  if (ins->flags & VGPU_INS_UNIFORM)
    for (int lane = 0; lane < VGPU_LANES; lane++)
      addresses[lane] -= VGPU_WINDOW_SHARED;
  const u32 good = vgpu_check_lanes (warp, ins, &request, addresses, lanes);
  site->requests += (u64) ins->imm;
  site->lanes += (u32) __builtin_popcount (good);
  if (good == 0)
    return 0;
  s32 relative[VGPU_LANES] = {0};
  const u64 first = addresses[__builtin_ctz (good)];
  for (int lane = 0; lane < VGPU_LANES; lane++)
    relative[lane] = good >> lane & 1 ? (s32) (addresses[lane] - first) : 0;
  if (warp->checks & VGPU_CHECK_COUNTS)
    for (int part = 0; part < ins->imm; part++)
      if ((good >> (8 * part) & 0xff) != 0)
        vgpu_count_shared (site, VGPU_SHAPE_MIXED, first, relative, good & 0xffu << (8 * part), 16);
  if (warp->checks & VGPU_CHECK_RACE)
    watch_lanes (warp, ins, &request, first, relative, good);
  return good;
}

/* Lane's two elements of a matrix: their places as row and column. */
static inline void
matrix_elements (u32 lane, bool transposed, u32 element, u32 *row, u32 *column)
{
  *row = transposed ? (lane & 3) * 2 + element : lane >> 2;
  *column = transposed ? lane >> 2 : (lane & 3) * 2 + element;
}

static u32
matrix_poison (const VgpuWarp *warp, const u64 *addresses, u32 good, int part, bool transposed)
{
  u32 bad = 0;
  for (u32 lane = 0; lane < VGPU_LANES; lane++)
    for (u32 element = 0; element < 2; element++)
      {
        u32 row, column;
        matrix_elements (lane, transposed, element, &row, &column);
        const u32 holder = (u32) part * 8 + row;
        if (good >> holder & 1)
          bad |= (u32) (warp->worker->shared_valid[addresses[holder] + 2 * column] == 0) << lane;
      }
  return bad;
}

VGPU_HANDLER (LOAD_MATRIX)
{
  u64 addresses[VGPU_LANES];
  const s32 *rows = warp->kernel->extra + ins->extra + 1;
  const bool transposed = ins->flags & VGPU_INS_NEGATED;
  vgpu_check_whole_warp (warp, ins);
  const u32 good = check_matrix_rows (warp, ins, VGPU_ACCESS_READ, addresses);
  for (int part = 0; part < ins->imm; part++)
    {
      u32 *row_d = VGPU_ROW (u32, rows[part]);
      u32 values[VGPU_LANES];
      for (u32 lane = 0; lane < VGPU_LANES; lane++)
        {
          u32 word = 0;
          for (u32 element = 0; element < 2; element++)
            {
              u32 row, column;
              matrix_elements (lane, transposed, element, &row, &column);
              const char *at = matrix_row (warp, addresses, good, part * 8 + (int) row);
              u16 value = 0;
              if (at != NULL)
                __builtin_memcpy (&value, at + 2 * column, sizeof value);
              word |= (u32) value << (16 * element);
            }
          values[lane] = word;
        }
      VGPU_LANE_LOOP row_d[lane] = warp->mask >> lane & 1 ? values[lane] : row_d[lane];
      if (warp->checks & VGPU_CHECK_UNINIT)
        {
          warp->poison[rows[part] / VGPU_ROW_UNIT] =
              matrix_poison (warp, addresses, good, part, transposed);
          warp->origin[rows[part] / VGPU_ROW_UNIT] = (u32) (ins - warp->kernel->code);
        }
    }
  return ins + 1;
}

VGPU_HANDLER (STORE_MATRIX)
{
  u64 addresses[VGPU_LANES];
  const s32 *rows = warp->kernel->extra + ins->extra + 1;
  const bool transposed = ins->flags & VGPU_INS_NEGATED;
  vgpu_check_whole_warp (warp, ins);
  const u32 good = check_matrix_rows (warp, ins, VGPU_ACCESS_WRITE, addresses);
  for (int part = 0; part < ins->imm; part++)
    for (u32 lane = 0; lane < VGPU_LANES; lane++)
      for (u32 element = 0; element < 2; element++)
        {
          u32 row, column;
          matrix_elements (lane, transposed, element, &row, &column);
          char *at = matrix_row (warp, addresses, good, part * 8 + (int) row);
          const u16 value = (u16) (VGPU_ROW (const u32, rows[part])[lane] >> (16 * element));
          if (at == NULL)
            continue;
          __builtin_memcpy (at + 2 * column, &value, sizeof value);
          if (warp->checks & VGPU_CHECK_UNINIT)
            {
              const u32 doubtful = rows[part] < 0 ? 0 : warp->poison[rows[part] / VGPU_ROW_UNIT];
              __builtin_memset (warp->worker->shared_valid + (at - warp->worker->shared)
                                    + 2 * column,
                                doubtful >> lane & 1 ? 0 : 0xff, 2);
            }
        }
  return ins + 1;
}

/* wmma.load and wmma.store: an element of every lane at a time. target: the part; a: address;
 * b: leading dimension; imm: offset; NEGATED: column-major. */
static inline u64
base_address (const VgpuWarp *warp, const VgpuIns *ins)
{
  const u32 first = (u32) __builtin_ctz (warp->mask);
  const u64 base = (ins->flags & VGPU_INS_WIDE_ADDRESS) ? VGPU_ROW (const u64, ins->a)[first]
                                                        : VGPU_ROW (const u32, ins->a)[first];
  return base + (u64) ins->imm;
}

static inline void
element_offsets (const VgpuWarp *warp, const VgpuIns *ins, const s32 *map, s64 *offsets)
{
  const s64 leading = (s32) VGPU_ROW (const u32, ins->b)[__builtin_ctz (warp->mask)];
  const bool columns = ins->flags & VGPU_INS_NEGATED;
  for (int lane = 0; lane < VGPU_LANES; lane++)
    {
      const s64 row = VGPU_MATRIX_ROW (map[lane]), column = VGPU_MATRIX_COLUMN (map[lane]);
      offsets[lane] = (columns ? column * leading + row : row * leading + column) * ins->bytes;
    }
}

/* The space of an address; those of the shared window become offsets. */
static VgpuSpace
resolve_space (const VgpuIns *ins, u64 *address)
{
  const VgpuSpace space = (VgpuSpace) ins->c;
  if (space != VGPU_SPACE_GENERIC)
    return space;
  if ((*address & VGPU_WINDOW_MASK) != VGPU_WINDOW_SHARED)
    return VGPU_SPACE_GLOBAL;
  *address -= VGPU_WINDOW_SHARED;
  return VGPU_SPACE_SHARED;
}

static unsigned char *
valid_bytes (const VgpuWarp *warp, VgpuSpace space, u64 address)
{
  if (!(warp->checks & VGPU_CHECK_UNINIT))
    return NULL;
  if (space == VGPU_SPACE_SHARED)
    return warp->worker->shared_valid + address;
  const VgpuAllocation *allocation = vgpu_memory_find (warp->worker->launch->memory, address);
  return allocation->valid != NULL ? allocation->valid + (address - allocation->lo) : NULL;
}

static void
observe_elements (VgpuWarp *warp, const VgpuIns *ins, const VgpuRequest *request,
                  const u64 *addresses, u32 good)
{
  VgpuSite *site = &warp->worker->sites[ins->site];
  site->requests++;
  site->lanes += (u32) __builtin_popcount (good);
  if (good == 0 || request->space != VGPU_SPACE_SHARED || !(warp->checks & VGPU_CHECK_RACE))
    return;
  s32 relative[VGPU_LANES];
  const u64 first = addresses[__builtin_ctz (good)];
  for (int lane = 0; lane < VGPU_LANES; lane++)
    relative[lane] = (s32) (addresses[lane] - first);
  watch_lanes (warp, ins, request, first, relative, good);
}

/* Lets the site know the allocation for the next time. */
static void
remember_matrix (VgpuWarp *warp, const VgpuIns *ins, u64 base, VgpuAccess access)
{
  VgpuSite *site = &warp->worker->sites[ins->site];
  VgpuAllocation *allocation = vgpu_memory_find (warp->worker->launch->memory, base);
  if (allocation == NULL || allocation->freed
      || (allocation->constant && access != VGPU_ACCESS_READ))
    return;
  site->lo = allocation->lo;
  site->hi = allocation->hi;
  site->allocation = allocation;
}

/* Whether the whole matrix lies inside what the instruction touched last, so that no lane needs a
 * look of its own. */
static bool
is_plain (const VgpuWarp *warp, const VgpuIns *ins, const VgpuMatrixForm *form, VgpuSpace space,
          u64 base)
{
  const VgpuSite *site = &warp->worker->sites[ins->site];
  const s64 leading = (s32) VGPU_ROW (const u32, ins->b)[__builtin_ctz (warp->mask)];
  const s64 most = form->m > form->n ? form->m : form->n;
  const s64 side = most > form->k ? most : form->k;
  const s64 extent = (leading * (side - 1) + side) * ins->bytes;
  const u64 lo = space == VGPU_SPACE_SHARED ? 0 : site->lo;
  const u64 hi = space == VGPU_SPACE_SHARED ? warp->worker->shared_bytes : site->hi;
  return warp->mask == VGPU_FULL && leading >= 0 && leading < 1 << 24 && base % ins->bytes == 0
         && base >= lo && base < hi && (u64) extent <= hi - base;
}

/* Whether nobody has to be told of single elements: of what is read, all is known to be initialised. */
static bool
is_unwatched (const VgpuWarp *warp, const VgpuIns *ins, VgpuSpace space, VgpuAccess access)
{
  const bool shared = space == VGPU_SPACE_SHARED;
  if (warp->kernel->plain || (shared && (warp->checks & VGPU_CHECK_RACE)))
    return false;
  if (!(warp->checks & VGPU_CHECK_UNINIT))
    return true;
  return !shared && !warp->tainted && access == VGPU_ACCESS_READ
         && warp->worker->sites[ins->site].allocation->valid == NULL;
}

/* All elements of a matrix, each where it belongs. */
static void
move_plainly (VgpuWarp *warp, const VgpuIns *ins, const VgpuMatrixForm *form, const s32 *rows,
              char *base, VgpuAccess access)
{
  const u32 per = 4 / ins->bytes;
  const u32 count = (u32) form->registers[ins->target];
  const s32 *map = warp->kernel->extra + form->maps[ins->target];
  for (u32 reg = 0; reg < count; reg++)
    {
      u32 *row = VGPU_ROW (u32, rows[reg]);
      u32 value[VGPU_LANES] = {0};
      for (u32 part = 0; part < per; part++, map += VGPU_LANES)
        {
          const u32 shift = 8 * ins->bytes * part;
          s64 offsets[VGPU_LANES];
          element_offsets (warp, ins, map, offsets);
          if (access == VGPU_ACCESS_WRITE)
            for (int lane = 0; lane < VGPU_LANES; lane++)
              {
                const u32 bits = row[lane] >> shift;
                __builtin_memcpy (base + offsets[lane], &bits, ins->bytes);
              }
          else if (ins->bytes == 2)
            for (int lane = 0; lane < VGPU_LANES; lane++)
              value[lane] |= (u32) * (const u16 *) (base + offsets[lane]) << shift;
          else if (ins->bytes == 4)
            for (int lane = 0; lane < VGPU_LANES; lane++)
              value[lane] = *(const u32 *) (base + offsets[lane]);
          else
            for (int lane = 0; lane < VGPU_LANES; lane++)
              value[lane] |= (u32) * (const u8 *) (base + offsets[lane]) << shift;
        }
      if (access == VGPU_ACCESS_READ)
        __builtin_memcpy (row, value, sizeof value);
    }
  VgpuSite *site = &warp->worker->sites[ins->site];
  site->requests += count * per;
  site->lanes += count * per * VGPU_LANES;
}

static void
move_elements (VgpuWarp *warp, const VgpuIns *ins, VgpuAccess access)
{
  VgpuMatrixForm form;
  const s32 *rows = form_of (warp, ins, &form);
  const u32 per = 4 / ins->bytes;
  const u32 count = (u32) form.registers[ins->target] * per;
  u64 base = base_address (warp, ins);
  const VgpuSpace space = resolve_space (ins, &base);
  const VgpuRequest request = {
      .space = space, .access = access, .bytes = ins->bytes, .align = ins->bytes};
  const bool plain = is_plain (warp, ins, &form, space, base);
  const s32 *map = warp->kernel->extra + form.maps[ins->target];
  vgpu_check_whole_warp (warp, ins);
  if (!plain && space == VGPU_SPACE_GLOBAL)
    remember_matrix (warp, ins, base, access);
  if (plain && is_unwatched (warp, ins, space, access))
    {
      char *at =
          space == VGPU_SPACE_SHARED ? warp->worker->shared + base : (char *) (uintptr_t) base;
      move_plainly (warp, ins, &form, rows, at, access);
      return;
    }
  for (u32 index = 0; index < count; index++, map += VGPU_LANES)
    {
      u64 addresses[VGPU_LANES];
      s64 offsets[VGPU_LANES];
      u32 *row = VGPU_ROW (u32, rows[index / per]);
      const u32 shift = 8 * ins->bytes * (index % per);
      const u32 keep = ins->bytes == 4 ? 0 : ~(((1u << (8 * ins->bytes)) - 1) << shift);
      element_offsets (warp, ins, map, offsets);
      for (int lane = 0; lane < VGPU_LANES; lane++)
        addresses[lane] = base + (u64) offsets[lane];
      const u32 good =
          plain ? VGPU_FULL : vgpu_check_lanes (warp, ins, &request, addresses, warp->mask);
      const u32 doubtful = (warp->checks & VGPU_CHECK_UNINIT) && rows[index / per] >= 0
                               ? warp->poison[rows[index / per] / VGPU_ROW_UNIT]
                               : 0;
      u32 poison = 0;
      for (u32 left = good; left != 0; left &= left - 1)
        {
          const int lane = __builtin_ctz (left);
          char *at = space == VGPU_SPACE_SHARED ? warp->worker->shared + addresses[lane]
                                                : (char *) (uintptr_t) addresses[lane];
          unsigned char *valid = valid_bytes (warp, space, addresses[lane]);
          u32 value = row[lane] >> shift;
          if (access == VGPU_ACCESS_WRITE)
            {
              __builtin_memcpy (at, &value, ins->bytes);
              /* Doubt goes along into shared memory; into global memory it is reported below. */
              const bool sound = space != VGPU_SPACE_SHARED || (doubtful >> lane & 1) == 0;
              if (valid != NULL)
                __builtin_memset (valid, sound ? 0xff : 0, ins->bytes);
              continue;
            }
          value = 0;
          __builtin_memcpy (&value, at, ins->bytes);
          row[lane] = (row[lane] & keep) | value << shift;
          poison |= (u32) (valid != NULL && valid[0] == 0) << lane;
        }
      observe_elements (warp, ins, &request, addresses, good);
      if (!(warp->checks & VGPU_CHECK_UNINIT))
        continue;
      u32 *row_poison = &warp->poison[rows[index / per] / VGPU_ROW_UNIT];
      if (access == VGPU_ACCESS_WRITE && space == VGPU_SPACE_GLOBAL && (doubtful & warp->mask) != 0)
        vgpu_taint_used (warp, ins, rows[index / per], doubtful & warp->mask, "stored");
      if (access == VGPU_ACCESS_READ)
        {
          *row_poison = index % per == 0 ? poison : *row_poison | poison;
          warp->tainted |= poison;
          warp->origin[rows[index / per] / VGPU_ROW_UNIT] = (u32) (ins - warp->kernel->code);
        }
    }
}

VGPU_HANDLER (WMMA_LOAD)
{
  move_elements (warp, ins, VGPU_ACCESS_READ);
  return ins + 1;
}

VGPU_HANDLER (WMMA_STORE)
{
  move_elements (warp, ins, VGPU_ACCESS_WRITE);
  return ins + 1;
}

/* cp.async: source size, destination and its offset are further operands. */

static void
copy_lane (VgpuWarp *warp, const VgpuIns *ins, u64 from, u64 to, u32 bytes, u32 total)
{
  VgpuWorker *worker = warp->worker;
  __builtin_memcpy (worker->shared + to, (const void *) (uintptr_t) from, bytes);
  __builtin_memset (worker->shared + to + bytes, 0, total - bytes);
  if (!(warp->checks & VGPU_CHECK_UNINIT))
    return;
  const unsigned char *valid = bytes > 0 ? valid_bytes (warp, VGPU_SPACE_GLOBAL, from) : NULL;
  __builtin_memset (worker->shared_valid + to, 0xff, total);
  if (valid != NULL)
    __builtin_memcpy (worker->shared_valid + to, valid, bytes);
}

VGPU_HANDLER (COPY_ASYNC)
{
  VgpuWorker *worker = warp->worker;
  VgpuSite *site = &worker->sites[ins->site];
  const s32 *more = warp->kernel->extra + ins->extra;
  const u32 *sizes = VGPU_ROW (const u32, more[0]);
  const u32 total = (u32) ins->bytes * ins->vec;
  VgpuIns to_ins = *ins;
  u64 from[VGPU_LANES], to[VGPU_LANES];
  u32 reading = 0;
  to_ins.a = more[1];
  to_ins.flags = more[3] ? ins->flags | VGPU_INS_WIDE_ADDRESS : ins->flags & ~VGPU_INS_WIDE_ADDRESS;
  pattern_addresses (warp, ins, ins->imm, from);
  pattern_addresses (warp, &to_ins, more[2], to);
  for (int lane = 0; lane < VGPU_LANES; lane++)
    reading |= (u32) (sizes[lane] > 0) << lane;
  reading &= warp->mask;
  const VgpuRequest read = {
      .space = VGPU_SPACE_GLOBAL, .access = VGPU_ACCESS_READ, .bytes = total, .align = total};
  const VgpuRequest write = {
      .space = VGPU_SPACE_SHARED, .access = VGPU_ACCESS_WRITE, .bytes = total, .align = total};
  const u32 readable = vgpu_check_lanes (warp, ins, &read, from, reading);
  const u32 writable = vgpu_check_lanes (warp, ins, &write, to, warp->mask);
  s32 relative[VGPU_LANES] = {0};
  const u64 first = readable != 0 ? from[__builtin_ctz (readable)] : 0;
  for (u32 left = writable; left != 0; left &= left - 1)
    {
      const int lane = __builtin_ctz (left);
      const bool reads = readable >> lane & 1;
      const u32 bytes = !reads ? 0 : sizes[lane] < total ? sizes[lane] : total;
      copy_lane (warp, ins, from[lane], to[lane], bytes, total);
      relative[lane] = reads ? (s32) (from[lane] - first) : 0;
    }
  site->requests++;
  site->lanes += (u32) __builtin_popcount (readable);
  if (readable != 0 && (warp->checks & VGPU_CHECK_COUNTS))
    vgpu_count_global (site, VGPU_SHAPE_MIXED, first, relative, readable, total);
  if (writable != 0 && (warp->checks & VGPU_CHECK_RACE))
    {
      const u64 start = to[__builtin_ctz (writable)];
      for (int lane = 0; lane < VGPU_LANES; lane++)
        relative[lane] = (s32) (to[lane] - start);
      watch_lanes (warp, ins, &write, start, relative, writable);
      vgpu_copies_add (warp, ins, to, writable, total);
    }
  return ins + 1;
}

VGPU_HANDLER (COPY_COMMIT)
{
  vgpu_copies_commit (warp);
  return ins + 1;
}

VGPU_HANDLER (COPY_WAIT)
{
  vgpu_copies_wait (warp, (u32) ins->imm, ins->bytes != 0);
  return ins + 1;
}
