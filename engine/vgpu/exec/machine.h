/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/vgpu/exec/texture.h"
#include "engine/vgpu/check/reach.h"
#include "engine/vgpu/ptx/source.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The machine that executes decoded PTX.
 *
 * A register is a row: the values of a warp's 32 lanes side by side. Rows of constants, parameters
 * and special registers look just the same, so a handler has one form of operand: a byte offset,
 * negative into the rows shared by a block, else into the warp's own. Predicates are one 32-bit
 * mask at the start of their row. */

#define VGPU_LANES 32
#define VGPU_RESERVED_SHARED 1024 /* bytes of shared memory that the system keeps of a block */
#define VGPU_FULL 0xffffffffu
#define VGPU_ROW_UNIT 64 /* every row starts at a multiple of this */

/* Windows of the generic address space. Global memory keeps its host addresses, which end below. */
#define VGPU_WINDOW_SHARED ((uint64_t) 1 << 60)
#define VGPU_WINDOW_LOCAL ((uint64_t) 2 << 60)
#define VGPU_WINDOW_PARAM ((uint64_t) 3 << 60)
#define VGPU_WINDOW_CODE ((uint64_t) 4 << 60) /* addresses of functions */
#define VGPU_WINDOW_MASK ((uint64_t) 7 << 60)

typedef struct VgpuIns VgpuIns;
typedef struct VgpuWarp VgpuWarp;
typedef struct VgpuWorker VgpuWorker;
typedef struct VgpuLaunch VgpuLaunch;
typedef struct VgpuKernel VgpuKernel;
typedef struct VgpuAllocation VgpuAllocation;
typedef struct VgpuTeam VgpuTeam;

/* Executes one instruction for the active lanes; returns the next one, NULL to leave the loop. */
typedef const VgpuIns *(*VgpuHandler) (VgpuWarp *warp, const VgpuIns *ins);

enum
{
  VGPU_INS_FTZ = 1 << 0,
  VGPU_INS_SAT = 1 << 1,
  VGPU_INS_ROUND = 3 << 2, /* VGPU_ROUND_… */
  VGPU_INS_GUARD_NEGATED = 1 << 4,
  VGPU_INS_NEGATED = 1 << 5,      /* of a predicate operand */
  VGPU_INS_SIGNED = 1 << 6,       /* loads sign-extend */
  VGPU_INS_STRONG = 1 << 7,       /* volatile, relaxed, acquire, release: no data race */
  VGPU_INS_UNIFORM = 1 << 8,      /* the text promises that all lanes agree */
  VGPU_INS_WIDE_ADDRESS = 1 << 9, /* the address register has 64 bits */
  VGPU_INS_WIDE_VALUE = 1 << 10,  /* the data register is wider than what memory holds */
  VGPU_INS_RELU = 1 << 11,
  VGPU_INS_NAN = 1 << 12,     /* min and max that propagate NaN */
  VGPU_INS_COMBINE = 3 << 13, /* VGPU_COMBINE_… */
  VGPU_INS_WATCHED = 1 << 16, /* may meet the accumulators of a wgmma */
  VGPU_INS_MOVES = 1 << 17,   /* of these: only moves one */
  VGPU_INS_SUM = 1 << 18,     /* accesses: the address a is still to be added up from b and c */
  VGPU_INS_SPLIT_NEGATED = 1 << 15 /* !c of a setp that combines */
};

enum
{
  VGPU_ROUND_NEAREST = 0 << 2,
  VGPU_ROUND_ZERO = 1 << 2,
  VGPU_ROUND_DOWN = 2 << 2,
  VGPU_ROUND_UP = 3 << 2
};

enum
{
  VGPU_COMBINE_NONE = 0 << 13,
  VGPU_COMBINE_AND = 1 << 13,
  VGPU_COMBINE_OR = 2 << 13,
  VGPU_COMBINE_XOR = 3 << 13
};

/* How the uninitialised-read check treats an instruction. */
typedef enum
{
  VGPU_TAINT_NONE,
  VGPU_TAINT_MIX,     /* d is as dubious as a, b and c together */
  VGPU_TAINT_SELECT,  /* of a or b only the chosen one counts */
  VGPU_TAINT_BRANCH,  /* the predicate a decides */
  VGPU_TAINT_HANDLED, /* by the handler */
  VGPU_TAINT_CLEAN    /* d is fresh */
} VgpuTaint;

