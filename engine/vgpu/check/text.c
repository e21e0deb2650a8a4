/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/vgpu/check/text.h"

#include "engine/vgpu/ptx/arena.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_int stream_fd = -1;
static pthread_mutex_t stream_lock = PTHREAD_MUTEX_INITIALIZER;

static void
reserve (VgpuText *text, size_t more)
{
  if (text->length + more + 1 <= text->capacity)
    return;
  text->capacity = (text->length + more + 1) * 2;
  text->data = vgpu_retake (text->data, text->capacity);
}

void
vgpu_text_add_bytes (VgpuText *text, const char *bytes, size_t length)
{
  reserve (text, length);
  memcpy (text->data + text->length, bytes, length);
  text->length += length;
  text->data[text->length] = '\0';
}

void
vgpu_text_add (VgpuText *text, const char *format, ...)
{
  va_list arguments, again;
  va_start (arguments, format);
  va_copy (again, arguments);
  int length = vsnprintf (NULL, 0, format, arguments);
  va_end (arguments);
  if (length > 0)
    {
      reserve (text, (size_t) length);
      vsnprintf (text->data + text->length, (size_t) length + 1, format, again);
      text->length += (size_t) length;
    }
  va_end (again);
}

/* Bytes of the UTF-8 character at string; 0 if it is none. */
static size_t
character_length (const unsigned char *string)
{
  static const struct
  {
    unsigned char mask, lead;
    size_t length;
    uint32_t least;
  } forms[] = {
      {0x80, 0x00, 1, 0}, {0xe0, 0xc0, 2, 0x80}, {0xf0, 0xe0, 3, 0x800}, {0xf8, 0xf0, 4, 0x10000}};
  for (size_t i = 0; i < 4; i++)
    {
      if ((string[0] & forms[i].mask) != forms[i].lead)
        continue;
      uint32_t code = string[0] & (unsigned char) ~forms[i].mask;
      for (size_t j = 1; j < forms[i].length; j++)
        {
          if ((string[j] & 0xc0) != 0x80)
            return 0;
          code = code << 6 | (string[j] & 0x3f);
        }
      bool surrogate = code >= 0xd800 && code < 0xe000;
      return code < forms[i].least || code > 0x10ffff || surrogate ? 0 : forms[i].length;
    }
  return 0;
}

void
vgpu_text_add_json (VgpuText *text, const char *string)
{
  if (string == NULL)
    {
      vgpu_text_add (text, "null");
      return;
    }
  vgpu_text_add_bytes (text, "\"", 1);
  for (const unsigned char *at = (const unsigned char *) string; *at != '\0';)
    {
      size_t length = character_length (at);
      if (length == 0)
        vgpu_text_add_bytes (text, "\xef\xbf\xbd", 3);
      else if (*at == '"' || *at == '\\')
        vgpu_text_add (text, "\\%c", *at);
      else if (*at == '\n')
        vgpu_text_add_bytes (text, "\\n", 2);
      else if (*at < 0x20)
        vgpu_text_add (text, "\\u%04x", *at);
      else
        vgpu_text_add_bytes (text, (const char *) at, length);
      at += length > 0 ? length : 1;
    }
  vgpu_text_add_bytes (text, "\"", 1);
}

void
vgpu_text_clear (VgpuText *text)
{
  free (text->data);
  memset (text, 0, sizeof *text);
}

void
vgpu_stream_open (int fd)
{
  atomic_store (&stream_fd, fd);
}

bool
vgpu_stream_is_open (void)
{
  return atomic_load (&stream_fd) >= 0;
}

void
vgpu_stream_write (VgpuText *text)
{
  int fd = atomic_load (&stream_fd);
  vgpu_text_add_bytes (text, "\n", 1);
  if (fd < 0)
    return;
  pthread_mutex_lock (&stream_lock);
  for (size_t done = 0; done < text->length;)
    {
      ssize_t written = write (fd, text->data + done, text->length - done);
      if (written > 0)
        done += (size_t) written;
      else if (written < 0 && errno != EINTR)
        break;
    }
  pthread_mutex_unlock (&stream_lock);
}
