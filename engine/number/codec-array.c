/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/number/dtype.h"
#include "engine/number/half.h"

uint64_t
assay_dtype_load (AssayDtype dtype, const void *data, size_t index)
{
  const uint8_t *bytes = data;
  uint16_t u16;
  uint32_t u32;
  uint64_t u64;
  switch (assay_dtype_format (dtype)->component_bytes)
    {
    case 1:
      return bytes[index];
    case 2:
      memcpy (&u16, bytes + 2 * index, sizeof u16);
      return u16;
    case 4:
      memcpy (&u32, bytes + 4 * index, sizeof u32);
      return u32;
    default:
      memcpy (&u64, bytes + 8 * index, sizeof u64);
      return u64;
    }
}

void
assay_dtype_store (AssayDtype dtype, void *data, size_t index, uint64_t code)
{
  uint8_t *bytes = data;
  uint16_t u16 = (uint16_t) code;
  uint32_t u32 = (uint32_t) code;
  switch (assay_dtype_format (dtype)->component_bytes)
    {
    case 1:
      bytes[index] = (uint8_t) code;
      break;
    case 2:
      memcpy (bytes + 2 * index, &u16, sizeof u16);
      break;
    case 4:
      memcpy (bytes + 4 * index, &u32, sizeof u32);
      break;
    default:
      memcpy (bytes + 8 * index, &code, sizeof code);
      break;
    }
}

static void
decode_float32 (const void *data, size_t first, size_t count, double *values)
{
  const uint8_t *bytes = (const uint8_t *) data + 4 * first;
  for (size_t i = 0; i < count; i++)
    {
      float value;
      memcpy (&value, bytes + 4 * i, sizeof value);
      values[i] = value;
    }
}

static void
decode_float16 (const void *data, size_t first, size_t count, double *values)
{
  const uint8_t *bytes = (const uint8_t *) data + 2 * first;
  for (size_t i = 0; i < count; i++)
    {
      uint16_t code;
      memcpy (&code, bytes + 2 * i, sizeof code);
      values[i] = assay_half_to_float (code);
    }
}

static void
decode_bfloat16 (const void *data, size_t first, size_t count, double *values)
{
  const uint8_t *bytes = (const uint8_t *) data + 2 * first;
  for (size_t i = 0; i < count; i++)
    {
      uint16_t code;
      memcpy (&code, bytes + 2 * i, sizeof code);
      values[i] = assay_bfloat_to_float (code);
    }
}

/* One-byte formats by a table of their 256 codes, when there are enough elements to pay for it. */
static void
decode_bytes (AssayDtype dtype, const void *data, size_t first, size_t count, double *values)
{
  const uint8_t *bytes = (const uint8_t *) data + first;
  double table[256];
  for (int code = 0; code < 256; code++)
    table[code] = assay_dtype_decode (dtype, (uint64_t) code);
  for (size_t i = 0; i < count; i++)
    values[i] = table[bytes[i]];
}

void
assay_dtype_decode_array (AssayDtype dtype, const void *data, size_t first, size_t count,
                          double *values)
{
  dtype = assay_dtype_component (dtype);
  if (dtype == ASSAY_DTYPE_FLOAT64)
    memcpy (values, (const double *) data + first, count * sizeof *values);
  else if (dtype == ASSAY_DTYPE_FLOAT32)
    decode_float32 (data, first, count, values);
  else if (dtype == ASSAY_DTYPE_FLOAT16)
    decode_float16 (data, first, count, values);
  else if (dtype == ASSAY_DTYPE_BFLOAT16)
    decode_bfloat16 (data, first, count, values);
  else if (assay_dtype_format (dtype)->component_bytes == 1 && count >= 512)
    decode_bytes (dtype, data, first, count, values);
  else
    for (size_t i = 0; i < count; i++)
      values[i] = assay_dtype_decode (dtype, assay_dtype_load (dtype, data, first + i));
}

static void
encode_float32 (const double *values, size_t count, void *data, size_t first)
{
  uint8_t *bytes = (uint8_t *) data + 4 * first;
  for (size_t i = 0; i < count; i++)
    {
      float value = (float) values[i];
      memcpy (bytes + 4 * i, &value, sizeof value);
    }
}

static void
encode_narrow (AssayDtype dtype, const double *values, size_t count, void *data, size_t first)
{
  uint8_t *bytes = (uint8_t *) data + 2 * first;
  bool half = dtype == ASSAY_DTYPE_FLOAT16;
  for (size_t i = 0; i < count; i++)
    {
      uint16_t code = half ? assay_double_to_half (values[i]) : assay_double_to_bfloat (values[i]);
      memcpy (bytes + 2 * i, &code, sizeof code);
    }
}

void
assay_dtype_encode_array (AssayDtype dtype, const double *values, size_t count, void *data,
                          size_t first)
{
  dtype = assay_dtype_component (dtype);
  if (dtype == ASSAY_DTYPE_FLOAT64)
    memcpy ((double *) data + first, values, count * sizeof *values);
  else if (dtype == ASSAY_DTYPE_FLOAT32)
    encode_float32 (values, count, data, first);
  else if (dtype == ASSAY_DTYPE_FLOAT16 || dtype == ASSAY_DTYPE_BFLOAT16)
    encode_narrow (dtype, values, count, data, first);
  else
    for (size_t i = 0; i < count; i++)
      assay_dtype_store (dtype, data, first + i, assay_dtype_encode (dtype, values[i]));
}
