/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/device/driver.h"
#include "engine/worker/ptx-signature.h"
#include "engine/worker/roles.h"

#include <pthread.h>

G_BEGIN_DECLS

/* One launch on a device, shared by the files of the role `run`. */

#define ASSAY_JIT_LOG_BYTES 16384

typedef struct
{
  AssayMappedArray mapped;
  CUdeviceptr device;
} AssayDeviceArray;

typedef struct
{
  AssayChannel *channel;
  const AssayWorkerRequest *request;
  AssayDriver driver;
  CUmodule module;
  CUfunction function;
  AssayDeviceArray *arrays;
  GPtrArray *entries; /* AssayPtxEntry * */
  const AssayPtxEntry *entry;
  int report_fds[2]; /* the virtual GPU writes its findings into [1]; -1 with a real driver */
  pthread_t reporter;
  char log[ASSAY_JIT_LOG_BYTES];
} AssayDeviceRun;

/* Ends the request with a driver's error code; what the checkers saw goes first. FALSE for success. */
gboolean assay_run_driver_failed (AssayDeviceRun *run, const char *what, int code);
/* Ends the request; always FALSE. */
gboolean assay_run_fail (AssayDeviceRun *run, const char *kind, const char *format, ...)
    G_GNUC_PRINTF (3, 4);
/* The end of a request that worked: frees the device, sends what the checkers still have, and `done`. */
void assay_run_finish (AssayDeviceRun *run);
/* "launch", with the shape that the driver took. */
void assay_run_tell_launch (AssayDeviceRun *run, const char *kernel, CUfunction function,
                            const unsigned int *shape, gsize shared);
/* The device address of an array of the request, its first element; 0 for an unknown name. */
CUdeviceptr assay_run_address (const AssayDeviceRun *run, const char *array);

/* The steps of a run that timing shares; FALSE when the request is ended. */
gboolean assay_run_open_driver (AssayDeviceRun *run);
gboolean assay_run_load_module (AssayDeviceRun *run);
gboolean assay_run_map_arrays (AssayDeviceRun *run);
gboolean assay_run_download (AssayDeviceRun *run);

/* A launch or a call with its arguments in place for the arrays' present addresses. */
typedef struct _AssayLaunchPlan AssayLaunchPlan;
AssayLaunchPlan *assay_run_plan_kernel (AssayDeviceRun *run);
AssayLaunchPlan *assay_run_plan_host (AssayDeviceRun *run);
void assay_launch_plan_free (AssayLaunchPlan *plan);
/* Puts it on the device's way and does not wait. A driver's code. */
int assay_run_enqueue (AssayDeviceRun *run, const AssayLaunchPlan *plan);
int assay_run_enqueue_host (AssayDeviceRun *run, const AssayLaunchPlan *plan);

/* What either kind of plan holds: for the files of this role. */
#define ASSAY_PLAN_WORDS 24
#define ASSAY_PLAN_REALS 8
struct _AssayLaunchPlan
{
  guint shape[6];
  guint64 *storage;
  void **pointers;
  void *function; /* of the host library; NULL: a kernel */
  gint64 words[ASSAY_PLAN_WORDS];
  double reals[ASSAY_PLAN_REALS];
  guint word_count, real_count;
};

/* The two ways to do it: one kernel by ourselves, or a function of the candidate that launches. FALSE
 * when the request is ended. */
gboolean assay_run_kernel (AssayDeviceRun *run);
gboolean assay_run_host (AssayDeviceRun *run);

G_END_DECLS
