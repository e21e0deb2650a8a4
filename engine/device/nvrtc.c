/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/device/nvrtc.h"

#include "engine/base/error.h"

#include <dlfcn.h>

gboolean
assay_nvrtc_open (AssayNvrtc *nvrtc, const char *path, GError **error)
{
  const char *missing = NULL;
  *nvrtc = (AssayNvrtc) {.library = dlopen (path, RTLD_NOW | RTLD_LOCAL)};
  if (!nvrtc->library)
    {
      g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_NOT_FOUND, "the CUDA compiler does not load: %s",
                   dlerror ());
      return FALSE;
    }
  *(void **) &nvrtc->nvrtcGetErrorString = dlsym (nvrtc->library, "nvrtcGetErrorString");
  if (!nvrtc->nvrtcGetErrorString)
    missing = "nvrtcGetErrorString";
#define RESOLVE(symbol, parameters)                                                                \
  *(void **) &nvrtc->symbol = dlsym (nvrtc->library, #symbol);                                     \
  if (!nvrtc->symbol)                                                                              \
    missing = #symbol;
  ASSAY_NVRTC (RESOLVE)
#undef RESOLVE
  if (!missing)
    return TRUE;
  g_set_error (error, ASSAY_ERROR, ASSAY_ERROR_UNSUPPORTED,
               "%s has no %s: NVRTC of CUDA 11.2 or newer is needed", path, missing);
  return FALSE;
}
