/* SPDX-License-Identifier: Apache-2.0 */
/* A compiler that knows three architectures and dies while it compiles for one of them. Its "PTX" holds
 * one kernel, and its log what ptxas would say. */
#include <stdlib.h>
#include <string.h>

#define LOG                                                                                        \
  "ptxas info    : Compiling entry function 'doubled' for 'sm_70'\n"                               \
  "    16 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads\n"                          \
  "ptxas info    : Used 21 registers, used 1 barriers, 512 bytes smem\n"                           \
  "kernel.cu(1): warning #177-D: variable was declared but never referenced\n"
#define PTX                                                                                        \
  ".version 6.0\n.target sm_70\n.address_size 64\n"                                                \
  ".visible .entry doubled(.param .u64 a, .param .u64 b, .param .u32 n)\n{\nret;\n}\n"

int
nvrtcVersion (int *major, int *minor)
{
  *major = 9;
  *minor = 0;
  return 0;
}

int
nvrtcGetNumSupportedArchs (int *count)
{
  *count = 3;
  return 0;
}

int
nvrtcGetSupportedArchs (int *archs)
{
  archs[0] = 70;
  archs[1] = 75;
  archs[2] = 80;
  return 0;
}

int
nvrtcCreateProgram (void **program, const char *source, const char *name, int count,
                    const char *const *headers, const char *const *names)
{
  static int one;
  *program = &one;
  return 0;
}

int
nvrtcDestroyProgram (void **program)
{
  *program = NULL;
  return 0;
}

int
nvrtcCompileProgram (void *program, int count, const char *const *options)
{
  for (int i = 0; i < count; i++)
    if (strstr (options[i], "sm_80"))
      abort ();
  return 0;
}

int
nvrtcGetPTXSize (void *program, size_t *bytes)
{
  *bytes = sizeof PTX;
  return 0;
}

int
nvrtcGetPTX (void *program, char *ptx)
{
  memcpy (ptx, PTX, sizeof PTX);
  return 0;
}

int
nvrtcGetProgramLogSize (void *program, size_t *bytes)
{
  *bytes = sizeof LOG;
  return 0;
}

int
nvrtcGetProgramLog (void *program, char *log)
{
  memcpy (log, LOG, sizeof LOG);
  return 0;
}

int
nvrtcAddNameExpression (void *program, const char *expression)
{
  return 0;
}

int
nvrtcGetLoweredName (void *program, const char *expression, const char **lowered)
{
  *lowered = expression;
  return 0;
}

const char *
nvrtcGetErrorString (int code)
{
  return "an error";
}
