/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/worker/shims.h"

#include "engine/worker/shim-texts.h"

/* X (name as included, array of the text): those for a machine without toolkit headers last. */
#define SHIMS(X)                                                                                   \
  X ("stdint.h", shim_stdint)                                                                      \
  X ("cstdint", shim_stdint)                                                                       \
  X ("inttypes.h", shim_stdint)                                                                    \
  X ("stddef.h", shim_stddef)                                                                      \
  X ("cstddef", shim_stddef)                                                                       \
  X ("limits.h", shim_limits)                                                                      \
  X ("climits", shim_limits)                                                                       \
  X ("float.h", shim_float)                                                                        \
  X ("cfloat", shim_float)                                                                         \
  X ("math.h", shim_math)                                                                          \
  X ("cmath", shim_math)                                                                           \
  X ("stdio.h", shim_empty)                                                                        \
  X ("cstdio", shim_empty)                                                                         \
  X ("stdlib.h", shim_stddef)                                                                      \
  X ("cstdlib", shim_stddef)                                                                       \
  X ("string.h", shim_stddef)                                                                      \
  X ("cstring", shim_stddef)                                                                       \
  X ("stdbool.h", shim_empty)                                                                      \
  X ("assert.h", shim_assert)                                                                      \
  X ("cassert", shim_assert)                                                                       \
  X ("algorithm", shim_algorithm)                                                                  \
  X ("limits", shim_cpp_limits)                                                                    \
  X ("device_launch_parameters.h", shim_empty)                                                     \
  X ("cuda_runtime.h", shim_empty)                                                                 \
  X ("cuda_runtime_api.h", shim_empty)                                                             \
  X ("cuda.h", shim_empty)

#define WITHOUT_TOOLKIT 3

static const char *const NAMES[] = {
#define NAME(name, text) name,
    SHIMS (NAME)};
static const char *const TEXTS[] = {
#define TEXT(name, text) text,
    SHIMS (TEXT)};

AssayShims
assay_shims (gboolean has_toolkit)
{
  int count = (int) G_N_ELEMENTS (NAMES) - (has_toolkit ? WITHOUT_TOOLKIT : 0);
  return (AssayShims) {count, NAMES, TEXTS};
}
