/* SPDX-License-Identifier: Apache-2.0 */
// Graphs: captured from two streams, made by hand, changed, replayed.
#include "check.h"

__global__ void
add (int *at, int value)
{
  *at += value;
}

__global__ void
times (int *at, const int *by)
{
  *at *= *by;
}

static void
note (void *data)
{
  ++*(int *) data;
}

static int *values;

static int
read_value (int index)
{
  int value;
  OK (cudaMemcpy (&value, values + index, 4, cudaMemcpyDeviceToHost));
  return value;
}

static void
captured ()
{
  cudaStream_t main_stream, side;
  cudaEvent_t fork, join;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaStreamCaptureStatus status;
  size_t count = 0;
  int calls = 0;
  OK (cudaStreamCreate (&main_stream));
  OK (cudaStreamCreate (&side));
  OK (cudaEventCreate (&fork));
  OK (cudaEventCreate (&join));
  OK (cudaStreamBeginCapture (main_stream, cudaStreamCaptureModeGlobal));
  OK (cudaMemsetAsync (values, 0, 8, main_stream));
  OK (cudaEventRecord (fork, main_stream));
  OK (cudaStreamWaitEvent (side, fork, 0));
  add<<<1, 1, 0, side>>> (values + 1, 3);
  add<<<1, 1, 0, main_stream>>> (values, 2);
  OK (cudaLaunchHostFunc (main_stream, note, &calls));
  OK (cudaEventRecord (join, side));
  OK (cudaStreamWaitEvent (main_stream, join, 0));
  times<<<1, 1, 0, main_stream>>> (values, values + 1);
  OK (cudaStreamIsCapturing (side, &status));
  CHECK (status == cudaStreamCaptureStatusActive);
  OK (cudaStreamEndCapture (main_stream, &graph));
  CHECK (calls == 0);
  OK (cudaGraphGetNodes (graph, nullptr, &count));
  CHECK (count == 5);
  OK (cudaGraphInstantiate (&exec, graph, 0));
  OK (cudaGraphDestroy (graph));
  for (int i = 0; i < 3; i++)
    {
      OK (cudaGraphLaunch (exec, main_stream));
      OK (cudaStreamSynchronize (main_stream));
      CHECK (read_value (0) == 6 && read_value (1) == 3 && calls == i + 1);
    }
  OK (cudaGraphExecDestroy (exec));
  // Waiting inside a capture spoils it; work that is not joined does as well.
  OK (cudaStreamBeginCapture (main_stream, cudaStreamCaptureModeRelaxed));
  CHECK (cudaStreamSynchronize (main_stream) == cudaErrorStreamCaptureUnsupported);
  CHECK (cudaStreamEndCapture (main_stream, &graph) == cudaErrorStreamCaptureInvalidated);
  OK (cudaStreamBeginCapture (main_stream, cudaStreamCaptureModeRelaxed));
  OK (cudaEventRecord (fork, main_stream));
  OK (cudaStreamWaitEvent (side, fork, 0));
  add<<<1, 1, 0, side>>> (values, 1);
  CHECK (cudaStreamEndCapture (main_stream, &graph) == cudaErrorStreamCaptureUnjoined);
  cudaGetLastError ();
}

static void
by_hand ()
{
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphNode_t clear, add_node, copy_node, nodes[3];
  cudaGraphNodeType type;
  int value = 7, host = 0, *first = values;
  size_t count = 3;
  OK (cudaGraphCreate (&graph, 0));
  cudaMemsetParams clear_parameters = {};
  clear_parameters.dst = values;
  clear_parameters.elementSize = 4;
  clear_parameters.width = 2;
  clear_parameters.height = 1;
  OK (cudaGraphAddMemsetNode (&clear, graph, nullptr, 0, &clear_parameters));
  void *arguments[] = {&first, &value};
  cudaKernelNodeParams add_parameters = {};
  add_parameters.func = (void *) add;
  add_parameters.gridDim = add_parameters.blockDim = dim3 (1);
  add_parameters.kernelParams = arguments;
  OK (cudaGraphAddKernelNode (&add_node, graph, &clear, 1, &add_parameters));
  OK (cudaGraphAddMemcpyNode1D (&copy_node, graph, &add_node, 1, &host, values, 4,
                                cudaMemcpyDeviceToHost));
  OK (cudaGraphGetRootNodes (graph, nodes, &count));
  CHECK (count == 1 && nodes[0] == clear);
  OK (cudaGraphNodeGetType (copy_node, &type));
  CHECK (type == cudaGraphNodeTypeMemcpy);
  OK (cudaGraphInstantiate (&exec, graph, 0));
  OK (cudaGraphLaunch (exec, 0));
  OK (cudaDeviceSynchronize ());
  CHECK (host == 7);
  value = 9;
  OK (cudaGraphExecKernelNodeSetParams (exec, add_node, &add_parameters));
  OK (cudaGraphLaunch (exec, 0));
  OK (cudaDeviceSynchronize ());
  CHECK (host == 9);
  OK (cudaGraphExecDestroy (exec));
  OK (cudaGraphDestroy (graph));
}

