/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/worker/contract.h"

const char *const ASSAY_REQUESTS[] = {"probe", "compile", "build", "reference",
                                      "run",   "matrix",  "bench", NULL};
const char *const ASSAY_REPLIES[] = {"phase", "launch", "finding", "caveat", "error", "done", NULL};

static const char *const PROBE_PHASES[] = {"open", NULL};
static const char *const COMPILE_PHASES[] = {"load", "compile", "write", NULL};
static const char *const BUILD_PHASES[] = {"compile", "write", NULL};
static const char *const REFERENCE_PHASES[] = {"load", "call", NULL};
static const char *const RUN_PHASES[] = {"open",   "load",        "allocate", "upload",
                                         "launch", "synchronise", "download", NULL};
static const char *const MATRIX_PHASES[] = {"load", "compile", NULL};
static const char *const BENCH_PHASES[] = {"open",    "load",     "allocate", "upload",
                                           "measure", "download", NULL};

const char *const *const ASSAY_PHASES[ASSAY_N_REQUESTS] = {
    PROBE_PHASES, COMPILE_PHASES, BUILD_PHASES, REFERENCE_PHASES,
    RUN_PHASES,   MATRIX_PHASES,  BENCH_PHASES,
};

#define F(member_, kind_, ...) ASSAY_JSON_FIELD (T, member_, #member_, kind_, __VA_ARGS__)
#define REQUIRED .flags = ASSAY_JSON_REQUIRED

#define T AssayWorkerError
static const AssayJsonField ERROR_FIELDS[] = {
    F (kind, STRING, REQUIRED), F (code, INT),   F (name, STRING), F (message, STRING, REQUIRED),
    F (phase, STRING),          F (log, STRING), F (names, STRV),  ASSAY_JSON_END,
};
#undef T
const AssayJsonTable ASSAY_WORKER_ERROR_TABLE = {"worker error", sizeof (AssayWorkerError),
                                                 ERROR_FIELDS, NULL};

#define T AssayWorkerArray
static const AssayJsonField ARRAY_FIELDS[] = {
    F (name, STRING, REQUIRED),
    F (fd, INT, REQUIRED),
    F (offset, INT),
    F (bytes, INT, REQUIRED),
    F (role, STRING, REQUIRED),
    F (dtype, STRING),
    F (integer, BOOLEAN),
    ASSAY_JSON_END,
};
#undef T
const AssayJsonTable ASSAY_WORKER_ARRAY_TABLE = {"array", sizeof (AssayWorkerArray), ARRAY_FIELDS,
                                                 NULL};

#define T AssayWorkerArgument
static const AssayJsonField ARGUMENT_FIELDS[] = {
    F (array, STRING),    F (integer, INT),    F (real, DOUBLE),
    F (is_real, BOOLEAN), F (single, BOOLEAN), ASSAY_JSON_END,
};
#undef T
const AssayJsonTable ASSAY_WORKER_ARGUMENT_TABLE = {"argument", sizeof (AssayWorkerArgument),
                                                    ARGUMENT_FIELDS, NULL};

#define T AssayWorkerSetting
static const AssayJsonField SETTING_FIELDS[] = {
    F (key, STRING, REQUIRED),
    F (value, STRING, REQUIRED),
    ASSAY_JSON_END,
};
#undef T
const AssayJsonTable ASSAY_WORKER_SETTING_TABLE = {"setting", sizeof (AssayWorkerSetting),
                                                   SETTING_FIELDS, NULL};

#define T AssayWorkerSource
static const AssayJsonField SOURCE_FIELDS[] = {
    F (path, STRING, REQUIRED),
    F (name, STRING, REQUIRED),
    ASSAY_JSON_END,
};
#undef T
const AssayJsonTable ASSAY_WORKER_SOURCE_TABLE = {"source", sizeof (AssayWorkerSource),
                                                  SOURCE_FIELDS, NULL};

#define T AssayWorkerRung
static const AssayJsonField RUNG_FIELDS[] = {
    F (real, INT, REQUIRED),
    F (fd, INT, REQUIRED),
    ASSAY_JSON_END,
};
#undef T
const AssayJsonTable ASSAY_WORKER_RUNG_TABLE = {"rung", sizeof (AssayWorkerRung), RUNG_FIELDS,
                                                NULL};

#define T AssayWorkerRequest
static const AssayJsonField REQUEST_FIELDS[] = {
    F (nonce, STRING, REQUIRED),
    F (request, ENUM, .words = ASSAY_REQUESTS, REQUIRED),
    F (nvrtc, STRING),
    F (nvcc, STRING),
    F (includes, STRV),
    F (target, STRING),
    F (targets, STRV),
    F (slice, INT),
    F (slices, INT),
    F (sources, LIST, .table = &ASSAY_WORKER_SOURCE_TABLE),
    F (options, STRV),
    F (symbol, STRING),
    F (resources, BOOLEAN),
    F (output_fd, INT),
    F (library_fd, INT),
    F (host, BOOLEAN),
    F (compiler, STRING),
    F (wrapper_path, STRING),
    F (rungs, LIST, .table = &ASSAY_WORKER_RUNG_TABLE),
    F (real, INT),
    F (image_fd, INT),
    F (arrays, LIST, .table = &ASSAY_WORKER_ARRAY_TABLE),
    F (arguments, LIST, .table = &ASSAY_WORKER_ARGUMENT_TABLE),
    F (driver, STRING),
    F (device, INT),
    F (settings, LIST, .table = &ASSAY_WORKER_SETTING_TABLE),
    F (grid, INTS),
    F (block, INTS),
    F (shared, INT),
    F (seconds, DOUBLE),
    F (turns_fd, INT),
    ASSAY_JSON_END,
};
#undef T
const AssayJsonTable ASSAY_WORKER_REQUEST_TABLE = {"request", sizeof (AssayWorkerRequest),
                                                   REQUEST_FIELDS, NULL};
