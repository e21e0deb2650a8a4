/* SPDX-License-Identifier: Apache-2.0 */
/* What programs compiled by nvcc cannot ask of textures and surfaces: queries, reductions, separate samplers;
 * and the findings about them. */
#include "engine/target/cuda-abi-more.h"
#include "tests/vgpu/harness.h"

#include <string.h>

#define W 32
#define H 2

typedef CUresult (*CreateArray) (CUarray *array, const AssayArray3D *shape);
typedef CUresult (*DestroyArray) (CUarray array);
typedef CUresult (*CreateTexture) (unsigned long long *object, const AssayResource *resource,
                                   const AssaySampler *sampler, const void *view);
typedef CUresult (*CreateSurface) (unsigned long long *object, const AssayResource *resource);
typedef CUresult (*DestroyObject) (unsigned long long object);
typedef CUresult (*Copy2D) (const AssayCopy2D *copy);

#define CALL(type, name) ((type) gpu_symbol (name))

static CUarray
make_array (const float *texels)
{
  CUarray array = NULL;
  const AssayArray3D shape = {.width = W, .height = H, .format = 0x20, .channels = 1, .flags = 2};
  g_assert_cmpint (CALL (CreateArray, "cuArray3DCreate_v2") (&array, &shape), ==, CUDA_SUCCESS);
  const AssayCopy2D copy = {.from = {.type = 1, .host = texels},
                            .to = {.type = 3, .array = array},
                            .width = W * 4,
                            .height = H};
  if (texels)
    g_assert_cmpint (CALL (Copy2D, "cuMemcpy2D_v2") (&copy), ==, CUDA_SUCCESS);
  return array;
}

static unsigned long long
make_texture (CUarray array, const AssaySampler *sampler)
{
  unsigned long long object = 0;
  const AssayResource resource = {.type = 0, .array = array};
  g_assert_cmpint (CALL (CreateTexture, "cuTexObjectCreate") (&object, &resource, sampler, NULL),
                   ==, CUDA_SUCCESS);
  return object;
}

static unsigned long long
make_surface (CUarray array)
{
  unsigned long long object = 0;
  const AssayResource resource = {.type = 0, .array = array};
  g_assert_cmpint (CALL (CreateSurface, "cuSurfObjectCreate") (&object, &resource), ==,
                   CUDA_SUCCESS);
  return object;
}

