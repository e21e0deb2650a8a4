/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/ui/glib-quarks.h"

#ifdef __SANITIZE_ADDRESS__
#include <link.h>
#include <string.h>

/* Of the sanitizers' run time; gcc 12 ships no header for the first two. */
int __sanitizer_get_ownership (const volatile void *pointer);
size_t __sanitizer_get_allocated_size (const volatile void *pointer);
void __lsan_ignore_object (const void *pointer);

#define FIRST_TABLE (2048 * sizeof (char *))

/* The table hangs on a variable of libglib: look through its writable memory. */
static int
look_through (struct dl_phdr_info *info, size_t size, void *data)
{
  if (!strstr (info->dlpi_name, "libglib-2.0.so"))
    return 0;
  for (int i = 0; i < info->dlpi_phnum; i++)
    {
      const ElfW (Phdr) *part = &info->dlpi_phdr[i];
      if (part->p_type != PT_LOAD || !(part->p_flags & PF_W))
        continue;
      void **word = (void **) (info->dlpi_addr + part->p_vaddr);
      for (size_t n = part->p_memsz / sizeof *word; n > 0; n--, word++)
        if (*word && __sanitizer_get_ownership (*word)
            && __sanitizer_get_allocated_size (*word) == FIRST_TABLE)
          __lsan_ignore_object (*word);
    }
  return 1;
}

void
assay_ui_keep_glib_quarks (void)
{
  dl_iterate_phdr (look_through, NULL);
}
#else
void
assay_ui_keep_glib_quarks (void)
{
}
#endif
