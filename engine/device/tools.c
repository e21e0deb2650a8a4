/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/device/tools.h"

static const char *const FOLDERS[] = {
    "bin",
    "nvidia/cu13/bin",
    "compute-sanitizer",
    "nvidia/cu13/compute-sanitizer",
    "nvidia/cuda_nvcc/bin",
    "nvidia/cuda_nvdisasm/bin",
    "nvidia/cuda_cuobjdump/bin",
    "triton/backends/nvidia/bin",
};

const char *const ASSAY_TOOLS[] = {"compute-sanitizer", "ncu",      "nsys",
                                   "cuobjdump",         "nvdisasm", NULL};

static const struct
{
  const char *program, *advice;
} ADVICE[] = {
    {"compute-sanitizer", "Checks on the real device: install cuda-sanitizer of the toolkit."},
    {"ncu", "Counters of kernels: install Nsight Compute."},
    {"nsys", "Time lines: install Nsight Systems."},
    {"cuobjdump", "Machine code of binaries: install cuda-cuobjdump of the toolkit, or the package "
                  "nvidia-cuda-cuobjdump into the folder of the compiler."},
    {"nvdisasm", "Machine code beside the source: install cuda-nvdisasm of the toolkit, or the "
                 "package nvidia-cuda-nvdisasm into the folder of the compiler."},
    {"ptxas", "Machine code from PTX: install cuda-nvcc of the toolkit."},
};

char *
assay_tool_find (const AssayToolkit *toolkit, const char *program)
{
  for (gsize i = 0; toolkit && i < G_N_ELEMENTS (FOLDERS); i++)
    {
      g_autofree char *path = g_build_filename (toolkit->root, FOLDERS[i], program, NULL);
      if (g_file_test (path, G_FILE_TEST_IS_EXECUTABLE) && !g_file_test (path, G_FILE_TEST_IS_DIR))
        return g_steal_pointer (&path);
    }
  return g_find_program_in_path (program);
}

const char *
assay_tool_advice (const char *program)
{
  for (gsize i = 0; i < G_N_ELEMENTS (ADVICE); i++)
    if (g_str_equal (ADVICE[i].program, program))
      return ADVICE[i].advice;
  return "Install the CUDA toolkit.";
}
