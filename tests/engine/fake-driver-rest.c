/* SPDX-License-Identifier: Apache-2.0 */
/* Every entry point of the driver, refusing: what fake-driver.c defines takes their place. */
#include "engine/target/cuda-abi.h"

#define DEFINE(symbol, member, parameters)                                                         \
  __attribute__ ((weak, visibility ("default"))) CUresult symbol parameters;                       \
  CUresult symbol parameters { return CUDA_ERROR_NOT_SUPPORTED; }
ASSAY_CUDA_DRIVER (DEFINE)
