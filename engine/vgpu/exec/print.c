/* SPDX-License-Identifier: Apache-2.0 */
/* Device printf: formats what the kernel packed into local memory, after the rules of C. */
#include "engine/vgpu/check/check.h"
#include "engine/vgpu/check/record.h"
#include "engine/vgpu/check/text.h"
#include "engine/vgpu/exec/control.h"

#include <stdio.h>
#include <string.h>

bool
vgpu_read_generic (const VgpuWarp *warp, uint32_t lane, uint64_t address, void *to, uint32_t bytes)
{
  const VgpuWorker *worker = warp->worker;
  uint64_t window = address & VGPU_WINDOW_MASK;
  uint64_t offset = address & ~VGPU_WINDOW_MASK;
  if (window == VGPU_WINDOW_LOCAL)
    {
      if (offset > warp->kernel->local_bytes || warp->kernel->local_bytes - offset < bytes)
        return false;
      for (uint32_t i = 0; i < bytes; i++, offset++)
        ((char *) to)[i] = warp->local[(offset >> 2) * (4 * VGPU_LANES) + lane * 4 + (offset & 3)];
      return true;
    }
  if (window == VGPU_WINDOW_SHARED)
    {
      if (offset > worker->shared_bytes || worker->shared_bytes - offset < bytes)
        return false;
      memcpy (to, worker->shared + offset, bytes);
      return true;
    }
  if (window == VGPU_WINDOW_PARAM)
    {
      if (offset > warp->kernel->parameter_bytes || warp->kernel->parameter_bytes - offset < bytes)
        return false;
      memcpy (to, worker->launch->parameters + offset, bytes);
      return true;
    }
  const VgpuAllocation *allocation =
      window == 0 ? vgpu_memory_find (worker->launch->memory, address) : NULL;
  if (allocation == NULL || allocation->freed || allocation->hi - address < bytes)
    return false;
  memcpy (to, (const void *) (uintptr_t) address, bytes);
  return true;
}

bool
vgpu_read_text (const VgpuWarp *warp, uint32_t lane, uint64_t address, char *to, size_t size)
{
  for (size_t i = 0; i + 1 < size; i++)
    {
      if (!vgpu_read_generic (warp, lane, address + i, &to[i], 1))
        {
          to[i] = '\0';
          return i > 0;
        }
      if (to[i] == '\0')
        return true;
    }
  to[size - 1] = '\0';
  return true;
}

typedef struct
{
  const VgpuWarp *warp;
  uint32_t lane;
  uint64_t at; /* next argument */
} Arguments;

static uint64_t
next_argument (Arguments *arguments, uint32_t bytes)
{
  uint64_t value = 0;
  arguments->at = (arguments->at + bytes - 1) & ~(uint64_t) (bytes - 1);
  vgpu_read_generic (arguments->warp, arguments->lane, arguments->at, &value, bytes);
  arguments->at += bytes;
  return value;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
/* flags is the part between '%' and the length: flags, width, precision, stars resolved. */
static void
print_integer (VgpuText *text, Arguments *arguments, const char *flags, bool wide, char type)
{
  char format[64];
  snprintf (format, sizeof format, "%%%sll%c", flags, type);
  uint64_t value = next_argument (arguments, wide ? 8 : 4);
  if (!wide && (type == 'd' || type == 'i'))
    value = (uint64_t) (int64_t) (int32_t) value;
  vgpu_text_add (text, format, (unsigned long long) value);
}

static void
print_double (VgpuText *text, Arguments *arguments, const char *flags, char type)
{
  char format[64];
  uint64_t bits = next_argument (arguments, 8);
  double value;
  memcpy (&value, &bits, sizeof value);
  snprintf (format, sizeof format, "%%%s%c", flags, type);
  vgpu_text_add (text, format, value);
}

static void
print_string (VgpuText *text, Arguments *arguments, const char *flags)
{
  char format[64], string[1024];
  uint64_t address = next_argument (arguments, 8);
  if (address == 0
      || !vgpu_read_text (arguments->warp, arguments->lane, address, string, sizeof string))
    snprintf (string, sizeof string, "(null)");
  snprintf (format, sizeof format, "%%%ss", flags);
  vgpu_text_add (text, format, string);
}
#pragma GCC diagnostic pop

/* Flags, width and precision of one conversion; stars take arguments. Numbers are cut to three
 * digits: what a kernel asks for must not exhaust the host. */
static const char *
read_flags (const char *at, Arguments *arguments, char *flags)
{
  size_t length = 0;
  int digits = 0;
  while (*at != '\0' && strchr ("-+ #0123456789.*", *at) != NULL)
    {
      if (*at == '*')
        {
          int32_t value = (int32_t) next_argument (arguments, 4);
          value = value > 512 ? 512 : value < -512 ? -512 : value;
          if (length < 34)
            length += (size_t) snprintf (flags + length, 6, "%d", value);
        }
      else
        {
          /* A zero before the number is a flag, not one of its digits. */
          if (*at < '0' || *at > '9')
            digits = 0;
          else if (digits > 0 || *at != '0')
            digits++;
          if (length < 34 && digits <= 3)
            flags[length++] = *at;
        }
      at++;
    }
  flags[length] = '\0';
  return at;
}

static const char *
print_conversion (VgpuText *text, const char *at, Arguments *arguments)
{
  char flags[48];
  int longs = 0;
  at = read_flags (at, arguments, flags);
  for (; *at != '\0' && strchr ("hlzjt", *at) != NULL; at++)
    longs += *at == 'l' || *at == 'z' || *at == 'j' || *at == 't';
  if (*at == '\0')
    return at;
  if (strchr ("diouxXc", *at) != NULL && *at != 'c')
    print_integer (text, arguments, flags, longs > 0, *at);
  else if (*at == 'c')
    vgpu_text_add (text, "%c", (char) next_argument (arguments, 4));
  else if (strchr ("eEfFgGaA", *at) != NULL)
    print_double (text, arguments, flags, *at);
  else if (*at == 's')
    print_string (text, arguments, flags);
  else if (*at == 'p')
    vgpu_text_add (text, "0x%llx", (unsigned long long) next_argument (arguments, 8));
  else
    vgpu_text_add (text, "%c", *at);
  return at + 1;
}

static void
print_lane (const VgpuWarp *warp, uint32_t lane, uint64_t format_address, uint64_t arguments_at)
{
  char format[2048];
  VgpuText text = {0};
  Arguments arguments = {warp, lane, arguments_at};
  if (!vgpu_read_text (warp, lane, format_address, format, sizeof format))
    return;
  for (const char *at = format; *at != '\0';)
    {
      size_t plain = strcspn (at, "%");
      vgpu_text_add_bytes (&text, at, plain);
      at += plain;
      if (*at == '%')
        at = print_conversion (&text, at + 1, &arguments);
    }
  vgpu_printer_add (warp->worker->launch->printer, text.data, text.length);
  vgpu_text_clear (&text);
}

void
vgpu_print (VgpuWarp *warp, const VgpuIns *ins)
{
  const uint64_t *formats = (const uint64_t *) (warp->base[(uint32_t) ins->a >> 31] + ins->a);
  const uint64_t *arguments = (const uint64_t *) (warp->base[(uint32_t) ins->b >> 31] + ins->b);
  uint32_t *results = (uint32_t *) (warp->base[0] + ins->d);
  for (uint32_t left = warp->mask; left != 0; left &= left - 1)
    {
      uint32_t lane = (uint32_t) __builtin_ctz (left);
      print_lane (warp, lane, formats[lane], arguments[lane]);
      results[lane] = 0;
    }
}
