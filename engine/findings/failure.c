/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/findings/failure.h"

#include <string.h>

/* The classes that lead somewhere of their own. */
typedef enum
{
  NO_DEVICE,
  DRIVER_MISMATCH,
  ARCH_MISMATCH,
  TOOLCHAIN,
  COMPILE,
  OOM_DEVICE,
  OOM_HOST,
  LAUNCH_CONFIG,
  SHAPE_STRIDE,
  ILLEGAL_ACCESS,
  MISALIGNED,
  DEVICE_ASSERT,
  TIMEOUT,
  CRASH,
  HW_FAULT,
  INTERP_GAP,
  HARNESS,
  UNKNOWN,
} Class;

/* clang-format off */
static const AssayFailureClass CLASSES[] = {
  [NO_DEVICE] = {"NO_DEVICE", ASSAY_BLAME_ENVIRONMENT, "Choose the virtual GPU, or a computer with the device.", "env.no-device"},
  [DRIVER_MISMATCH] = {"DRIVER_MISMATCH", ASSAY_BLAME_ENVIRONMENT, "Install a driver as new as the toolkit, or compile for the driver's version.", "env.driver-mismatch"},
  [ARCH_MISMATCH] = {"ARCH_MISMATCH", ASSAY_BLAME_ENVIRONMENT, "Compile for the architecture of this device.", "build.arch-unsupported"},
  [TOOLCHAIN] = {"TOOLCHAIN", ASSAY_BLAME_ENVIRONMENT, "See `assay-engine doctor` for what is missing.", "env.toolchain"},
  [COMPILE] = {"COMPILE", ASSAY_BLAME_CANDIDATE, "Read the compiler's first error.", "build.failed"},
  [OOM_DEVICE] = {"OOM_DEVICE", ASSAY_BLAME_ENVIRONMENT, "Compare the workload's size with the device's free memory.", "env.out-of-memory"},
  [OOM_HOST] = {"OOM_HOST", ASSAY_BLAME_ENVIRONMENT, "Raise the memory limit of workers, or reduce the workload.", "env.out-of-memory"},
  [LAUNCH_CONFIG] = {"LAUNCH_CONFIG", ASSAY_BLAME_CANDIDATE, "Compare grid, block and shared memory with the limits of the target.", "run.failed"},
  [SHAPE_STRIDE] = {"SHAPE_STRIDE", ASSAY_BLAME_CANDIDATE, "Compare the kernel's parameters with the entry's arguments.", "run.failed"},
  [ILLEGAL_ACCESS] = {"ILLEGAL_ACCESS", ASSAY_BLAME_CANDIDATE, "Run the same workload on the virtual GPU: it names line and thread.", "mem.out-of-bounds"},
  [MISALIGNED] = {"MISALIGNED", ASSAY_BLAME_CANDIDATE, "Run the same workload on the virtual GPU: it names line and thread.", "mem.misaligned"},
  [DEVICE_ASSERT] = {"DEVICE_ASSERT", ASSAY_BLAME_CANDIDATE, "The kernel's own assertion failed; see the log for its text.", "run.failed"},
  [TIMEOUT] = {"TIMEOUT", ASSAY_BLAME_CANDIDATE, "Look for a loop without an end, or raise the limit if the workload is simply large.", "run.failed"},
  [CRASH] = {"CRASH", ASSAY_BLAME_CANDIDATE, "The process died; see the log of the stage.", "run.failed"},
  [HW_FAULT] = {"HW_FAULT", ASSAY_BLAME_HARDWARE, "Do not judge the candidate by this run; check the device.", "env.hardware"},
  [INTERP_GAP] = {"INTERP_GAP", ASSAY_BLAME_INTERPRETER, "The virtual GPU does not know this instruction; run on a device.", "env.interpreter-gap"},
  [HARNESS] = {"HARNESS", ASSAY_BLAME_ENVIRONMENT, "This is a fault of the tools, not of the task; see the log.", "env.harness"},
  [UNKNOWN] = {"UNKNOWN", ASSAY_BLAME_CANDIDATE, "See the log of the stage.", "run.failed"},
};

/* In the order of how much they prove: what the engine saw, then names of driver and exceptions, then
 * words of a message. An entry matches when `name` is part of the failure's name or `text` of its
 * message, whichever is given. */
typedef struct
{
  const char *name, *text;
  Class is;
} Pattern;

