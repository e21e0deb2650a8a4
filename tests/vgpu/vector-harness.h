/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/vgpu/harness.h"

#define VECTOR_COUNT 4096

/* One instruction over many operands. types has a letter for the result and each source: h, w, d
 * for registers of 16, 32, 64 bits, p for a predicate result. */
typedef guint64 (*Reference) (guint64 a, guint64 b, guint64 c, const void *data);

typedef enum
{
  OPERANDS_INTEGER,
  OPERANDS_F32,
  OPERANDS_F64,
  OPERANDS_F16,
  OPERANDS_BF16
} Operands;

/* What a reference returns for a NaN of 64 bits, whose payload is open. */
#define ANY_NAN G_GUINT64_CONSTANT (0x7fffffffffffffff)

/* Fails the test with operands and both results when the virtual GPU and the reference differ in a
 * bit. Runs with the host's best instructions and with plain ones. */
void check_vectors (const char *opcode, const char *types, Operands operands, Reference reference,
                    const void *data);

/* The same with the results of tests/vgpu/exact.py. Skips the test where there is no Python. */
void check_vectors_exactly (const char *opcode, const char *types, Operands operands);

/* The same for instructions that end in a number. */
void check_vectors_with (const char *opcode, const char *types, int last, Operands operands,
                         Reference reference, const void *data);
