/* SPDX-License-Identifier: Apache-2.0 */
/* cuLink…: collects PTX, and hands out what cuModuleLoadData links. */
#include "engine/vgpu/driver/driver.h"
#include "engine/vgpu/ptx/arena.h"

#include <stdlib.h>
#include <string.h>

enum
{
  INPUT_PTX = 1
};

struct CUlinkState_st
{
  void **parts; /* containers, then NULL */
  size_t count;
  void *image;
};

CUresult
cuLinkCreate_v2 (unsigned int count, CUjit_option *options, void **values, CUlinkState *state)
{
  (void) count;
  (void) options;
  (void) values;
  if (state == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  *state = vgpu_take (sizeof **state);
  return CUDA_SUCCESS;
}

CUresult
cuLinkAddData_v2 (CUlinkState state, int type, void *data, size_t bytes, const char *name,
                  unsigned int count, CUjit_option *options, void **values)
{
  (void) name;
  (void) count;
  (void) options;
  (void) values;
  if (state == NULL || data == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  if (type != INPUT_PTX)
    {
      vgpu_explain ("only PTX can be linked here");
      return CUDA_ERROR_NOT_SUPPORTED;
    }
  state->parts = vgpu_retake (state->parts, (state->count + 2) * sizeof *state->parts);
  state->parts[state->count++] = vgpu_fatbin_of_text (data, strnlen (data, bytes));
  state->parts[state->count] = NULL;
  return CUDA_SUCCESS;
}

CUresult
cuLinkComplete (CUlinkState state, void **image, size_t *bytes)
{
  if (state == NULL || image == NULL || state->count == 0)
    return CUDA_ERROR_INVALID_VALUE;
  free (state->image);
  state->image = vgpu_fatbin_of_parts (state->parts);
  *image = state->image;
  if (bytes != NULL)
    *bytes = VGPU_FATBIN_WRAPPER_BYTES;
  return CUDA_SUCCESS;
}

CUresult
cuLinkDestroy (CUlinkState state)
{
  if (state == NULL)
    return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < state->count; i++)
    free (state->parts[i]);
  free (state->parts);
  free (state->image);
  free (state);
  return CUDA_SUCCESS;
}
