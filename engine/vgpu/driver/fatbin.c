/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/vgpu/driver/fatbin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WRAPPER_MAGIC 0x466243b1u
#define CONTAINER_MAGIC 0xba55ed50u

enum
{
  KIND_PTX = 1,
  FLAG_LZ4 = 0x2000,
  FLAG_ZSTD = 0x8000
};

typedef struct
{
  uint32_t magic, version;
  const void *data;
  const void *const *linked; /* version 2: the containers of the parts, then NULL */
} Wrapper;

typedef struct
{
  uint32_t magic;
  uint16_t version, header_bytes;
  uint64_t bytes; /* behind the header */
} Container;

typedef struct
{
  uint16_t kind, version;
  uint32_t header_bytes;
  uint64_t bytes;
  uint32_t compressed_bytes, options;
  uint16_t minor, major; /* of PTX */
  uint32_t device;
  uint32_t name, name_bytes;
  uint64_t flags;
  uint64_t zero;
  uint64_t plain_bytes;
} Entry;

static bool
fail (char *error, const char *text)
{
  snprintf (error, VGPU_ERROR_BYTES, "%s", text);
  return false;
}

bool
vgpu_fatbin_is (const void *image)
{
  uint32_t magic;
  memcpy (&magic, image, sizeof magic);
  return magic == WRAPPER_MAGIC || magic == CONTAINER_MAGIC;
}

/* A length whose nibble was 15 goes on in bytes, the last of which is not 255. */
static bool
more_length (const unsigned char **from, const unsigned char *end, size_t *length)
{
  unsigned char byte;
  if (*length != 15)
    return true;
  do
    {
      if (*from == end)
        return false;
      byte = *(*from)++;
      *length += byte;
    }
  while (byte == 255);
  return true;
}

/* The LZ4 block format: literals, then a match of at least four bytes, until the input ends. */
static bool
read_lz4 (const unsigned char *from, size_t bytes, char *to, size_t room, size_t *written)
{
  const unsigned char *end = from + bytes;
  size_t at = 0;
  while (from < end)
    {
      size_t literals = *from >> 4, match = *from & 15;
      from++;
      if (!more_length (&from, end, &literals) || literals > (size_t) (end - from)
          || literals > room - at)
        return false;
      memcpy (to + at, from, literals);
      from += literals;
      at += literals;
      if (from == end)
        break;
      if (end - from < 2)
        return false;
      size_t back = (size_t) from[0] | (size_t) from[1] << 8;
      from += 2;
      if (!more_length (&from, end, &match))
        return false;
      match += 4;
      if (back == 0 || back > at || match > room - at)
        return false;
      for (size_t i = 0; i < match; i++, at++)
        to[at] = to[at - back];
    }
  *written = at;
  return true;
}

typedef size_t (*ZstdDecompress) (void *to, size_t room, const void *from, size_t bytes);
typedef unsigned (*ZstdIsError) (size_t code);

