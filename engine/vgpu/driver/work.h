/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "engine/vgpu/driver/driver.h"

/* What streams carry. One item is one launch, copy, fill or the like; graphs are made of the same
 * items as streams, and a captured stream hands its items to the graph. */

typedef enum
{
  VGPU_WORK_NOTHING,
  VGPU_WORK_LAUNCH,
  VGPU_WORK_COPY,
  VGPU_WORK_FILL,
  VGPU_WORK_CALL,   /* a host function */
  VGPU_WORK_RECORD, /* an event */
  VGPU_WORK_WAIT,   /* for an event */
  VGPU_WORK_FREE,
  VGPU_WORK_TAKE,  /* the memory of a graph's node */
  VGPU_WORK_GRAPH, /* all of another graph */
  VGPU_WORK_WRITE  /* one word, as by cuStreamWriteValue */
} VgpuWorkKind;

/* Bytes of width × height × depth, rows to_pitch and from_pitch apart, slices by so many rows. */
typedef struct
{
  uint64_t to, from;
  size_t width, height, depth;
  size_t to_pitch, from_pitch;
  size_t to_rows, from_rows;
  void *staged; /* what was at `from` when the call was made, where that had to be kept */
} VgpuCopy;

/* count elements of size bytes a row, height rows. */
typedef struct
{
  uint64_t to;
  size_t pitch;
  uint32_t value, size;
  size_t width, height;
} VgpuFill;

typedef struct
{
  CUfunction function;
  uint32_t grid[3], block[3], cluster[3];
  uint32_t shared;
  bool cooperative;
  unsigned char *parameters; /* owned */
} VgpuLaunchWork;

typedef struct VgpuWork
{
  VgpuWorkKind kind;
  CUcontext context;
  CUstream stream;
  uint64_t number; /* in the order of submission */
  bool needed;     /* the next look at the queue runs it */
  CUevent event;
  uint64_t record; /* WAIT: the number of the recording that is waited for */
  union
  {
    VgpuLaunchWork launch;
    VgpuCopy copy;
    VgpuFill fill;
    struct
    {
      CUhostFn function;
      void *data;
    } call;
    CUdeviceptr free; /* or taken */
    CUgraph graph;
  };
  struct VgpuWork *next;
} VgpuWork;

/* How streams run. Eager: every item when it is submitted. Late: when somebody waits for it, and
 * nothing else with it, so that what is not waited for is not there. Thread: on a thread of its own,
 * in the order of submission. */
typedef enum
{
  VGPU_STREAMS_EAGER,
  VGPU_STREAMS_LATE,
  VGPU_STREAMS_THREAD
} VgpuStreamMode;

#define VGPU_STREAM_LEGACY ((CUstream) (uintptr_t) 1)
#define VGPU_STREAM_PER_THREAD ((CUstream) (uintptr_t) 2)

struct CUstream_st
{
  CUcontext context;
  uint64_t id;
  unsigned int flags;
  int priority;
  bool wanted; /* for the walk that finds what has to run */
  /* Capture */
  CUgraph capture; /* NULL: not capturing */
  bool capture_broken;
  bool capture_joined; /* by an event of another stream: that one ends the capture */
  int capture_mode;
  CUgraphNode *tips; /* nodes that the next one depends on */
  size_t tip_count;
  struct CUstream_st *next;
};

struct CUevent_st
{
  unsigned int flags;
  bool recorded;
  uint64_t number; /* of the last recording */
  bool done;       /* that one has run */
  double seconds;  /* when it ran, by the host's clock */
  CUgraph capture; /* the recording is part of this capture */
  CUgraphNode *tips;
  size_t tip_count;
  struct CUevent_st *next;
};

/* Submits a copy of item on a stream and, where that is the mode, runs it. Takes what item owns, also
 * when it fails. Called with the lock held, which it may let go for host functions. */
CUresult vgpu_submit (CUcontext context, CUstream stream, const VgpuWork *item);

/* The same, and waits for it. Refused while the stream is captured. */
CUresult vgpu_submit_and_wait (CUcontext context, CUstream stream, const VgpuWork *item);

/* Runs or awaits everything up to what the stream, the event or the context have been given. */
CUresult vgpu_wait_stream (CUcontext context, CUstream stream);
CUresult vgpu_wait_event (CUcontext context, CUevent event);
CUresult vgpu_wait_all (CUcontext context);

/* Whether everything given to the stream has run. In late mode this runs one more item, so that
 * polling ends. */
bool vgpu_stream_is_idle (CUcontext context, CUstream stream);
bool vgpu_event_is_done (CUcontext context, CUevent event);

/* The model of time: what a launch of so many warp instructions in so many blocks takes, and a copy or fill; in
 * seconds. Tells in the report stream, once, that a time came from it. */
double vgpu_time_of_launch (uint64_t instructions, uint64_t blocks);
double vgpu_time_of_bytes (uint64_t bytes, bool over_bus);
void vgpu_time_told (void);

/* Executes one item now. */
CUresult vgpu_work_run (CUcontext context, const VgpuWork *item);
/* Frees what the item owns. */
void vgpu_work_clear (VgpuWork *item);
/* A copy that owns its own parts. */
VgpuWork vgpu_work_copy (const VgpuWork *item);

/* The legacy default stream for its handles, else the stream. NULL for what is none. */
CUstream vgpu_stream_of (CUcontext context, CUstream stream);
void vgpu_streams_clear (CUcontext context);
/* Whether that is an event of the context: programs that failed to make one pass anything. */
bool vgpu_is_event (CUcontext context, CUevent event);

/* Capture, in capture.c. vgpu_capture_add takes the item. */
bool vgpu_is_capturing (CUcontext context, CUstream stream);
CUresult vgpu_capture_add (CUstream stream, const VgpuWork *item);
/* Makes a stream part of the capture that the event was recorded in. */
void vgpu_capture_join (CUstream stream, CUevent event);

/* A copy as described by the driver API; false for one that leaves an array. */
bool vgpu_copy_3d (const AssayCopy3D *asked, VgpuCopy *copy);

/* Runs a graph's items in an order that its edges allow. */
CUresult vgpu_graph_run (CUcontext context, CUgraph graph);

/* Memory whose address is known from now on, and which is there whenever the node of this item runs. */
CUresult vgpu_graph_memory (CUcontext context, size_t bytes, VgpuWork *item);

/* A launch with its limits checked and its parameters collected; shape in item. Free with
 * vgpu_work_clear. */
CUresult vgpu_launch_prepare (CUfunction function, const uint32_t *shape, size_t shared,
                              void **parameters, void **extra, bool cooperative, VgpuWork *item);
CUresult vgpu_launch_work (CUcontext context, const VgpuLaunchWork *launch);