struct VgpuIns
{
  VgpuHandler run;
  VgpuHandler guarded; /* what run, then the guard, wraps */
  int32_t d, a, b, c;  /* rows */
  int64_t imm;
  int32_t guard; /* row of the guarding predicate */
  uint32_t flags;
  uint32_t target;     /* branch: index of an instruction */
  uint32_t reconverge; /* branch: block where lanes meet again, or VGPU_NONE */
  uint32_t site;       /* memory instruction, block: number among its kind */
  uint32_t extra;      /* index of further operands in the kernel's list */
  uint32_t location;
  uint16_t op;
  uint8_t bytes; /* memory: of one element */
  uint8_t vec;   /* memory: elements */
  uint8_t taint;
  uint8_t is_guarded;
  int line; /* of the PTX text */
};

typedef struct
{
  const VgpuIns *pc;
  uint32_t mask;
  uint32_t reconverge;
} VgpuDivergence;

#define VGPU_FIRST_DIVERGENCE 96
#define VGPU_MAX_DIVERGENCE (1 << 16)
#define VGPU_MAX_PARKED 32

typedef struct VgpuCopies VgpuCopies;
typedef struct VgpuWgmmas VgpuWgmmas;
typedef struct VgpuCalls VgpuCalls;

typedef enum
{
  VGPU_WARP_READY,
  VGPU_WARP_BARRIER,
  VGPU_WARP_CLUSTER, /* waits for the blocks of its cluster */
  VGPU_WARP_DONE
} VgpuWarpState;

struct VgpuWarp
{
  char *base[2]; /* own rows; end of the shared rows */
  uint32_t mask; /* active lanes */
  uint32_t alive;
  uint32_t reconverge;
  uint32_t depth;
  uint32_t carry;
  uint32_t checks;
  uint32_t tainted; /* some row of this warp has been uninitialised in this block */
  uint32_t single;  /* handlers return after one instruction */
  VgpuWorker *worker;
  const VgpuKernel *kernel;
  const VgpuIns *pc;
  VgpuWarpState state;
  uint32_t index;       /* in its block */
  uint32_t epoch;       /* counts __syncwarp and block barriers */
  uint32_t barrier;     /* waits at this one */
  uint32_t barrier_red; /* lanes whose predicate holds, for barriers that reduce */
  uint32_t *poison;     /* per row: lanes whose value is uninitialised */
  uint32_t *origin;     /* per row: instruction that loaded it */
  char *local;          /* words of the lanes interleaved */
  VgpuCopies *copies;   /* asynchronous copies not yet waited for, where races are looked for */
  VgpuWgmmas *wgmmas;   /* products not yet waited for, likewise */
  VgpuDivergence *stack;
  uint32_t stack_capacity;
  VgpuCalls *calls; /* made and not yet returned from; NULL: none ever */
  /* Paths that stand at a .sync instruction until the other lanes it names come there. */
  VgpuDivergence parked[VGPU_MAX_PARKED];
  uint32_t parked_count;
  bool gave_up; /* the path that runs has waited in vain */
  bool stalled; /* ended its turn because it looks at a barrier that is not complete */
  uint32_t stalls;
  uint32_t cluster_arrived;        /* lanes that have arrived at the barrier of the cluster */
  uint32_t cluster_phase;          /* in which they did */
  uint32_t bulk_group[VGPU_LANES]; /* of bulk copies, the one that is being filled */
  bool bulk_used;                  /* some of them are not 0 */
};

/* A basic block, for counts. */
typedef struct
{
  uint32_t first; /* instruction behind its header */
  uint32_t count; /* instructions of the PTX text */
  uint32_t flops32, flops64, flops16;
} VgpuBasicBlock;

typedef enum
{
  VGPU_ROW_IMMEDIATE, /* value */
  VGPU_ROW_PARAMETER, /* value: offset; source_bytes wide */
  VGPU_ROW_NTID,      /* value: axis, as in the next seven but rank and size */
  VGPU_ROW_NCTAID,
  VGPU_ROW_CTAID,
  VGPU_ROW_CLUSTER_CTAID,
  VGPU_ROW_CLUSTER_NCTAID,
  VGPU_ROW_CLUSTER_ID,
  VGPU_ROW_CLUSTERS,
  VGPU_ROW_CLUSTER_RANK,
  VGPU_ROW_CLUSTER_SIZE,
  VGPU_ROW_TID,
  VGPU_ROW_LANE,
  VGPU_ROW_LANEMASK, /* value: 0 eq, 1 le, 2 lt, 3 ge, 4 gt */
  VGPU_ROW_WARP,
  VGPU_ROW_WARPS,
  VGPU_ROW_SM,
  VGPU_ROW_SMS,
  VGPU_ROW_DYNAMIC_SHARED,
  VGPU_ROW_TOTAL_SHARED,
  VGPU_ROW_RESERVED_SHARED, /* value: bytes into the part that the system keeps, behind the block's own */
  VGPU_ROW_GRID,
  VGPU_ROW_WORKSPACE /* value: bits to shift the address of the grid's workspace by */
} VgpuRowKind;

