/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/worker/channel.h"

G_BEGIN_DECLS

/* What a worker can be asked; each serves one request to its `done` or `error`. */
void assay_worker_probe (AssayChannel *channel, const AssayWorkerRequest *request);
void assay_worker_compile (AssayChannel *channel, const AssayWorkerRequest *request);
void assay_worker_matrix (AssayChannel *channel, const AssayWorkerRequest *request);
void assay_worker_build (AssayChannel *channel, const AssayWorkerRequest *request);
void assay_worker_reference (AssayChannel *channel, const AssayWorkerRequest *request);
void assay_worker_run (AssayChannel *channel, const AssayWorkerRequest *request);
void assay_worker_bench (AssayChannel *channel, const AssayWorkerRequest *request);

/* An array of the engine, mapped; writable unless its role is `in`. */
typedef struct
{
  const AssayWorkerArray *array;
  char *base;  /* of the whole memory, guards included */
  gsize bytes; /* of the whole memory */
} AssayMappedArray;

/* FALSE with `reason` (transfer full) when a descriptor is not what the request says. */
gboolean assay_worker_map (const AssayWorkerArray *array, AssayMappedArray *mapped, char **reason);
/* (transfer full): the whole of a descriptor, with a zero after it. */
char *assay_worker_read_all (int fd, gsize *bytes);
gboolean assay_worker_write_all (int fd, const char *data, gsize bytes);

G_END_DECLS