static const char objects_ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry ask (.param .u64 t, .param .u64 u, .param .u64 s, .param .u64 out)\n{\n"
    "  .reg .b64 %rd<6>; .reg .b32 %r<12>; .reg .f32 %f<10>; .reg .pred %p<2>;\n"
    "  ld.param.u64 %rd1, [t]; ld.param.u64 %rd2, [u]; ld.param.u64 %rd3, [s];\n"
    "  ld.param.u64 %rd4, [out]; cvta.to.global.u64 %rd4, %rd4;\n"
    "  mov.u32 %r0, %tid.x;\n"
    "  txq.width.b32 %r1, [%rd1]; txq.height.b32 %r2, [%rd1]; txq.channel_data_type.b32 %r3, "
    "[%rd1];\n"
    "  txq.normalized_coords.b32 %r4, [%rd2]; suq.width.b32 %r5, [%rd3];\n"
    "  suq.channel_order.b32 %r6, [%rd3]; txq.depth.b32 %r7, [%rd1]; txq.array_size.b32 %r8, "
    "[%rd1];\n"
    "  setp.ne.u32 %p1, %r0, 0;\n"
    "  @%p1 bra sum;\n"
    "  st.global.v4.u32 [%rd4], {%r1, %r2, %r3, %r4};\n"
    "  st.global.v4.u32 [%rd4+16], {%r5, %r6, %r7, %r8};\n"
    /* The images of one object, the modes of the other: a quarter of the width is texel 8. */
    "  mov.f32 %f1, 0f3E880000;\n"
    "  tex.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd1, %rd2, {%f1, %f1}];\n"
    "  tex.2d.v4.f32.s32 {%f6, _, _, _}, [%rd1, {%r5, %r0}];\n"
    "  st.global.v2.f32 [%rd4+32], {%f2, %f6};\n"
    "sum:\n"
    "  mov.u32 %r9, 4; mov.u32 %r10, 0;\n"
    "  sured.b.add.2d.u32.trap [%rd3, {%r9, %r10}], %r0;\n"
    "  sured.b.max.2d.s32.zero [%rd3, {%r10, %r10}], %r0;\n"
    "  mov.u32 %r11, -8;\n"
    "  sured.b.min.2d.s32.clamp [%rd3, {%r11, %r10}], %r0;\n"
    "  ret;\n}\n";

static void
test_objects (void)
{
  float texels[H][W];
  guint32 answers[10], words[2];
  for (int i = 0; i < W * H; i++)
    texels[i / W][i % W] = (float) i;
  g_autoptr (Gpu) gpu = gpu_open ("checks=all");
  memset (texels, 0, 8); /* the words that are summed up */
  CUarray array = make_array (texels[0]);
  const AssaySampler plain = {.address_modes = {1, 1, 1}}, normal = {.flags = 2};
  unsigned long long t = make_texture (array, &plain), u = make_texture (array, &normal);
  unsigned long long s = make_surface (array);
  CUdeviceptr out = gpu_put (gpu, NULL, sizeof answers, "out");
  CUfunction f = gpu_load (gpu, objects_ptx, "ask");
  g_assert_cmpint (gpu_run (gpu, f, 1, 1, 32, 1, 0, &t, &u, &s, &out, NULL), ==, CUDA_SUCCESS);
  gpu_get (gpu, answers, out, sizeof answers);
  /* Numbers of OpenCL: a float, one channel. */
  const guint32 wanted[] = {W, H, 0x10de, 1, W, 0x10b0, 0, 0};
  g_assert_cmpmem (answers, sizeof wanted, wanted, sizeof wanted);
  float fetched[2];
  memcpy (fetched, answers + 8, sizeof fetched);
  g_assert_cmpfloat (fetched[0], ==, 8);     /* floor of 0.265625 * 32, row 0 */
  g_assert_cmpfloat (fetched[1], ==, W - 1); /* one too far, clamped */
  const AssayCopy2D back = {.from = {.type = 3, .array = array},
                            .to = {.type = 1, .host = words},
                            .width = 8,
                            .height = 1};
  g_assert_cmpint (CALL (Copy2D, "cuMemcpy2D_v2") (&back), ==, CUDA_SUCCESS);
  g_assert_cmpuint (words[1], ==, 31 * 32 / 2);
  /* The greatest lane, and then, by clamping, the least one. */
  g_assert_cmpuint (words[0], ==, 0);
}

typedef struct
{
  const char *name, *kernel, *rule, *marker, *settings;
  CUresult result;
  int deed;
} Fault;

enum
{
  UNWRITTEN,
  FREED,
  DESTROYED,
  WRONG_KIND,
  TOO_WIDE,
  SOUND
};

static const Fault faults[] = {
    {"unwritten-array", "read_texture", "mem.uninitialised", "fault: texture", "checks=uninit",
     CUDA_SUCCESS, UNWRITTEN},
    {"freed-array", "read_texture", "mem.use-after-free", "fault: texture", "checks=none",
     CUDA_ERROR_ILLEGAL_ADDRESS, FREED},
    {"destroyed-object", "read_texture", "mem.use-after-free", "fault: texture", "checks=none",
     CUDA_ERROR_ILLEGAL_ADDRESS, DESTROYED},
    {"surface-as-texture", "read_texture", "mem.out-of-bounds", "fault: texture", "checks=none",
     CUDA_ERROR_ILLEGAL_ADDRESS, WRONG_KIND},
    {"surface-too-far", "write_surface", "mem.out-of-bounds", "fault: surface", "checks=none",
     CUDA_ERROR_ILLEGAL_ADDRESS, TOO_WIDE},
    {"surface-freed", "write_surface", "mem.use-after-free", "fault: surface", "checks=none",
     CUDA_ERROR_ILLEGAL_ADDRESS, FREED},
    {"surface-race", "race_surface", "race.global", "fault: surface race", "checks=race-global",
     CUDA_SUCCESS, SOUND},
    {"sound-texture", "read_texture", NULL, NULL, "checks=all", CUDA_SUCCESS, SOUND},
    {"sound-surface", "write_surface", NULL, NULL, "checks=all", CUDA_SUCCESS, SOUND},
};

static char *kernels_ptx;

static void
test_fault (gconstpointer data)
{
  const Fault *fault = data;
  const AssaySampler plain = {.address_modes = {1, 1, 1}};
  float texels[H][W] = {{1}};
  bool surface = strstr (fault->kernel, "surface") != NULL;
  if (!kernels_ptx)
    kernels_ptx = compile_kernels ("texture.cu", NULL);
  if (!kernels_ptx)
    return;
  g_autoptr (Gpu) gpu = gpu_open (fault->settings);
  CUarray array = make_array (fault->deed == UNWRITTEN ? NULL : texels[0]);
  unsigned long long object =
      surface != (fault->deed == WRONG_KIND) ? make_surface (array) : make_texture (array, &plain);
  CUdeviceptr out = gpu_put (gpu, NULL, 2 * 2 * W * sizeof (float), "out");
  if (fault->deed == FREED)
    g_assert_cmpint (CALL (DestroyArray, "cuArrayDestroy") (array), ==, CUDA_SUCCESS);
  if (fault->deed == DESTROYED)
    g_assert_cmpint (CALL (DestroyObject, "cuTexObjectDestroy") (object), ==, CUDA_SUCCESS);
  unsigned threads = fault->deed == TOO_WIDE ? 2 * W : W;
  unsigned blocks = strcmp (fault->kernel, "race_surface") == 0 ? 2 : 1;
  CUfunction f = gpu_load (gpu, kernels_ptx, fault->kernel);
  g_assert_cmpint (gpu_run (gpu, f, blocks, 1, threads, 1, 0, &object, &out, NULL), ==,
                   fault->result);
  g_autoptr (GPtrArray) reports = gpu_reports (gpu);
  if (fault->rule == NULL)
    {
      g_assert_null (find_type (reports, "report"));
      return;
    }
  JsonObject *report = find_report (reports, fault->rule);
  g_assert_nonnull (report);
  g_test_message ("%s", json_object_get_string_member (report, "message"));
  g_assert_cmpint (json_object_get_int_member (report, "line"), ==,
                   marked_line ("texture.cu", fault->marker));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/vgpu/texture/objects", test_objects);
  for (size_t i = 0; i < G_N_ELEMENTS (faults); i++)
    {
      g_autofree char *path = g_strdup_printf ("/vgpu/texture/%s", faults[i].name);
      g_test_add_data_func (path, &faults[i], test_fault);
    }
  int result = g_test_run ();
  g_free (kernels_ptx);
  return result;
}
