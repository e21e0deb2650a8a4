/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The kernels of a PTX module and what they take, read from its text (PTX ISA, "Kernel and function
 * directives"). */

typedef struct
{
  char type[8]; /* "u64", "f32", "b8" … */
  gsize bytes;  /* of the whole parameter: elements times their size */
  gsize offset; /* in the parameter block */
} AssayPtxParameter;

typedef struct
{
  char *name;         /* as in PTX, mangled for C++ functions */
  char *plain;        /* the function's own name, without scopes and types */
  GArray *parameters; /* AssayPtxParameter */
} AssayPtxEntry;

/* (transfer full): a function's own name out of its C++ one, without scopes and types; other names as
 * they are. */
char *assay_plain_name (const char *name);

/* (transfer full): AssayPtxEntry *, in order of appearance. */
GPtrArray *assay_ptx_entries (const char *ptx);

/* The entry that `symbol` means: by its exact name, else by its plain name when only one has it.
 * Owned by the array; NULL where there is none or `symbol` is ambiguous. */
const AssayPtxEntry *assay_ptx_find (GPtrArray *entries, const char *symbol);

G_END_DECLS
