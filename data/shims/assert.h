/* SPDX-License-Identifier: Apache-2.0 */
/* No #pragma once: including it again after changing NDEBUG must count. */
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void) 0)
#else
extern "C" __device__ void __assertfail (const char *message, const char *file, unsigned int line,
                                         const char *function, decltype (sizeof (0)) char_size);
#define assert(condition)                                                                          \
  ((condition) ? (void) 0                                                                          \
               : __assertfail (#condition, __FILE__, __LINE__, __FUNCTION__, sizeof (char)))
#endif
