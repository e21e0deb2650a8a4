/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/sandbox/capture.h"

#include <string.h>

struct _AssayCapture
{
  gsize half; /* bytes kept at either end */
  GString *head;
  char *ring;
  gsize ring_next, ring_used;
  guint64 total;
};

AssayCapture *
assay_capture_new (gsize cap_bytes)
{
  AssayCapture *capture = g_new0 (AssayCapture, 1);
  capture->half = MAX (cap_bytes / 2, 1);
  capture->head = g_string_new (NULL);
  return capture;
}

void
assay_capture_free (AssayCapture *capture)
{
  g_string_free (capture->head, TRUE);
  g_free (capture->ring);
  g_free (capture);
}

static void
feed_ring (AssayCapture *capture, const char *data, gsize bytes)
{
  if (!capture->ring)
    capture->ring = g_malloc (capture->half);
  if (bytes > capture->half)
    {
      data += bytes - capture->half;
      bytes = capture->half;
    }
  gsize first = MIN (bytes, capture->half - capture->ring_next);
  memcpy (capture->ring + capture->ring_next, data, first);
  memcpy (capture->ring, data + first, bytes - first);
  capture->ring_next = (capture->ring_next + bytes) % capture->half;
  capture->ring_used = MIN (capture->ring_used + bytes, capture->half);
}

void
assay_capture_feed (AssayCapture *capture, const char *data, gsize bytes)
{
  gsize room = capture->half - capture->head->len;
  gsize first = MIN (room, bytes);
  capture->total += bytes;
  g_string_append_len (capture->head, data, (gssize) first);
  if (bytes > first)
    feed_ring (capture, data + first, bytes - first);
}

guint64
assay_capture_total (const AssayCapture *capture)
{
  return capture->total;
}

char *
assay_capture_text (const AssayCapture *capture)
{
  g_autoptr (GString) raw = g_string_new_len (capture->head->str, (gssize) capture->head->len);
  guint64 kept = capture->head->len + capture->ring_used;
  if (capture->total > kept)
    g_string_append_printf (raw, "\n[… %" G_GUINT64_FORMAT " bytes left out …]\n",
                            capture->total - kept);
  gsize start = capture->ring_used < capture->half ? 0 : capture->ring_next;
  for (gsize i = 0; i < capture->ring_used; i++)
    g_string_append_c (raw, capture->ring[(start + i) % capture->half]);
  return assay_text_clean (raw->str, (gssize) raw->len);
}

char *
assay_text_clean (const char *data, gssize bytes)
{
  g_autofree char *valid = g_utf8_make_valid (data, bytes);
  GString *out = g_string_sized_new (strlen (valid));
  for (const char *c = valid; *c; c = g_utf8_next_char (c))
    {
      gunichar u = g_utf8_get_char (c);
      gboolean control = (u < 0x20 && u != '\n' && u != '\t') || (u >= 0x7f && u < 0xa0);
      gboolean direction = (u >= 0x202a && u <= 0x202e) || (u >= 0x2066 && u <= 0x2069);
      if (u == '\r')
        continue;
      g_string_append_unichar (out, control || direction ? 0xfffd : u);
    }
  return g_string_free (out, FALSE);
}
