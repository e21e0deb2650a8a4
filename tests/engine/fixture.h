/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* Small tasks made for a test: y = 2 x over n floats, in which one thing is wrong. */

typedef struct
{
  const char *id;
  const char *kernel;       /* body of the .cu file; NULL: a right one, named as `symbol` */
  const char *symbol;       /* NULL: "doubled" */
  const char *reference;    /* C; NULL: a right one */
  const char *grid, *block; /* JSON; NULL: what covers n with blocks of 256 */
  const char *dtype;        /* of both arrays; NULL: float32 */
  gint64 n;                 /* 0: 1000 */
  gboolean host;            /* `symbol` is a host function: (const float *, float *, int) */
  const char *manifest;     /* the whole task.json, when nothing else will do */
} FixtureTask;

/* (transfer full): the task's folder below `parent`. */
char *fixture_task (const char *parent, const FixtureTask *task);
/* Merges members of a JSON object into the task's file. */
void fixture_extend (const char *task, const char *extra);
/* Gives the task a starting point: a kernel `symbol` in `source`, launched as the candidate is by default. */
void fixture_start (const char *task, const char *symbol, const char *source);
/* (transfer full): a fresh folder, private to the test. */
char *fixture_folder (void);
void fixture_remove (const char *folder);

/* Points ASSAY_LIBEXEC at a folder with the worker and with the driver that `fake` says: the fake
 * one as the virtual GPU, or the real virtual GPU. */
void fixture_libexec (const char *folder, gboolean fake);

/* NULL, or why no kernel can be compiled and run in a sandbox here. */
const char *fixture_why_not (void);

/* What loses its parent becomes a child of this process, and is counted below it. */
void fixture_adopt (void);
/* Number of living processes of `program` below this one, however many generations down. */
guint fixture_alive (const char *program);
/* The same for the sandboxed worker. */
guint fixture_workers_alive (void);

G_END_DECLS
