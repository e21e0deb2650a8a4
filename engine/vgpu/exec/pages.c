/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/vgpu/exec/pages.h"

#include <stddef.h>
#include <sys/mman.h>

#define PAGE ((uint64_t) 4096)
#define LARGE_PAGE ((uint64_t) 2 << 20)
/* What is larger than this may be meant to be used here and there only. */
#define MOST_LARGE ((uint64_t) 1 << 30)

static uint64_t
whole_pages (uint64_t bytes)
{
  return (bytes + PAGE - 1) / PAGE * PAGE;
}

void *
vgpu_pages_take (uint64_t bytes, uint64_t spare)
{
  const uint64_t mapped = whole_pages (bytes + spare);
  const uint64_t slack = bytes >= LARGE_PAGE && bytes <= MOST_LARGE ? LARGE_PAGE : 0;
  void *data = mmap (NULL, mapped + slack, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED)
    return NULL;
  if (slack == 0)
    return data;
  const uint64_t at = (uint64_t) (uintptr_t) data;
  const uint64_t begin = (at + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
  if (begin > at)
    munmap (data, begin - at);
  if (begin < at + slack)
    munmap ((void *) (uintptr_t) (begin + mapped), at + slack - begin);
  madvise ((void *) (uintptr_t) begin, bytes / LARGE_PAGE * LARGE_PAGE, MADV_HUGEPAGE);
  return (void *) (uintptr_t) begin;
}

void
vgpu_pages_give (void *pages, uint64_t bytes, uint64_t spare)
{
  if (pages != NULL)
    munmap (pages, whole_pages (bytes + spare));
}
