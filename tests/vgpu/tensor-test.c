/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes of tensors against a definition element by element: every swizzle, boxes that hang over every edge,
 * ranks 1 to 5, elements of 1 to 8 bytes; what cuTensorMapEncodeTiled refuses. */
#include "tests/vgpu/harness.h"

#include <string.h>

static char *tensor_ptx;

static Gpu *
open_tensor (const char *settings)
{
  if (tensor_ptx == NULL)
    tensor_ptx = compile_kernels ("tensor.cu", "--gpu-architecture=compute_90");
  return tensor_ptx != NULL ? gpu_open (settings) : NULL;
}

typedef CUresult (*Encode) (void *map, int type, unsigned int rank, void *address,
                            const guint64 *sizes, const guint64 *strides, const unsigned int *box,
                            const unsigned int *steps, int interleave, int swizzle, int promotion,
                            int fill);

static const unsigned steps[5] = {1, 1, 1, 1, 1};

static Encode
encoder (void)
{
  Encode encode;
  *(void **) &encode = gpu_symbol ("cuTensorMapEncodeTiled");
  return encode;
}

typedef struct
{
  int type, element; /* CUtensorMapDataType, bytes */
  int rank, swizzle, nan;
  guint64 sizes[3];
  unsigned box[3];
  int at[3];
} Box;

/* 0 U8, 1 U16, 2 U32, 5 S64, 6 F16, 7 F32 */
static const Box boxes[] = {
    {7, 4, 1, 0, 0, {50}, {16}, {8}},
    {7, 4, 1, 0, 0, {50}, {16}, {44}},
    {7, 4, 1, 0, 1, {50}, {16}, {-4}},
    {6, 2, 2, 3, 0, {100, 40}, {64, 16}, {16, 8}},
    {6, 2, 2, 3, 1, {100, 40}, {64, 24}, {64, 30}},
    {6, 2, 2, 2, 0, {100, 40}, {32, 16}, {-8, -3}},
    {6, 2, 2, 1, 0, {100, 40}, {16, 32}, {90, 2}},
    {0, 1, 2, 3, 0, {300, 20}, {128, 12}, {130, 5}},
    {2, 4, 2, 2, 0, {24, 24}, {16, 8}, {8, 16}},
    {5, 8, 2, 1, 0, {24, 24}, {4, 8}, {4, 1}},
    {5, 8, 3, 3, 0, {24, 7, 5}, {16, 3, 2}, {4, 5, 4}},
    {1, 2, 3, 3, 0, {64, 9, 6}, {64, 4, 3}, {0, -1, 2}},
    {6, 2, 3, 0, 0, {40, 9, 6}, {24, 4, 3}, {8, 7, -2}},
};

/* Where element (x, y, z) of the box lies in shared memory, after the figures of the programming guide: in units of
 * 16 bytes, with a swizzle of 32·2^k bytes, unit u of line l (lines of 128 bytes) goes to
 * u xor (l mod 8) taken over the lowest k+1 bits, shifted so that 128 bytes mix 8 lines, 64 mix 4, 32
 * mix 2. */
static size_t
place_in_box (const Box *b, int x, int y, int z)
{
  size_t linear =
      (((size_t) z * b->box[1] + (size_t) y) * b->box[0] + (size_t) x) * (size_t) b->element;
  size_t unit = linear / 16, line = unit / 8, in_line = unit % 8;
  static const size_t mixed[] = {1, 2, 4, 8};
  size_t lines = mixed[b->swizzle];
  size_t low = in_line % lines, rest = in_line - low;
  return (line * 8 + rest + (low ^ line % lines)) * 16 + linear % 16;
}

static guint64
stride_of (const Box *b, int dimension)
{
  guint64 stride = (b->sizes[0] * (guint64) b->element + 15) / 16 * 16 + 16;
  return dimension == 1 ? stride : stride * b->sizes[1] + 32;
}

static size_t
tensor_bytes (const Box *b)
{
  guint64 rows = b->rank > 1 ? stride_of (b, 1) * b->sizes[1] : stride_of (b, 1);
  return b->rank > 2 ? stride_of (b, 2) * b->sizes[2] : rows;
}

static size_t
box_bytes (const Box *b)
{
  size_t bytes = (size_t) b->element;
  for (int i = 0; i < b->rank; i++)
    bytes *= b->box[i];
  return bytes;
}

