/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/vgpu/ptx/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* PTX text as parsed, before anything is known about what the instructions mean. */

#define VGPU_NONE UINT32_MAX
#define VGPU_ERROR_BYTES 512

typedef enum
{
  VGPU_SPACE_NONE,
  VGPU_SPACE_GENERIC,
  VGPU_SPACE_GLOBAL,
  VGPU_SPACE_CONST,
  VGPU_SPACE_SHARED,
  VGPU_SPACE_LOCAL,
  VGPU_SPACE_PARAM
} VgpuSpace;

/* One element of an initialiser that is an address: written at offset when the module is loaded. */
typedef struct VgpuRelocation
{
  struct VgpuRelocation *next;
  const char *symbol;
  int64_t addend;
  uint64_t offset;
} VgpuRelocation;

/* How other parts of a program see a name; matters when parts are linked. */
typedef enum
{
  VGPU_LINKAGE_LOCAL,
  VGPU_LINKAGE_VISIBLE,
  VGPU_LINKAGE_WEAK, /* or .common */
  VGPU_LINKAGE_EXTERN
} VgpuLinkage;

typedef struct VgpuVariable
{
  const char *name;
  VgpuLinkage linkage;
  VgpuSpace space;
  uint32_t align;
  uint32_t element; /* bytes of one element */
  uint64_t bytes;
  bool external;          /* extern or unsized: dynamic shared memory */
  unsigned char *initial; /* bytes long, or NULL */
  VgpuRelocation *relocations;
  uint64_t place; /* offset in its space, or device address; set when laid out */
  struct VgpuVariable *next;
} VgpuVariable;

typedef enum
{
  VGPU_OPERAND_NONE,
  VGPU_OPERAND_REGISTER,
  VGPU_OPERAND_INTEGER, /* value */
  VGPU_OPERAND_FLOAT32, /* value: bits */
  VGPU_OPERAND_FLOAT64, /* value: bits */
  VGPU_OPERAND_SPECIAL, /* name: "%tid.x" */
  VGPU_OPERAND_SYMBOL,  /* name or variable, plus value */
  VGPU_OPERAND_ADDRESS, /* list[0] (register, symbol or integer) plus value */
  VGPU_OPERAND_VECTOR,  /* {a, b, …} */
  VGPU_OPERAND_LIST,    /* (a, b, …) of a call */
  VGPU_OPERAND_SINK     /* _ */
} VgpuOperandKind;

typedef struct VgpuOperand
{
  VgpuOperandKind kind;
  bool negated;    /* !%p */
  uint32_t reg;    /* index into the function's registers */
  uint32_t second; /* of %p|%q, else VGPU_NONE */
  const char *name;
  VgpuVariable *variable;
  int64_t value;
  struct VgpuOperand *list;
  uint32_t count;
} VgpuOperand;

#define VGPU_MAX_OPERANDS 10

typedef enum
{
  VGPU_STATEMENT_INSTRUCTION,
  VGPU_STATEMENT_LABEL,  /* opcode: its name */
  VGPU_STATEMENT_TARGETS /* .branchtargets: label in opcode, names in operand[0] */
} VgpuStatementKind;

typedef struct
{
  VgpuStatementKind kind;
  const char *opcode;
  VgpuOperand *operands;
  uint32_t operand_count;
  uint32_t guard; /* predicate register, or VGPU_NONE */
  bool guard_negated;
  uint32_t scope; /* for labels, which may repeat in inner scopes */
  uint32_t location;
  int line; /* of the PTX text */
} VgpuStatement;

/* A place in the source that PTX was made from (.loc). */
typedef struct
{
  int file; /* number of the .file directive; 0: unknown */
  int line;
  int column;
  int inlined_file; /* where the code was inlined; 0: it was not */
  int inlined_line;
  int inlined_column;
} VgpuLocation;

typedef struct
{
  const char *name;
  uint8_t bits; /* 1 for predicates */
} VgpuRegister;

/* A location as reports show it: the innermost line in the kernel's own file, beside it the line in a
 * header that was inlined there, and the line of the kernel that all of it was inlined at. */
typedef struct
{
  const char *file;
  int line;
  const char *inner_file; /* NULL when it is the same place */
  int inner_line;
  const char *outer_file; /* likewise */
  int outer_line;
} VgpuPlace;

typedef struct VgpuFunction
{
  const char *name;
  VgpuLinkage linkage;
  bool is_entry;
  bool has_body;
  uint64_t address; /* what a pointer to it holds; set when the module is laid out */
  int line;
  VgpuVariable **parameters;
  size_t parameter_count;
  size_t parameter_capacity;
  VgpuVariable **results;
  size_t result_count;
  size_t result_capacity;
  VgpuVariable *variables; /* shared, local and parameter variables of the body */
  VgpuRegister *registers;
  size_t register_count;
  size_t register_capacity;
  VgpuStatement *statements;
  size_t statement_count;
  size_t statement_capacity;
  uint32_t *scope_parents;
  size_t scope_count;
  size_t scope_capacity;
  uint32_t max_threads[3]; /* .maxntid; 0: not given */
  bool threads_required;   /* .reqntid */
  uint32_t max_registers;
  uint32_t cluster[3]; /* .reqnctapercluster; 0: not given */
  struct VgpuFunction *next;
} VgpuFunction;

typedef struct
{
  int number;
  const char *path;
} VgpuFile;

typedef struct
{
  VgpuArena arena;
  int version_major;
  int version_minor;
  const char *target; /* "sm_80" */
  VgpuVariable *variables;
  VgpuFunction *functions; /* definitions win over declarations of the same name */
  VgpuLocation *locations;
  size_t location_count;
  size_t location_capacity;
  VgpuPlace *places; /* of the locations */
  VgpuFile *files;
  size_t file_count;
  size_t file_capacity;
} VgpuSource;

/* Parses PTX text. On failure returns false and writes a sentence with the line to error
 * (VGPU_ERROR_BYTES); source is then to be cleared all the same. */
bool vgpu_source_parse (VgpuSource *source, const char *text, size_t length, char *error);

void vgpu_source_clear (VgpuSource *source);

VgpuFunction *vgpu_source_function (const VgpuSource *source, const char *name);
VgpuVariable *vgpu_source_variable (const VgpuSource *source, const char *name);
/* All fields zero for a location that is not known. */
VgpuPlace vgpu_source_place (const VgpuSource *source, uint32_t location);
/* Works the places out, once parsing is done. */
void vgpu_source_resolve_places (VgpuSource *source);
const char *vgpu_source_file (const VgpuSource *source, int number);

/* Bytes of a fundamental type such as ".f32"; 0 for what is none. ".pred" is 0 as well. */
uint32_t vgpu_type_bytes (const char *type, size_t length);
