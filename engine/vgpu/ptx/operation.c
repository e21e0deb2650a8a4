/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/vgpu/ptx/operation.h"
#include "engine/vgpu/exec/machine.h"

#include <string.h>

const VgpuOperation vgpu_operations[VGPU_OP_COUNT] = {
#define VGPU_ENTRY(id, pattern, kind, d, a, b, c) {#id, pattern, VGPU_KIND_##kind, {d, a, b, c}},
#include "engine/vgpu/ptx/operation-rows.h"
};

typedef struct
{
  const char *text;
  size_t length;
} Part;

static bool
next_part (const char **at, Part *part)
{
  if (**at == '\0')
    return false;
  const char *dot = strchr (*at, '.');
  part->text = *at;
  part->length = dot != NULL ? (size_t) (dot - *at) : strlen (*at);
  *at += part->length + (dot != NULL);
  return true;
}

static bool
is_choice (Part choices, Part word)
{
  const char *at = choices.text;
  const char *end = at + choices.length;
  while (at < end)
    {
      const char *bar = memchr (at, '|', (size_t) (end - at));
      size_t length = (size_t) ((bar != NULL ? bar : end) - at);
      if (length == word.length && memcmp (at, word.text, length) == 0)
        return true;
      at += length + 1;
    }
  return false;
}

static uint32_t
flag_of (Part word)
{
  static const struct
  {
    const char *name;
    uint32_t flag;
  } flags[] = {
      {"ftz", VGPU_INS_FTZ},   {"sat", VGPU_INS_SAT},     {"rz", VGPU_ROUND_ZERO},
      {"rm", VGPU_ROUND_DOWN}, {"rp", VGPU_ROUND_UP},     {"relu", VGPU_INS_RELU},
      {"NaN", VGPU_INS_NAN},   {"uni", VGPU_INS_UNIFORM}, {"and", VGPU_COMBINE_AND},
      {"or", VGPU_COMBINE_OR}, {"xor", VGPU_COMBINE_XOR},
  };
  for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
    if (strlen (flags[i].name) == word.length
        && memcmp (flags[i].name, word.text, word.length) == 0)
      return flags[i].flag;
  return 0;
}

bool
vgpu_pattern_match (const char *pattern, const char *opcode, uint32_t *flags)
{
  Part wanted, word = {NULL, 0};
  bool have = next_part (&opcode, &word);
  *flags = 0;
  while (next_part (&pattern, &wanted))
    {
      bool optional = wanted.text[0] == '?';
      if (optional)
        {
          wanted.text++;
          wanted.length--;
        }
      if (have && is_choice (wanted, word))
        {
          *flags |= flag_of (word);
          have = next_part (&opcode, &word);
        }
      else if (!optional)
        return false;
    }
  return !have;
}

VgpuOp
vgpu_operation_find (const char *opcode, bool compare, uint32_t *flags)
{
  size_t stem = strcspn (opcode, ".");
  for (int op = 0; op < VGPU_OP_COUNT; op++)
    {
      const VgpuOperation *operation = &vgpu_operations[op];
      if ((operation->kind == VGPU_KIND_COMPARE) != compare || operation->pattern[0] == '\0')
        continue;
      if (!compare
          && (strncmp (operation->pattern, opcode, stem) != 0 || operation->pattern[stem] != '.'))
        continue;
      if (vgpu_pattern_match (operation->pattern, opcode, flags))
        return (VgpuOp) op;
    }
  return VGPU_OP_COUNT;
}