/* Place of an element of the box in the tensor; -1: outside. */
static gssize
place_in_tensor (const Box *b, int x, int y, int z)
{
  gint64 at[3] = {b->at[0] + x, b->at[1] + y, b->at[2] + z};
  for (int i = 0; i < b->rank; i++)
    if (at[i] < 0 || at[i] >= (gint64) b->sizes[i])
      return -1;
  return (gssize) ((guint64) at[0] * (guint64) b->element
                   + (b->rank > 1 ? (guint64) at[1] * stride_of (b, 1) : 0)
                   + (b->rank > 2 ? (guint64) at[2] * stride_of (b, 2) : 0));
}

typedef struct
{
  _Alignas(64) char bytes[128];
} Map;

static void
make_map (const Box *b, CUdeviceptr tensor, Map *map)
{
  guint64 strides[2] = {stride_of (b, 1), stride_of (b, 2)};
  g_assert_cmpint (encoder () (map, b->type, (unsigned) b->rank, (void *) (uintptr_t) tensor,
                               b->sizes, strides, b->box, steps, 0, b->swizzle, 0, b->nan),
                   ==, CUDA_SUCCESS);
}

/* Calls with each element's place in the box and in the tensor. */
static void
each_element (const Box *b, void (*visit) (const Box *b, size_t in_box, gssize in_tensor, void *),
              void *data)
{
  int high = b->rank > 1 ? (int) b->box[1] : 1, deep = b->rank > 2 ? (int) b->box[2] : 1;
  Box flat = *b;
  if (b->rank < 2)
    flat.box[1] = 1;
  for (int z = 0; z < deep; z++)
    for (int y = 0; y < high; y++)
      for (int x = 0; x < (int) b->box[0]; x++)
        visit (b, place_in_box (&flat, x, y, z), place_in_tensor (b, x, y, z), data);
}

typedef struct
{
  guint8 *tensor, *box;
} Both;

static void
expect_loaded (const Box *b, size_t in_box, gssize in_tensor, void *data)
{
  Both *both = data;
  static const guint8 nan_2[] = {0xff, 0x7f}, nan_4[] = {0xff, 0xff, 0xff, 0x7f};
  if (in_tensor >= 0)
    memcpy (both->box + in_box, both->tensor + in_tensor, (size_t) b->element);
  else if (b->nan)
    memcpy (both->box + in_box, b->element == 2 ? nan_2 : nan_4, (size_t) b->element);
  else
    memset (both->box + in_box, 0, (size_t) b->element);
}

static void
expect_stored (const Box *b, size_t in_box, gssize in_tensor, void *data)
{
  Both *both = data;
  if (in_tensor >= 0)
    memcpy (both->tensor + in_tensor, both->box + in_box, (size_t) b->element);
}

static guint8 *
some_bytes (size_t count, guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  guint8 *bytes = g_malloc (count);
  for (size_t i = 0; i < count; i++)
    bytes[i] = (guint8) g_rand_int (rand);
  return bytes;
}

static void
test_box (const void *data)
{
  const Box *b = data;
  g_autoptr (Gpu) gpu = open_tensor ("target=sm_90;checks=all");
  if (gpu == NULL)
    return;
  size_t whole = tensor_bytes (b), part = box_bytes (b);
  g_autofree guint8 *tensor = some_bytes (whole, 1), *box = some_bytes (part, 2);
  g_autofree guint8 *out = g_malloc0 (part), *want = g_malloc0 (part);
  CUdeviceptr dtensor = gpu_put (gpu, tensor, whole, "tensor");
  CUdeviceptr dout = gpu_put (gpu, out, part, "out"), dbox = gpu_put (gpu, box, part, "box");
  int x = b->at[0], y = b->at[1], z = b->at[2], rank = b->rank, bytes = (int) part;
  Map map;
  make_map (b, dtensor, &map);
  CUfunction load = gpu_load (gpu, tensor_ptx, "load_box");
  CUfunction store = gpu_load (gpu, tensor_ptx, "store_box");
  g_assert_cmpint (gpu_run (gpu, load, 1, 1, 64, 1, (unsigned) part, &map, &dout, &x, &y, &z, &rank,
                            &bytes, NULL),
                   ==, CUDA_SUCCESS);
  gpu_get (gpu, out, dout, part);
  each_element (b, expect_loaded, &(Both) {tensor, want});
  g_assert_cmpmem (out, part, want, part);
  g_assert_cmpint (gpu_run (gpu, store, 1, 1, 64, 1, (unsigned) part, &map, &dbox, &x, &y, &z,
                            &rank, &bytes, NULL),
                   ==, CUDA_SUCCESS);
  g_autofree guint8 *stored = g_malloc0 (whole);
  gpu_get (gpu, stored, dtensor, whole);
  each_element (b, expect_stored, &(Both) {tensor, box});
  g_assert_cmpmem (stored, whole, tensor, whole);
  g_autoptr (GPtrArray) reports = gpu_reports (gpu);
  g_assert_null (find_type (reports, "report"));
}

