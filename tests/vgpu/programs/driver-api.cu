/* SPDX-License-Identifier: Apache-2.0 */
// The driver API as the headers of CUDA 13 name it; two texts of PTX that are linked.
#include "check.h"

#include <cuda.h>

#define FINE(call) CHECK ((call) == CUDA_SUCCESS)

static char first[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                      ".extern .func (.param .b32 r) twice (.param .b32 x);\n"
                      ".visible .entry run (.param .u64 out)\n{\n"
                      "  .reg .b64 %p; .reg .b32 %v;\n  .param .b32 x; .param .b32 r;\n"
                      "  ld.param.u64 %p, [out];\n  st.param.b32 [x], 21;\n"
                      "  call (r), twice, (x);\n  ld.param.b32 %v, [r];\n"
                      "  st.global.u32 [%p], %v;\n  ret;\n}\n";
static char second[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                       ".visible .func (.param .b32 r) twice (.param .b32 x)\n{\n  .reg .b32 %v;\n"
                       "  ld.param.b32 %v, [x];\n  add.u32 %v, %v, %v;\n"
                       "  st.param.b32 [r], %v;\n  ret;\n}\n";

int
main ()
{
  CUcontext context;
  CUlinkState state;
  CUmodule module;
  CUfunction function;
  CUdeviceptr out;
  CUevent from, to;
  void *image;
  size_t bytes;
  float milliseconds;
  int value = 0;
  FINE (cuInit (0));
  CUctxCreateParams plain = {};
  FINE (cuCtxCreate (&context, &plain, 0, 0));
  FINE (cuCtxDestroy (context));
  FINE (cuCtxCreate (&context, nullptr, 0, 0));
  FINE (cuLinkCreate (0, nullptr, nullptr, &state));
  FINE (cuLinkAddData (state, CU_JIT_INPUT_PTX, first, sizeof first, "first", 0, nullptr, nullptr));
  FINE (cuLinkAddData (state, CU_JIT_INPUT_PTX, second, sizeof second, "second", 0, nullptr, nullptr));
  FINE (cuLinkComplete (state, &image, &bytes));
  FINE (cuModuleLoadData (&module, image));
  FINE (cuLinkDestroy (state));
  FINE (cuModuleGetFunction (&function, module, "run"));
  FINE (cuMemAlloc (&out, sizeof value));
  FINE (cuEventCreate (&from, 0));
  FINE (cuEventCreate (&to, 0));
  FINE (cuEventRecord (from, 0));
  void *parameters[] = {&out};
  FINE (cuLaunchKernel (function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  FINE (cuEventRecord (to, 0));
  FINE (cuEventSynchronize (to));
  FINE (cuEventElapsedTime (&milliseconds, from, to));
  FINE (cuMemcpyDtoH (&value, out, sizeof value));
  CHECK (value == 42);
  FINE (cuMemFree (out));
  FINE (cuModuleUnload (module));
  FINE (cuCtxDestroy (context));
  std::printf ("fine\n");
}