/* zstd is everywhere on Debian, since dpkg needs it; it is opened when it is needed. */
static bool
read_zstd (const unsigned char *from, size_t bytes, char *to, size_t room, size_t *written,
           char *error)
{
  void *library = dlopen ("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
  ZstdDecompress decompress = NULL;
  ZstdIsError is_error = NULL;
  if (library != NULL)
    {
      *(void **) &decompress = dlsym (library, "ZSTD_decompress");
      *(void **) &is_error = dlsym (library, "ZSTD_isError");
    }
  if (decompress == NULL || is_error == NULL)
    return fail (error, "the device code is compressed with zstd and libzstd.so.1 is not "
                        "installed: install libzstd1, or compile with --no-compress");
  *written = decompress (to, room, from, bytes);
  return !is_error (*written) || fail (error, "the compressed device code is damaged");
}

#define MAX_TEXT_BYTES ((uint64_t) 1 << 30)

static char *
entry_text (const Entry *entry, char *error)
{
  const unsigned char *data = (const unsigned char *) entry + entry->header_bytes;
  bool lz4 = (entry->flags & FLAG_LZ4) != 0, zstd = (entry->flags & FLAG_ZSTD) != 0;
  uint64_t room = lz4 || zstd ? entry->plain_bytes : entry->bytes;
  size_t packed = entry->compressed_bytes > 0 ? entry->compressed_bytes : entry->bytes;
  size_t written = 0;
  if (room > MAX_TEXT_BYTES || packed > entry->bytes)
    {
      fail (error, "the fat binary is damaged");
      return NULL;
    }
  char *text = calloc (1, room + 1);
  if (text == NULL)
    abort ();
  if (!lz4 && !zstd)
    {
      memcpy (text, data, room);
      return text;
    }
  if (zstd ? read_zstd (data, packed, text, room, &written, error)
           : read_lz4 (data, packed, text, room, &written))
    return text;
  if (lz4)
    fail (error, "the compressed device code is damaged");
  free (text);
  return NULL;
}

static void
add_text (VgpuTexts *texts, char *text)
{
  texts->texts = realloc (texts->texts, (texts->count + 2) * sizeof *texts->texts);
  if (texts->texts == NULL)
    abort ();
  texts->texts[texts->count++] = text;
  texts->texts[texts->count] = NULL;
}

/* PTX for sm_90a runs on that architecture alone. */
static bool
is_specific_to_other (const char *text, int device)
{
  const char *target = strstr (text, ".target sm_");
  char *end;
  if (target == NULL)
    return false;
  long number = strtol (target + strlen (".target sm_"), &end, 10);
  return (*end == 'a' || *end == 'f') && number != device;
}

typedef struct
{
  int device;
  char *best;
  uint32_t best_device;
  bool machine_code, newer;
} Choice;

static bool
consider (const Entry *entry, Choice *choice, char *error)
{
  choice->machine_code = choice->machine_code || entry->kind != KIND_PTX;
  if (entry->kind != KIND_PTX)
    return true;
  choice->newer = choice->newer || (int) entry->device > choice->device;
  if ((int) entry->device > choice->device
      || (choice->best != NULL && entry->device < choice->best_device))
    return true;
  char *text = entry_text (entry, error);
  if (text == NULL)
    return false;
  if (is_specific_to_other (text, choice->device))
    {
      choice->newer = true;
      free (text);
      return true;
    }
  free (choice->best);
  choice->best = text;
  choice->best_device = entry->device;
  return true;
}

/* Adds the best text of a container. One without any entry adds none. */
static bool
read_container (const Container *container, int device, VgpuTexts *texts, char *error)
{
  Choice choice = {.device = device};
  const unsigned char *at = (const unsigned char *) container + container->header_bytes;
  uint64_t left = container->bytes;
  if (container->magic != CONTAINER_MAGIC)
    return fail (error, "the fat binary is damaged");
  while (left >= sizeof (Entry))
    {
      const Entry *entry = (const Entry *) at;
      uint64_t bytes = entry->header_bytes + entry->bytes;
      if (entry->header_bytes < sizeof (Entry) || bytes > left || !consider (entry, &choice, error))
        {
          free (choice.best);
          return error[0] != '\0' ? false : fail (error, "the fat binary is damaged");
        }
      at += bytes;
      left -= bytes;
    }
  if (choice.best != NULL)
    add_text (texts, choice.best);
  else if (choice.newer)
    {
      snprintf (error, VGPU_ERROR_BYTES,
                "all PTX of the program is for architectures above sm_%d: set target, or compile "
                "with -gencode arch=compute_%d,code=compute_%d",
                device, device, device);
      return false;
    }
  else if (choice.machine_code)
    return fail (error, "the program contains machine code and no PTX: compile it with PTX, as by "
                        "-gencode arch=compute_80,code=compute_80");
  return true;
}

bool
vgpu_fatbin_texts (const void *image, int device, VgpuTexts *texts, char *error)
{
  const Wrapper *wrapper = image;
  error[0] = '\0';
  if (wrapper->magic != WRAPPER_MAGIC)
    return read_container (image, device, texts, error);
  /* What was linked holds machine code; PTX is in the parts it was linked from. */
  if (wrapper->version < 2 || wrapper->linked == NULL || wrapper->linked[0] == NULL)
    return read_container (wrapper->data, device, texts, error);
  for (const void *const *part = wrapper->linked; *part != NULL; part++)
    read_container (*part, device, texts, error);
  /* The toolkit's own part for launches from kernels fits few architectures, and is wanted seldom. */
  return texts->count > 0 || error[0] == '\0';
}

void *
vgpu_fatbin_of_text (const char *text, size_t length)
{
  uint64_t bytes = (length + 8) / 8 * 8;
  Container *container = calloc (1, sizeof (Container) + sizeof (Entry) + bytes);
  if (container == NULL)
    abort ();
  Entry *entry = (Entry *) (container + 1);
  *container = (Container) {.magic = CONTAINER_MAGIC,
                            .version = 1,
                            .header_bytes = sizeof *container,
                            .bytes = sizeof *entry + bytes};
  *entry = (Entry) {.kind = KIND_PTX, .header_bytes = sizeof *entry, .bytes = bytes};
  memcpy (entry + 1, text, length);
  return container;
}

void *
vgpu_fatbin_of_parts (void *const *parts)
{
  _Static_assert(sizeof (Wrapper) == VGPU_FATBIN_WRAPPER_BYTES, "as told in the header");
  Wrapper *wrapper = calloc (1, sizeof *wrapper);
  if (wrapper == NULL)
    abort ();
  *wrapper = (Wrapper) {WRAPPER_MAGIC, 2, parts[0], (const void *const *) parts};
  return wrapper;
}

void
vgpu_texts_clear (VgpuTexts *texts)
{
  for (size_t i = 0; i < texts->count; i++)
    free (texts->texts[i]);
  free (texts->texts);
  *texts = (VgpuTexts) {0};
}
