/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sandbox/memory.h"

#include "engine/base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEAL_TRIES 250

struct _AssayMemory
{
  gatomicrefcount references;
  char *name;
  int fd;
  gsize bytes;
  gboolean finished;
  GMutex lock; /* of the mapping, made on first use */
  void *mapping;
};

static void
set_failed (GError **error, const AssayMemory *memory, const char *what)
{
  int code = errno == EBUSY ? ASSAY_ERROR_LOST : ASSAY_ERROR_FAILED;
  g_set_error (error, ASSAY_ERROR, code, "shared memory %s: %s: %s", memory->name, what,
               g_strerror (errno));
}

AssayMemory *
assay_memory_new_growing (const char *name, GError **error)
{
  g_autoptr (AssayMemory) memory = g_new0 (AssayMemory, 1);
  g_atomic_ref_count_init (&memory->references);
  g_mutex_init (&memory->lock);
  memory->name = g_strdup (name);
  memory->fd = memfd_create (name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (memory->fd >= 0)
    return g_steal_pointer (&memory);
  set_failed (error, memory, "cannot be made");
  return NULL;
}

AssayMemory *
assay_memory_new (const char *name, gsize bytes, GError **error)
{
  g_autoptr (AssayMemory) memory = assay_memory_new_growing (name, error);
  if (!memory)
    return NULL;
  memory->bytes = bytes;
  if (bytes <= G_MAXINT64 && ftruncate (memory->fd, (off_t) bytes) == 0
      && fcntl (memory->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0)
    return g_steal_pointer (&memory);
  set_failed (error, memory, "cannot be sized");
  return NULL;
}

AssayMemory *
assay_memory_new_from_data (const char *name, gconstpointer data, gsize bytes, GError **error)
{
  g_autoptr (AssayMemory) memory = assay_memory_new (name, bytes, error);
  if (!memory || !assay_memory_write (memory, 0, data, bytes, error)
      || !assay_memory_finish (memory, error))
    return NULL;
  return g_steal_pointer (&memory);
}

AssayMemory *
assay_memory_ref (AssayMemory *memory)
{
  g_atomic_ref_count_inc (&memory->references);
  return memory;
}

void
assay_memory_unref (AssayMemory *memory)
{
  if (!g_atomic_ref_count_dec (&memory->references))
    return;
  if (memory->mapping)
    munmap (memory->mapping, memory->bytes);
  if (memory->fd >= 0)
    close (memory->fd);
  g_mutex_clear (&memory->lock);
  g_free (memory->name);
  g_free (memory);
}

gboolean
assay_memory_write (AssayMemory *memory, gsize offset, gconstpointer data, gsize bytes,
                    GError **error)
{
  const char *from = data;
  g_return_val_if_fail (offset <= memory->bytes && bytes <= memory->bytes - offset, FALSE);
  while (bytes > 0)
    {
      ssize_t n = pwrite (memory->fd, from, bytes, (off_t) offset);
      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        {
          set_failed (error, memory, "cannot be written");
          return FALSE;
        }
      from += n;
      offset += (gsize) n;
      bytes -= (gsize) n;
    }
  return TRUE;
}

gboolean
assay_memory_fill (AssayMemory *memory, gsize offset, gsize bytes, gconstpointer pattern,
                   gsize pattern_bytes, GError **error)
{
  gsize repeats = MAX (1, 65536 / pattern_bytes);
  g_autofree char *block = g_malloc (repeats * pattern_bytes);
  for (gsize i = 0; i < repeats; i++)
    memcpy (block + i * pattern_bytes, pattern, pattern_bytes);
  for (gsize done = 0; done < bytes;)
    {
      gsize n = MIN (bytes - done, repeats * pattern_bytes);
      if (!assay_memory_write (memory, offset + done, block, n, error))
        return FALSE;
      done += n;
    }
  return TRUE;
}

/* Whoever reads the /proc entry of a process at the moment of its death keeps its mappings for a moment
 * longer, and any program may do that: busy is final only when it lasts. */
static gboolean
seal (int fd)
{
  int rc, left = SEAL_TRIES;
  while ((rc = fcntl (fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL))
             != 0
         && errno == EBUSY && left-- > 0)
    g_usleep (2000);
  return rc == 0;
}

gboolean
assay_memory_finish (AssayMemory *memory, GError **error)
{
  struct stat status;
  if (memory->finished)
    return TRUE;
  if (!seal (memory->fd) || fstat (memory->fd, &status) != 0)
    {
      set_failed (error, memory, "cannot be sealed");
      return FALSE;
    }
  memory->bytes = (gsize) status.st_size;
  memory->finished = TRUE;
  return TRUE;
}

gboolean
assay_memory_is_finished (AssayMemory *memory)
{
  return memory->finished;
}

const void *
assay_memory_data (AssayMemory *memory, gsize *bytes, GError **error)
{
  g_return_val_if_fail (memory->finished, NULL);
  g_autoptr (GMutexLocker) locker = g_mutex_locker_new (&memory->lock);
  if (bytes)
    *bytes = memory->bytes;
  if (memory->bytes == 0)
    return "";
  if (!memory->mapping)
    {
      void *mapping = mmap (NULL, memory->bytes, PROT_READ, MAP_SHARED, memory->fd, 0);
      if (mapping == MAP_FAILED)
        {
          set_failed (error, memory, "cannot be mapped");
          return NULL;
        }
      memory->mapping = mapping;
    }
  return memory->mapping;
}

gsize
assay_memory_size (AssayMemory *memory)
{
  return memory->bytes;
}

int
assay_memory_fd (AssayMemory *memory)
{
  return memory->fd;
}
