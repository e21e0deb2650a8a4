/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/base/json-table.h"

G_BEGIN_DECLS

/* The words of the worker contract, in one table for both ends; docs/worker.md tells them. One JSON
 * object a line over descriptor 3: one request down, replies up, each with the request's nonce, the
 * last of them `done` or `error`. */

typedef enum
{
  ASSAY_REQUEST_PROBE,     /* which devices a driver shows */
  ASSAY_REQUEST_COMPILE,   /* CUDA source to PTX, by NVRTC */
  ASSAY_REQUEST_BUILD,     /* C source to shared libraries, by the system's compiler */
  ASSAY_REQUEST_REFERENCE, /* call a library that was built so */
  ASSAY_REQUEST_RUN,       /* launch a kernel */
  ASSAY_REQUEST_MATRIX,    /* compile for many targets, for what the compiler says alone */
  ASSAY_REQUEST_BENCH,     /* launch the same again and again, in turn with another worker */
  ASSAY_N_REQUESTS,
} AssayRequestKind;

typedef enum
{
  ASSAY_REPLY_PHASE,
  ASSAY_REPLY_LAUNCH,
  ASSAY_REPLY_FINDING,
  ASSAY_REPLY_CAVEAT,
  ASSAY_REPLY_ERROR,
  ASSAY_REPLY_DONE,
  ASSAY_N_REPLIES,
} AssayReplyKind;

extern const char *const ASSAY_REQUESTS[];
extern const char *const ASSAY_REPLIES[];

/* The phases of a request, in the only order in which they may be told; NULL-terminated. */
extern const char *const *const ASSAY_PHASES[ASSAY_N_REQUESTS];

/* What went wrong in a worker: kind says who speaks. */
typedef struct
{
  char
      *kind; /* driver | compile | symbol | arguments | build | reference | request | environment */
  gint64 code; /* the driver's or compiler's own number; 0 where there is none */
  char *name;  /* "CUDA_ERROR_ILLEGAL_ADDRESS" */
  char *message;
  char *phase;
  char *log;    /* compiler's text, at most 64 KiB */
  char **names; /* what there is, where a name was not found */
} AssayWorkerError;

ASSAY_JSON_DECLARE (AssayWorkerError, assay_worker_error, ASSAY_WORKER_ERROR_TABLE)

typedef struct
{
  char *name;
  gint64 fd;
  gint64 offset; /* of the first element; what comes before and after is guard */
  gint64 bytes;  /* of the elements */
  char *role;    /* in | inout | out */
  char *dtype;   /* reference: what the elements of `in` and `inout` are, to be widened exactly */
  gboolean integer; /* reference: int64_t rather than REAL */
} AssayWorkerArray;

/* One argument of a kernel or function: an array by name, or a number, whose width the callee's own
 * signature decides. */
typedef struct
{
  char *array;
  gint64 integer;
  double real;
  gboolean is_real;
  gboolean single; /* host functions: a float rather than a double */
} AssayWorkerArgument;

typedef struct
{
  char *key, *value;
} AssayWorkerSetting;

typedef struct
{
  char *path; /* inside the sandbox */
  char *name; /* relative to the task folder, for messages */
} AssayWorkerSource;

/* A shared library to build: the value of ASSAY_REAL (engine/task/reference.h), and the descriptor
 * that receives it. */
typedef struct
{
  gint64 real;
  gint64 fd;
} AssayWorkerRung;

typedef struct
{
  char *nonce;
  int request; /* AssayRequestKind */

  /* compile */
  char *nvrtc;
  char *nvcc; /* the second way, for files with host code; may be NULL */
  char **includes;
  char *target;         /* "sm_80" */
  char **targets;       /* of `matrix`: NULL for every architecture that NVRTC knows */
  gint64 slice, slices; /* of `matrix`: every one of them with index % slices == slice; slice
                           1 of 1 is none, and asks for the list alone */
  GPtrArray *sources;   /* AssayWorkerSource *; the first one holds the symbol */
  char **options;
  char *symbol;       /* of kernel or function, as the task names it */
  gboolean resources; /* registers and spills as well: costs the time of ptxas */
  gint64 output_fd;   /* PTX */
  gint64 library_fd;  /* host: the shared library that nvcc makes; of `run` as well */
  gboolean host;      /* `symbol` is a host function that launches, not a kernel */

  /* build */
  char *compiler;
  char *wrapper_path; /* our own C that calls the task's */
  GPtrArray *rungs;   /* AssayWorkerRung * */

  /* reference: arrays of role `out` receive REAL (4, 8 or 16 bytes) or int64_t as they are. One
   * argument for each parameter of the function, in order. */
  gint64 real;

  /* reference and run */
  gint64 image_fd;      /* the library, or the PTX */
  GPtrArray *arrays;    /* AssayWorkerArray * */
  GPtrArray *arguments; /* AssayWorkerArgument * */

  /* run and probe */
  char *driver;
  gint64 device;
  GPtrArray *settings;  /* AssayWorkerSetting *, of the virtual GPU */
  GArray *grid, *block; /* gint64 × 3 */
  gint64 shared;
  double seconds; /* after which a launch is interrupted from inside */

  /* bench, beside what `run` has */
  gint64 turns_fd; /* an AssayTurns (turns.h) */
} AssayWorkerRequest;

ASSAY_JSON_DECLARE (AssayWorkerRequest, assay_worker_request, ASSAY_WORKER_REQUEST_TABLE)
ASSAY_JSON_DECLARE (AssayWorkerArray, assay_worker_array, ASSAY_WORKER_ARRAY_TABLE)
ASSAY_JSON_DECLARE (AssayWorkerArgument, assay_worker_argument, ASSAY_WORKER_ARGUMENT_TABLE)
ASSAY_JSON_DECLARE (AssayWorkerSetting, assay_worker_setting, ASSAY_WORKER_SETTING_TABLE)
ASSAY_JSON_DECLARE (AssayWorkerSource, assay_worker_source, ASSAY_WORKER_SOURCE_TABLE)
ASSAY_JSON_DECLARE (AssayWorkerRung, assay_worker_rung, ASSAY_WORKER_RUNG_TABLE)

G_END_DECLS