/* Ranks 4 and 5: a box of one tensor goes to another, both hanging over edges. */

enum
{
  RANK = 5
};

static const guint64 high_sizes[RANK] = {12, 3, 4, 3, 2};
static const unsigned high_box[RANK] = {8, 2, 3, 2, 2};

/* Element number of a place, -1 outside. */
static gssize
high_place (const gint64 *at, int rank)
{
  gssize place = 0;
  for (int i = rank - 1; i >= 0; i--)
    {
      if (at[i] < 0 || at[i] >= (gint64) high_sizes[i])
        return -1;
      place = place * (gssize) high_sizes[i] + at[i];
    }
  return place;
}

static void
test_high_rank (gconstpointer data)
{
  const int rank = GPOINTER_TO_INT (data);
  const gint32 from[RANK] = {8, 1, -1, 2, 0}, to[RANK] = {-4, 0, 2, 1, 1};
  float source[12 * 3 * 4 * 3 * 2], target[12 * 3 * 4 * 3 * 2], got[G_N_ELEMENTS (source)];
  g_autoptr (Gpu) gpu = open_tensor ("target=sm_90;checks=all");
  if (gpu == NULL)
    return;
  int bytes = 4;
  guint64 strides[RANK - 1];
  for (int i = 0; i < rank; i++)
    bytes *= (int) high_box[i];
  strides[0] = high_sizes[0] * 4;
  for (int i = 1; i < RANK - 1; i++)
    strides[i] = strides[i - 1] * high_sizes[i];
  for (gsize i = 0; i < G_N_ELEMENTS (source); i++)
    {
      source[i] = (float) i + 1;
      target[i] = -(float) i;
    }
  CUdeviceptr ds = gpu_put (gpu, source, sizeof source, "source");
  CUdeviceptr dt = gpu_put (gpu, target, sizeof target, "target");
  Map map, other;
  g_assert_cmpint (encoder () (&map, 7, (unsigned) rank, (void *) (uintptr_t) ds, high_sizes,
                               strides, high_box, steps, 0, 0, 0, 0),
                   ==, CUDA_SUCCESS);
  g_assert_cmpint (encoder () (&other, 7, (unsigned) rank, (void *) (uintptr_t) dt, high_sizes,
                               strides, high_box, steps, 0, 0, 0, 0),
                   ==, CUDA_SUCCESS);
  CUfunction f = gpu_load (gpu, tensor_ptx, "move_box");
  g_assert_cmpint (
      gpu_run (gpu, f, 1, 1, 32, 1, (unsigned) bytes, &map, &other, from, to, &rank, &bytes, NULL),
      ==, CUDA_SUCCESS);
  gpu_get (gpu, got, dt, sizeof got);
  /* An odometer over the box. */
  gint64 digit[RANK] = {0};
  for (int i = 0; i < bytes / 4; i++)
    {
      gint64 here[RANK], there[RANK];
      for (int d = 0; d < rank; d++)
        {
          here[d] = from[d] + digit[d];
          there[d] = to[d] + digit[d];
        }
      gssize out = high_place (there, rank), in = high_place (here, rank);
      if (out >= 0)
        target[out] = in >= 0 ? source[in] : 0;
      for (int d = 0; d < rank && ++digit[d] == high_box[d]; d++)
        digit[d] = 0;
    }
  g_assert_cmpmem (got, sizeof got, target, sizeof target);
  g_autoptr (GPtrArray) reports = gpu_reports (gpu);
  g_assert_null (find_type (reports, "report"));
}

