/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* NVRTC's entry points, from its published documentation; the library is opened at run time, by a
 * worker only: a compiler reads foreign text. */
typedef struct AssayNvrtcProgram AssayNvrtcProgram;

/* X (symbol, parameters): every function returns 0 or an error code. */
/* clang-format off */
#define ASSAY_NVRTC(X) \
  X (nvrtcVersion, (int *major, int *minor)) \
  X (nvrtcGetNumSupportedArchs, (int *count)) \
  X (nvrtcGetSupportedArchs, (int *archs)) \
  X (nvrtcCreateProgram, \
     (AssayNvrtcProgram **program, const char *source, const char *name, int header_count, \
      const char *const *headers, const char *const *include_names)) \
  X (nvrtcDestroyProgram, (AssayNvrtcProgram **program)) \
  X (nvrtcCompileProgram, \
     (AssayNvrtcProgram *program, int option_count, const char *const *options)) \
  X (nvrtcGetPTXSize, (AssayNvrtcProgram *program, gsize *bytes)) \
  X (nvrtcGetPTX, (AssayNvrtcProgram *program, char *ptx)) \
  X (nvrtcGetProgramLogSize, (AssayNvrtcProgram *program, gsize *bytes)) \
  X (nvrtcGetProgramLog, (AssayNvrtcProgram *program, char *log)) \
  X (nvrtcAddNameExpression, (AssayNvrtcProgram *program, const char *expression)) \
  X (nvrtcGetLoweredName, \
     (AssayNvrtcProgram *program, const char *expression, const char **lowered))
/* clang-format on */

typedef struct
{
  void *library;
  const char *(*nvrtcGetErrorString) (int code);
#define ASSAY_NVRTC_MEMBER(symbol, parameters) int (*symbol) parameters;
  ASSAY_NVRTC (ASSAY_NVRTC_MEMBER)
#undef ASSAY_NVRTC_MEMBER
} AssayNvrtc;

gboolean assay_nvrtc_open (AssayNvrtc *nvrtc, const char *path, GError **error);

G_END_DECLS
