/* SPDX-License-Identifier: Apache-2.0 */
/* assay-worker: one sandboxed process that serves requests of the engine on descriptor 3. */
#include "engine/worker/roles.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef void (*Role) (AssayChannel *channel, const AssayWorkerRequest *request);

static const Role ROLES[ASSAY_N_REQUESTS] = {
    assay_worker_probe, assay_worker_compile, assay_worker_build, assay_worker_reference,
    assay_worker_run,   assay_worker_matrix,  assay_worker_bench,
};

gboolean
assay_worker_map (const AssayWorkerArray *array, AssayMappedArray *mapped, char **reason)
{
  struct stat status;
  gboolean writable = !g_str_equal (array->role, "in");
  int protection = PROT_READ | (writable ? PROT_WRITE : 0);
  if (fstat ((int) array->fd, &status) != 0 || array->offset < 0 || array->bytes < 0
      || array->offset > status.st_size || array->bytes > status.st_size - array->offset)
    {
      *reason = g_strdup_printf ("array %s: descriptor %d does not hold it", array->name,
                                 (int) array->fd);
      return FALSE;
    }
  mapped->array = array;
  mapped->bytes = (gsize) status.st_size;
  mapped->base = (char *) "";
  if (mapped->bytes > 0)
    mapped->base = mmap (NULL, mapped->bytes, protection, MAP_SHARED, (int) array->fd, 0);
  if (mapped->base != MAP_FAILED)
    return TRUE;
  *reason = g_strdup_printf ("array %s: %s", array->name, g_strerror (errno));
  return FALSE;
}

char *
assay_worker_read_all (int fd, gsize *bytes)
{
  GByteArray *all = g_byte_array_new ();
  char block[65536];
  off_t at = 0;
  for (ssize_t n; (n = pread (fd, block, sizeof block, at)) > 0; at += n)
    g_byte_array_append (all, (const guint8 *) block, (guint) n);
  *bytes = all->len;
  g_byte_array_append (all, (const guint8 *) "", 1);
  return (char *) g_byte_array_free (all, FALSE);
}

gboolean
assay_worker_write_all (int fd, const char *data, gsize bytes)
{
  for (off_t at = 0; bytes > 0;)
    {
      ssize_t n = pwrite (fd, data, bytes, at);
      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        return FALSE;
      data += n;
      at += n;
      bytes -= (gsize) n;
    }
  return TRUE;
}

int
main (int argc, char **argv)
{
  if (argc > 1)
    {
      g_print ("assay-worker is started by assay-engine and serves it on descriptor 3.\n");
      return g_str_equal (argv[1], "--help") ? 0 : 2;
    }
  setvbuf (stdout, NULL, _IOLBF, 0);
  g_autoptr (AssayChannel) channel = assay_channel_new (3);
  for (;;)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (AssayWorkerRequest) request = assay_channel_receive (channel, &error);
      if (!request && !error)
        return 0;
      if (!request)
        {
          assay_channel_fail_message (channel, "request", "%s", error->message);
          return 1;
        }
      ROLES[request->request](channel, request);
    }
}