static void
test_refused_maps (void)
{
  g_autoptr (Gpu) gpu = open_tensor ("target=sm_90");
  if (gpu == NULL)
    return;
  Encode encode = encoder ();
  Map map;
  guint64 sizes[2] = {64, 64}, strides[1] = {128}, odd[1] = {136};
  unsigned box[2] = {32, 8}, wide[2] = {512, 8}, narrow[2] = {4, 8}, two[2] = {2, 1};
  void *p = (void *) (uintptr_t) 4096;
  g_assert_cmpint (encode (&map, 6, 2, p, sizes, strides, box, steps, 0, 2, 0, 0), ==, 0);
  g_assert_cmpint (encode (&map, 6, 2, (char *) p + 8, sizes, strides, box, steps, 0, 2, 0, 0), ==,
                   CUDA_ERROR_INVALID_VALUE);
  g_assert_cmpint (encode (&map, 6, 2, p, sizes, odd, box, steps, 0, 2, 0, 0), ==,
                   CUDA_ERROR_INVALID_VALUE);
  g_assert_cmpint (encode (&map, 6, 2, p, sizes, strides, wide, steps, 0, 0, 0, 0), ==,
                   CUDA_ERROR_INVALID_VALUE);
  g_assert_cmpint (encode (&map, 6, 2, p, sizes, strides, narrow, steps, 0, 0, 0, 0), ==,
                   CUDA_ERROR_INVALID_VALUE);
  g_assert_cmpint (encode (&map, 6, 2, p, sizes, strides, box, steps, 0, 1, 0, 0), ==,
                   CUDA_ERROR_INVALID_VALUE);
  g_assert_cmpint (encode (&map, 6, 2, p, sizes, strides, box, two, 0, 2, 0, 0), ==,
                   CUDA_ERROR_INVALID_VALUE);
  g_assert_cmpint (encode (&map, 6, 6, p, sizes, strides, box, steps, 0, 2, 0, 0), ==,
                   CUDA_ERROR_INVALID_VALUE);
}

static void
assert_reported (Gpu *gpu, const char *rule, const char *marker)
{
  g_autoptr (GPtrArray) reports = gpu_reports (gpu);
  JsonObject *report = find_report (reports, rule);
  g_assert_nonnull (report);
  if (marker != NULL)
    g_assert_cmpint (json_object_get_int_member (report, "line"), ==,
                     marked_line ("tensor.cu", marker));
}

static void
test_no_map (void)
{
  g_autoptr (Gpu) gpu = open_tensor ("target=sm_90;checks=all");
  if (gpu == NULL)
    return;
  int zeros[64] = {0};
  CUdeviceptr d = gpu_put (gpu, zeros, sizeof zeros, "zeros");
  gpu_run (gpu, gpu_load (gpu, tensor_ptx, "no_map"), 1, 1, 32, 1, 0, &d, &d, NULL);
  assert_reported (gpu, "mem.out-of-bounds", "// unmapped");
}

/* A map that says more than is allocated. */
static void
test_map_beyond (void)
{
  g_autoptr (Gpu) gpu = open_tensor ("target=sm_90;checks=all");
  if (gpu == NULL)
    return;
  const Box *b = &boxes[3];
  g_autofree guint8 *out = g_malloc0 (box_bytes (b));
  CUdeviceptr small = gpu_put (gpu, out, 1024, "small");
  CUdeviceptr dout = gpu_put (gpu, out, box_bytes (b), "out");
  int x = b->at[0], y = b->at[1], z = 0, rank = 2, bytes = (int) box_bytes (b);
  Map map;
  make_map (b, small, &map);
  gpu_run (gpu, gpu_load (gpu, tensor_ptx, "load_box"), 1, 1, 64, 1, (unsigned) bytes, &map, &dout,
           &x, &y, &z, &rank, &bytes, NULL);
  assert_reported (gpu, "mem.out-of-bounds", NULL);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (size_t i = 0; i < G_N_ELEMENTS (boxes); i++)
    {
      g_autofree char *name = g_strdup_printf ("/vgpu/tensor/box/%zu", i);
      g_test_add_data_func (name, &boxes[i], test_box);
    }
  g_test_add_data_func ("/vgpu/tensor/rank-4", GINT_TO_POINTER (4), test_high_rank);
  g_test_add_data_func ("/vgpu/tensor/rank-5", GINT_TO_POINTER (5), test_high_rank);
  g_test_add_func ("/vgpu/tensor/refused-maps", test_refused_maps);
  g_test_add_func ("/vgpu/tensor/no-map", test_no_map);
  g_test_add_func ("/vgpu/tensor/map-beyond", test_map_beyond);
  return g_test_run ();
}
