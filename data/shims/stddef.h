/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#ifndef NULL
#define NULL 0
#endif
typedef decltype (sizeof (0)) assay_size_type;
typedef decltype ((char *) 0 - (char *) 0) ptrdiff_t;
namespace std
{
using size_t = ::assay_size_type;
using ::ptrdiff_t;
}
