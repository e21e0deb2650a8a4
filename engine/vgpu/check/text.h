/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Text that grows, and the report stream that it goes to: one JSON object a line, each written
 * with one write so that it survives whatever ends the process next. */
typedef struct
{
  char *data;
  size_t length;
  size_t capacity;
} VgpuText;

void vgpu_text_add (VgpuText *text, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));
void vgpu_text_add_bytes (VgpuText *text, const char *bytes, size_t length);
/* A JSON string with its quotes; bytes that are no UTF-8 become U+FFFD. NULL becomes null. */
void vgpu_text_add_json (VgpuText *text, const char *string);
void vgpu_text_clear (VgpuText *text);

/* Where lines go; -1: nowhere. */
void vgpu_stream_open (int fd);
bool vgpu_stream_is_open (void);

/* Ends the line and writes it. */
void vgpu_stream_write (VgpuText *text);
