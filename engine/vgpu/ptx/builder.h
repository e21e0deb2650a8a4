/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/vgpu/exec/machine.h"
#include "engine/vgpu/ptx/operation.h"

/* From parsed PTX to code for the machine. Calls are expanded in place, so that one kernel is one
 * graph and lanes can meet again at post-dominators across what were functions. */

/* Builds an entry function. On failure returns NULL and writes a sentence with the PTX line to
 * error (VGPU_ERROR_BYTES). Module variables must have their addresses by then. */
VgpuKernel *vgpu_kernel_build (const VgpuSource *source, const VgpuFunction *entry, char *error);
void vgpu_kernel_free (VgpuKernel *kernel);

/* A variable of the thread's local memory: of one expansion of a function. */
typedef struct
{
  const VgpuVariable *variable;
  uint64_t offset;
} VgpuBinding;

typedef struct
{
  const char *name;
  uint32_t scope;
  uint32_t at;
} VgpuLabel;

/* One expansion of a function. */
typedef struct VgpuFrame
{
  const VgpuFunction *function;
  struct VgpuFrame *caller;
  int32_t base;          /* row with the place of its variables, where those lie on the stack */
  uint64_t *frame_bytes; /* of the callable it is part of; NULL: of the kernel */
  int32_t *rows;         /* of registers; INT32_MIN: not seen yet */
  VgpuBinding *bindings;
  size_t binding_count;
  size_t binding_capacity;
  VgpuLabel *labels;
  size_t label_count;
  size_t label_capacity;
  unsigned char *reads; /* of registers: some statement reads it; made when first asked for */
  VgpuLabel *jumps;     /* at: instruction whose target is to be set */
  size_t jump_count;
  size_t jump_capacity;
} VgpuFrame;

typedef struct
{
  uint32_t key;
  VgpuOp op;
  uint32_t flags;
  const char *opcode;
} VgpuOpcodeMemo;

#define VGPU_MEMO_SLOTS 512
#define VGPU_MAX_ARGUMENTS 64 /* of a callable, its results included */

/* Where the elements of a matrix lie in its registers, worked out once a kernel. */
typedef struct
{
  int32_t key[9];
  int32_t at; /* in the kernel's further operands */
} VgpuMapMemo;

typedef struct
{
  const VgpuSource *source;
  VgpuArena arena; /* of the build alone */
  VgpuKernel *kernel;
  VgpuFrame *frame;
  const VgpuStatement *statement;
  size_t code_capacity, extra_capacity, row_capacity;
  VgpuBinding *shared; /* places of shared variables in this kernel */
  size_t shared_count;
  size_t shared_capacity;
  const VgpuFunction **reached; /* by calls from the entry */
  size_t reached_count, reached_capacity;
  const VgpuFunction **pointed; /* whose address somebody takes */
  size_t pointed_count, pointed_capacity;
  bool pointed_known;
  size_t callable_capacity, own_row_capacity;
  bool owns_rows;     /* rows are those of a callable */
  int32_t place_base; /* of the variable whose place was asked for last */
  VgpuOpcodeMemo memo[VGPU_MEMO_SLOTS];
  VgpuMapMemo *maps;
  size_t map_count, map_capacity;
  int32_t guard; /* of the statement, INT32_MIN: none */
  bool guard_negated;
  bool failed;
  char *error;
} VgpuBuilder;

#define VGPU_NO_ROW INT32_MIN