/* A row filled by the machine rather than by an instruction. */
typedef struct
{
  VgpuRowKind kind;
  uint8_t bytes;
  int32_t offset; /* negative: shared by the block */
  uint64_t value;
} VgpuFixedRow;

typedef struct
{
  uint64_t offset;
  uint64_t bytes;
} VgpuParameter;

/* A row of a function's own. */
typedef struct
{
  int32_t offset;
  uint32_t bytes; /* of one lane; 1: a predicate */
} VgpuRow;

/* A function that is called rather than expanded in place: because it calls itself, or through its
 * address. Its variables of local memory lie on each lane's stack. */
typedef struct
{
  const VgpuFunction *function;
  uint64_t address; /* what a pointer to it holds; 0: none */
  uint32_t entry;   /* index of its first instruction */
  int32_t base_row; /* where its frame begins, in local memory */
  uint64_t frame_bytes;
  uint32_t first_row, row_count; /* in the kernel's list */
} VgpuCallable;

/* What is done beforehand: once a launch by one warp for all, once a launch by each warp, once a block
 * by one warp for all. */
#define VGPU_HOISTED 3

struct VgpuKernel
{
  const char *name;
  const VgpuSource *source;
  const VgpuFunction *function;
  VgpuIns *code;
  size_t code_count;
  VgpuIns *
      listing; /* the code as it was before some of it was done beforehand; NULL: that is all of it */
  size_t listing_count;
  VgpuIns *hoisted[VGPU_HOISTED];
  size_t hoisted_count[VGPU_HOISTED];
  int32_t *extra;
  size_t extra_count;
  VgpuBasicBlock *blocks;
  size_t block_count;
  VgpuFixedRow *rows;
  size_t row_count;
  VgpuParameter *parameters;
  size_t parameter_count;
  uint64_t parameter_bytes;
  size_t site_count;       /* memory instructions */
  size_t shared_row_bytes; /* rows shared by a block */
  size_t warp_row_bytes;   /* rows of a warp */
  uint32_t static_shared;
  uint32_t shared_align;
  uint64_t local_bytes; /* of one thread, its stack included */
  uint64_t stack_start; /* in it */
  VgpuCallable *callables;
  size_t callable_count;
  VgpuRow *own_rows; /* of the callables */
  size_t own_row_count;
  int32_t stack_row; /* first free byte of each lane's stack */
  /* Numbers of operations that checkers look for. */
  uint16_t load_shared_op, store_shared_op, store_generic_op, reduce_op, copy_op, bulk_op,
      tensor_op;
  bool plain;         /* made for the plain handlers: checkers take no short cuts either */
  bool order_matters; /* atomics or printf whose outcome depends on the order of blocks */
  bool uses_heap;     /* allocates in device code */
  bool dynamic_shared;
  bool uses_reserved; /* what the system keeps of shared memory: cooperative groups work there */
  bool reads_async;   /* reads shared memory by bulk copies or wgmma */
  bool synchronises_blocks; /* its blocks may learn from one another by atomics */
};

/* What a memory instruction remembers, per worker. */
typedef struct
{
  uint64_t lo, hi; /* the last allocation it hit */
  VgpuAllocation *allocation;
  uint64_t requests;
  uint64_t lanes;
  uint64_t sectors;
  uint64_t ideal_sectors;
  uint64_t ways; /* shared: sum of conflict degrees, in hundredths */
  VgpuPattern pattern;
  /* Of that pattern: sectors by the place in a sector, in words; ways by the place in a word. 0: not
   * known. */
  uint16_t results[8];
} VgpuSite;

typedef struct VgpuRaceCell VgpuRaceCell;
typedef struct VgpuNeighbourCell VgpuNeighbourCell;
typedef struct VgpuRaceLog VgpuRaceLog;

/* Who may read a word of shared memory until somebody writes it or a barrier is passed: one warp
 * between two of its own barriers, or VGPU_ANY_WARP. */
#define VGPU_ANY_WARP 0xffffu
#define VGPU_QUIET(epoch, warp, warp_epoch)                                                        \
  ((uint64_t) (epoch) << 32 | (uint64_t) (warp) << 16 | ((warp_epoch) &0xffffu))

typedef struct
{
  uint32_t needed;   /* threads; 0: nobody waits */
  uint32_t arrived;  /* threads that have arrived, those that will not wait included */
  uint32_t location; /* of the first that waits */
  uint32_t reduced_and, reduced_or, reduced_count;
} VgpuBarrier;