static const Pattern PATTERNS[] = {
  {"timeout", NULL, TIMEOUT},
  {"CUDA_ERROR_NO_DEVICE", NULL, NO_DEVICE},
  {"CUDA_ERROR_STUB_LIBRARY", NULL, NO_DEVICE},
  {"CUDA_ERROR_UNSUPPORTED_PTX_VERSION", NULL, DRIVER_MISMATCH},
  {"CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", NULL, DRIVER_MISMATCH},
  {"CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", NULL, DRIVER_MISMATCH},
  {"CUDA_ERROR_NO_BINARY_FOR_GPU", NULL, ARCH_MISMATCH},
  {"CUDA_ERROR_OUT_OF_MEMORY", NULL, OOM_DEVICE},
  {"CUDA_ERROR_ILLEGAL_ADDRESS", NULL, ILLEGAL_ACCESS},
  {"CUDA_ERROR_INVALID_ADDRESS_SPACE", NULL, ILLEGAL_ACCESS},
  {"CUDA_ERROR_MISALIGNED_ADDRESS", NULL, MISALIGNED},
  {"CUDA_ERROR_ASSERT", NULL, DEVICE_ASSERT},
  {"CUDA_ERROR_LAUNCH_TIMEOUT", NULL, TIMEOUT},
  {"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", NULL, LAUNCH_CONFIG},
  {"CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE", NULL, LAUNCH_CONFIG},
  {"CUDA_ERROR_ECC_UNCORRECTABLE", NULL, HW_FAULT},
  {"CUDA_ERROR_HARDWARE_STACK_ERROR", NULL, CRASH},
  {"CUDA_ERROR_ILLEGAL_INSTRUCTION", NULL, CRASH},
  {"CUDA_ERROR_NOT_SUPPORTED", NULL, INTERP_GAP},
  {"CUDA_ERROR_INVALID_PTX", "nsupported", INTERP_GAP},
  {"CUDA_ERROR_INVALID_PTX", "not supported by the virtual", INTERP_GAP},
  {"CUDA_ERROR_INVALID_PTX", NULL, COMPILE},
  {"CUDA_ERROR_LAUNCH_FAILED", NULL, CRASH},
  {"CUDA_ERROR_NOT_FOUND", NULL, SHAPE_STRIDE},
  {"symbol", NULL, SHAPE_STRIDE},
  {"arguments", NULL, SHAPE_STRIDE},
  {"NVRTC_ERROR_COMPILATION", NULL, COMPILE},
  {"NVRTC_ERROR_INVALID_OPTION", "arch", ARCH_MISMATCH},
  {"NVRTC_ERROR", NULL, TOOLCHAIN},
  {"compile", NULL, COMPILE},
  {"build", NULL, COMPILE},
  {"environment", NULL, TOOLCHAIN},
  {"request", NULL, HARNESS},
  {"SIGKILL", NULL, OOM_HOST},
  {"memory", NULL, OOM_HOST},
  {"contract", NULL, HARNESS},
  {"SIGXCPU", NULL, TIMEOUT},
  {"SIG", NULL, CRASH},
  {"MemoryError", NULL, OOM_HOST},
  {"CUDA_ERROR_INVALID_VALUE", NULL, LAUNCH_CONFIG},
  {NULL, "undefined symbol: cuda", INTERP_GAP},
  {NULL, "undefined symbol: __cuda", INTERP_GAP},
  {NULL, "out of memory", OOM_DEVICE},
  {NULL, "illegal memory access", ILLEGAL_ACCESS},
  {NULL, "misaligned address", MISALIGNED},
  {NULL, "device-side assert", DEVICE_ASSERT},
  {NULL, "invalid configuration argument", LAUNCH_CONFIG},
  {NULL, "too many resources requested", LAUNCH_CONFIG},
  {NULL, "driver version is insufficient", DRIVER_MISMATCH},
  {NULL, "no kernel image", ARCH_MISMATCH},
  {NULL, "unsupported toolchain", DRIVER_MISMATCH},
  {NULL, "no CUDA-capable device", NO_DEVICE},
  {NULL, "not supported by the virtual", INTERP_GAP},
  {NULL, "no memory", OOM_HOST},
  {NULL, "timed out", TIMEOUT},
};
/* clang-format on */

static gboolean
matches (const Pattern *pattern, const AssayFailure *failure)
{
  if (pattern->name && (!failure->name || !strstr (failure->name, pattern->name)))
    return FALSE;
  return !pattern->text || (failure->message && strstr (failure->message, pattern->text));
}

const AssayFailureClass *
assay_failure_classify (const AssayFailure *failure)
{
  for (gsize i = 0; i < G_N_ELEMENTS (PATTERNS); i++)
    if (matches (&PATTERNS[i], failure))
      return &CLASSES[PATTERNS[i].is];
  return &CLASSES[UNKNOWN];
}