bool vgpu_builder_fail (VgpuBuilder *builder, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

/* The statement is one this machine does not execute. */
bool vgpu_builder_unsupported (VgpuBuilder *builder, const char *why);

/* Appends an instruction under the statement's guard. Valid until the next one is appended. */
VgpuIns *vgpu_emit (VgpuBuilder *builder, VgpuOp op);
VgpuIns *vgpu_emit_rows (VgpuBuilder *builder, VgpuOp op, int32_t d, int32_t a, int32_t b,
                         int32_t c);

int32_t vgpu_new_row (VgpuBuilder *builder, uint32_t bytes); /* 1 byte: a predicate */
int32_t vgpu_fixed_row (VgpuBuilder *builder, VgpuRowKind kind, uint32_t bytes, uint64_t value);
int32_t vgpu_constant (VgpuBuilder *builder, uint32_t bytes, uint64_t value);
uint32_t vgpu_extra (VgpuBuilder *builder, const int32_t *rows, size_t count);

/* The row of a source operand, brought to the width wanted; VGPU_NO_ROW after a failure. */
int32_t vgpu_source_row (VgpuBuilder *builder, const VgpuOperand *operand, uint32_t bytes);
int32_t vgpu_predicate_row (VgpuBuilder *builder, const VgpuOperand *operand);

/* A destination: the row to write, and afterwards what brings it to the register's width. */
typedef struct
{
  int32_t row;
  int32_t final; /* VGPU_NO_ROW: row is it */
  uint32_t bytes;
  uint32_t final_bytes;
} VgpuDestination;

VgpuDestination vgpu_destination (VgpuBuilder *builder, const VgpuOperand *operand, uint32_t bytes);
void vgpu_destination_done (VgpuBuilder *builder, const VgpuDestination *destination,
                            bool is_signed);
int32_t vgpu_predicate_destination (VgpuBuilder *builder, const VgpuOperand *operand);

/* Copies between rows of different widths. */
void vgpu_resize (VgpuBuilder *builder, int32_t from, uint32_t from_bytes, int32_t to,
                  uint32_t to_bytes, bool is_signed);

/* An address operand as row, offset and width of the row. */
typedef struct
{
  int32_t row;
  int64_t offset;
  bool wide;
  bool is_register;
  const VgpuVariable *variable;
} VgpuAddress;

bool vgpu_address (VgpuBuilder *builder, const VgpuOperand *operand, VgpuAddress *address);

/* Whether any statement of the function reads the register that operand names. */
bool vgpu_register_is_read (VgpuBuilder *builder, const VgpuOperand *operand);

/* Offset of a variable in local or shared memory, or its device address. Those of a callable count from
 * a row: builder->place_base, else that is VGPU_NO_ROW. */
bool vgpu_variable_place (VgpuBuilder *builder, const VgpuOperand *operand, uint64_t *place,
                          VgpuSpace *space);

uint32_t vgpu_register_bytes (const VgpuBuilder *builder, const VgpuOperand *operand);

/* Whether word is one of the dotted parts of the opcode behind its stem. */
bool vgpu_opcode_has (const char *opcode, const char *word);
/* Last part of the opcode, such as "f32". */
const char *vgpu_opcode_last (const char *opcode);
uint32_t vgpu_type_size (const char *type); /* "f32" → 4; 0: unknown */

/* Decoders of opcode families; false: failed. */
typedef bool (*VgpuFamilyDecoder) (VgpuBuilder *builder, const VgpuStatement *statement);
VgpuFamilyDecoder vgpu_family_find (const char *opcode);

bool vgpu_decode_call (VgpuBuilder *builder, const VgpuStatement *statement);
bool vgpu_build_function (VgpuBuilder *builder, VgpuFrame *frame);

/* decode-memory.c, decode-warp.c, decode-convert.c, decode-matrix.c */
bool vgpu_decode_load (VgpuBuilder *builder, const VgpuStatement *statement);
bool vgpu_decode_store (VgpuBuilder *builder, const VgpuStatement *statement);
bool vgpu_decode_atomic (VgpuBuilder *builder, const VgpuStatement *statement);
bool vgpu_decode_reduction (VgpuBuilder *builder, const VgpuStatement *statement);
bool vgpu_decode_copy_async (VgpuBuilder *builder, const VgpuStatement *statement);
bool vgpu_decode_mbarrier (VgpuBuilder *builder, const VgpuStatement *statement);
bool vgpu_decode_copy_arrive (VgpuBuilder *builder, const VgpuStatement *statement);
bool vgpu_decode_rank (VgpuBuilder *builder, const VgpuStatement *statement);
bool vgpu_decode_bulk (VgpuBuilder *builder, const VgpuStatement *statement);
bool vgpu_decode_store_async (VgpuBuilder *builder, const VgpuStatement *statement);
bool vgpu_decode_logic (VgpuBuilder *builder, const VgpuStatement *statement);
bool vgpu_decode_move_matrix (VgpuBuilder *builder, const VgpuStatement *statement);
/* Kind and type of an atomic or a reduction; false if there is no such. */
bool vgpu_read_atomic_code (const char *opcode, uint32_t *code, uint32_t *bytes);
bool vgpu_decode_video (VgpuBuilder *builder, const VgpuStatement *statement);
bool vgpu_decode_wgmma (VgpuBuilder *builder, const VgpuStatement *statement);
/* Finds the instructions that may read accumulators of wgmma, once all are there. */
void vgpu_watch_accumulators (VgpuBuilder *builder);
bool vgpu_decode_texture (VgpuBuilder *builder, const VgpuStatement *statement);
bool vgpu_decode_texture_query (VgpuBuilder *builder, const VgpuStatement *statement);
bool vgpu_decode_surface (VgpuBuilder *builder, const VgpuStatement *statement);
bool vgpu_decode_shuffle (VgpuBuilder *builder, const VgpuStatement *statement);
bool vgpu_decode_vote (VgpuBuilder *builder, const VgpuStatement *statement);
bool vgpu_decode_match (VgpuBuilder *builder, const VgpuStatement *statement);
bool vgpu_decode_redux (VgpuBuilder *builder, const VgpuStatement *statement);
bool vgpu_decode_active (VgpuBuilder *builder, const VgpuStatement *statement);
bool vgpu_decode_barrier (VgpuBuilder *builder, const VgpuStatement *statement);
bool vgpu_decode_move (VgpuBuilder *builder, const VgpuStatement *statement);
bool vgpu_decode_convert (VgpuBuilder *builder, const VgpuStatement *statement);
bool vgpu_decode_compare (VgpuBuilder *builder, const VgpuStatement *statement);
bool vgpu_decode_set (VgpuBuilder *builder, const VgpuStatement *statement);
bool vgpu_decode_matrix_load (VgpuBuilder *builder, const VgpuStatement *statement);
bool vgpu_decode_mma (VgpuBuilder *builder, const VgpuStatement *statement);
bool vgpu_decode_wmma (VgpuBuilder *builder, const VgpuStatement *statement);

uint64_t vgpu_align_to (uint64_t value, uint64_t align);
VgpuFrame *vgpu_frame_open (VgpuBuilder *builder, const VgpuFunction *function, VgpuFrame *caller);
void vgpu_frame_bind (VgpuBuilder *builder, VgpuFrame *frame, const VgpuVariable *variable,
                      uint64_t offset);
bool vgpu_build_function (VgpuBuilder *builder, VgpuFrame *frame);

/* Whether a statement calls through a register. */
bool vgpu_calls_pointer (const VgpuStatement *statement);
/* Finds the functions of the module whose address is taken. */
void vgpu_find_pointed (VgpuBuilder *builder);
/* Appends the functions that were called and not expanded. */
bool vgpu_build_callables (VgpuBuilder *builder);

/* Takes out of the code what need not be done again and again. */
void vgpu_hoist (VgpuKernel *kernel);

/* Cuts the code into blocks and finds where branches meet again. */
bool vgpu_build_flow (VgpuBuilder *builder);