#define VGPU_BARRIERS 16

struct VgpuWorker
{
  VgpuLaunch *launch;
  uint32_t block_id[3];
  uint64_t block_number;
  char *shared;
  uint64_t shared_bytes;
  unsigned char *shared_valid; /* a byte per byte: initialised */
  VgpuRaceCell *races;
  VgpuRaceLog *race_log; /* NULL: none is kept, every word is looked at */
  uint16_t *in_flight;   /* per word: warp + 1 whose asynchronous copy has not been waited for */
  uint64_t *quiet;       /* per word: VGPU_QUIET of readers whose next read cannot race */
  uint32_t epoch;        /* block barriers so far, over all blocks of this worker */
  VgpuNeighbourCell
      *neighbours;   /* per word: what other blocks of the cluster do; NULL: nothing yet */
  uint32_t *generic; /* per 16 bytes: proxy_fences at the last store; NULL: none yet */
  uint32_t proxy_fences;
  VgpuBarrier barriers[VGPU_BARRIERS];
  uint32_t barriers_used; /* a bit each */
  VgpuTeam *team;
  uint32_t rank;       /* in it */
  uint32_t idle_turns; /* in which all warps looked in vain at barriers that nobody changed */
  VgpuWarp *warps;
  uint32_t warp_count;
  char *rows;
  char *local;
  uint32_t *poison;
  VgpuSite *sites;
  uint64_t *block_warps;
  uint64_t *block_lanes;
  uint64_t instructions; /* warp instructions */
  uint64_t counted;      /* of these, what the launch's total knows */
  int32_t fuel;          /* back edges until the next look at stop flag and budget */
  int32_t fuel_full;     /* and between two looks */
  uint64_t strong;       /* atomics and volatile accesses, to tell a lane that spins */
  uint64_t strong_known; /* of these, at the last look */
  uint64_t random;
} __attribute__ ((aligned (64)));

enum
{
  VGPU_CHECK_UNINIT = 1 << 0,
  VGPU_CHECK_RACE = 1 << 1,
  VGPU_CHECK_RACE_GLOBAL = 1 << 2,
  VGPU_CHECK_SYNC = 1 << 3,
  VGPU_CHECK_COUNTS = 1 << 4,
  VGPU_CHECK_ALL = 31,
  VGPU_CHECK_LEAK = 1 << 5 /* a program's affair, not a launch's: to be asked for by name */
};

typedef enum
{
  VGPU_MATH_IDEAL,
  VGPU_MATH_ADVERSARIAL
} VgpuMathMode;

typedef struct VgpuMemory VgpuMemory;
typedef struct VgpuPrinter VgpuPrinter;

/* One launch; fields above the line are the caller's. */
struct VgpuLaunch
{
  const VgpuKernel *kernel;
  VgpuMemory *memory;
  const VgpuTextures *textures; /* the objects that kernels may name */
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t cluster[3]; /* blocks of one; 0 counts as 1 */
  uint32_t dynamic_shared;
  const unsigned char *parameters;
  uint32_t checks;
  VgpuMathMode math;
  uint32_t threads; /* at least 1 */
  uint64_t seed;
  uint64_t max_instructions;
  uint64_t print_cap;
  bool print_to_stdout;
  uint32_t sm_count;
  uint32_t sm_version;
  const atomic_int *interrupt;
  bool first_fault_stops;
  bool cooperative; /* all blocks are under way at once, so that they may wait for one another */
  uint64_t
      grid_workspace; /* of cooperative launches: address of what the runtime keeps for a grid */
  /* -- */
  atomic_int fault; /* CUresult of the first fault, 0: none */
  atomic_int stop;  /* workers leave at the next back edge or block */
  /* On lines of their own, since every thread writes them. */
  atomic_uint_fast64_t next_team __attribute__ ((aligned (64)));
  atomic_uint_fast64_t instructions;
  uint64_t team_stretch __attribute__ ((aligned (64))); /* clusters taken at a time */
  uint64_t block_total;
  uint64_t team_total;
  uint32_t team_size;
  uint64_t *team_order; /* NULL: ascending */
  VgpuTeam **teams;
  uint32_t team_count;
  uint32_t block_threads;
  VgpuPrinter *printer;
  VgpuWorker *workers;
  uint32_t worker_count;
};

/* Handlers exist once per instruction set of the host; this is the set in use, and whether it is the
 * plain one. */
extern const VgpuHandler *vgpu_handlers;
bool vgpu_handlers_are_plain (void);
