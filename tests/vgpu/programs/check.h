/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <cstdio>
#include <cstdlib>

/* What every program of this folder checks itself with: ends it with the line that failed. */
#define CHECK(condition)                                                                           \
  do                                                                                               \
    {                                                                                              \
      if (!(condition))                                                                            \
        {                                                                                          \
          std::printf ("%s:%d: %s\n", __FILE__, __LINE__, #condition);                             \
          std::exit (1);                                                                           \
        }                                                                                          \
    }                                                                                              \
  while (0)
#define OK(call) CHECK ((call) == cudaSuccess)
