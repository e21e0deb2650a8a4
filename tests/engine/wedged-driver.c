/* SPDX-License-Identifier: Apache-2.0 */
/* A driver whose device is gone: it loads, and does not start. */
#include "engine/target/cuda-abi.h"

CUresult
cuInit (unsigned int flags)
{
  return CUDA_ERROR_UNKNOWN;
}