/* Memory that a graph takes and gives back: by nodes, and in a capture. It has one address, and is there anew in
   each launch. */
static void
memory_of_graphs ()
{
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphNode_t take, clear, add_node, copy_node, give;
  cudaStream_t stream;
  int value = 5, host = 0, *taken;
  OK (cudaGraphCreate (&graph, 0));
  cudaMemAllocNodeParams memory = {};
  memory.poolProps.allocType = cudaMemAllocationTypePinned;
  memory.poolProps.location.type = cudaMemLocationTypeDevice;
  memory.bytesize = 64;
  OK (cudaGraphAddMemAllocNode (&take, graph, nullptr, 0, &memory));
  CHECK (memory.dptr != nullptr);
  taken = (int *) memory.dptr;
  cudaMemsetParams clear_parameters = {};
  clear_parameters.dst = taken;
  clear_parameters.elementSize = 4;
  clear_parameters.width = 16;
  clear_parameters.height = 1;
  OK (cudaGraphAddMemsetNode (&clear, graph, &take, 1, &clear_parameters));
  void *arguments[] = {&taken, &value};
  cudaKernelNodeParams add_parameters = {};
  add_parameters.func = (void *) add;
  add_parameters.gridDim = add_parameters.blockDim = dim3 (1);
  add_parameters.kernelParams = arguments;
  OK (cudaGraphAddKernelNode (&add_node, graph, &clear, 1, &add_parameters));
  OK (cudaGraphAddMemcpyNode1D (&copy_node, graph, &add_node, 1, &host, taken, 4,
                                cudaMemcpyDeviceToHost));
  OK (cudaGraphAddMemFreeNode (&give, graph, &copy_node, 1, taken));
  OK (cudaGraphInstantiate (&exec, graph, 0));
  for (int round = 0; round < 3; round++)
    {
      host = 0;
      OK (cudaGraphLaunch (exec, 0));
      OK (cudaDeviceSynchronize ());
      CHECK (host == 5);
    }
  OK (cudaGraphExecDestroy (exec));
  OK (cudaGraphDestroy (graph));
  OK (cudaStreamCreate (&stream));
  OK (cudaStreamBeginCapture (stream, cudaStreamCaptureModeGlobal));
  OK (cudaMallocAsync (&taken, 64, stream));
  OK (cudaMemsetAsync (taken, 0, 64, stream));
  add<<<1, 1, 0, stream>>> (taken, 3);
  OK (cudaMemcpyAsync (values, taken, 4, cudaMemcpyDeviceToDevice, stream));
  OK (cudaFreeAsync (taken, stream));
  OK (cudaStreamEndCapture (stream, &graph));
  OK (cudaGraphInstantiate (&exec, graph, 0));
  for (int round = 0; round < 2; round++)
    OK (cudaGraphLaunch (exec, stream));
  OK (cudaStreamSynchronize (stream));
  OK (cudaMemcpy (&host, values, 4, cudaMemcpyDeviceToHost));
  CHECK (host == 3);
  OK (cudaGraphExecDestroy (exec));
  OK (cudaGraphDestroy (graph));
  OK (cudaStreamDestroy (stream));
}

int
main ()
{
  OK (cudaMalloc (&values, 8));
  captured ();
  by_hand ();
  memory_of_graphs ();
  OK (cudaFree (values));
  std::printf ("fine\n");
}
