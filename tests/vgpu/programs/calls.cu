/* SPDX-License-Identifier: Apache-2.0 */
// Recursion, calls through pointers and virtual functions, the device's heap.
#include "check.h"

__device__ __noinline__ int
fibonacci (int n)
{
  return n < 2 ? n : fibonacci (n - 1) + fibonacci (n - 2);
}

__device__ __noinline__ int
ackermann (int m, int n)
{
  if (m == 0)
    return n + 1;
  return n == 0 ? ackermann (m - 1, 1) : ackermann (m - 1, ackermann (m, n - 1));
}

__device__ bool is_odd (unsigned n);

__device__ __noinline__ bool
is_even (unsigned n)
{
  return n == 0 ? true : is_odd (n - 1);
}

__device__ __noinline__ bool
is_odd (unsigned n)
{
  return n == 0 ? false : is_even (n - 1);
}

struct Pair
{
  long long first, second;
  char tag;
};

// Each level keeps variables of its own while the next writes to them through a pointer.
__device__ __noinline__ Pair
descend (int depth, long long *total, Pair so_far)
{
  long long mine[4] = {depth, depth * 2LL, depth * 3LL, depth * 4LL};
  *total += depth;
  if (depth > 0)
    {
      so_far = descend (depth - 1, &mine[depth & 3], so_far);
      so_far.tag++;
    }
  so_far.first += mine[depth & 3];
  so_far.second = so_far.second * 3 + mine[0];
  return so_far;
}

static Pair
descend_on_host (int depth, long long *total, Pair so_far)
{
  long long mine[4] = {depth, depth * 2LL, depth * 3LL, depth * 4LL};
  *total += depth;
  if (depth > 0)
    {
      so_far = descend_on_host (depth - 1, &mine[depth & 3], so_far);
      so_far.tag++;
    }
  so_far.first += mine[depth & 3];
  so_far.second = so_far.second * 3 + mine[0];
  return so_far;
}

__global__ void
recurse (int *out, Pair *pairs)
{
  int i = threadIdx.x;
  out[i] = fibonacci (i % 13);
  if (i % 3 == 0)
    out[i] += 1000 * ackermann (2, i % 4);
  out[i] += 100000 * (is_even (i) ? 1 : 2);
  long long total = 7;
  pairs[i] = descend (i % 20, &total, Pair {1, 2, 3});
  pairs[i].first += total * 1000000;
}

typedef float (*Binary) (float, float);

__device__ float
plus (float a, float b)
{
  return a + b;
}

__device__ float
minus (float a, float b)
{
  return a - b;
}

__device__ float
times (float a, float b)
{
  return a * b;
}

__device__ Binary operations[3] = {plus, minus, times};
__device__ Binary chosen = times;

__global__ void
apply (float *out, Binary given)
{
  int i = threadIdx.x;
  out[i] = operations[i % 3](i, 2.f) + 1000.f * given (i, 3.f);
}

struct Shape
{
  __device__ virtual ~Shape () {}
  __device__ virtual float area () const = 0;
  __device__ virtual int
  corners () const
  {
    return 0;
  }
};

struct Circle : Shape
{
  float radius;
  __device__ explicit Circle (float r) : radius (r) {}
  __device__ float
  area () const override
  {
    return 3.f * radius * radius;
  }
};

struct Box : Shape
{
  float width, height;
  __device__ Box (float w, float h) : width (w), height (h) {}
  __device__ float
  area () const override
  {
    return width * height;
  }
  __device__ int
  corners () const override
  {
    return 4;
  }
};

__global__ void
make (Shape **shapes)
{
  int i = threadIdx.x;
  if (i % 2)
    shapes[i] = new Circle (i);
  else
    shapes[i] = new Box (i, i + 1);
}

__global__ void
measure (Shape **shapes, float *out)
{
  int i = threadIdx.x;
  out[i] = shapes[i]->area () + 10000.f * shapes[i]->corners ();
  delete shapes[i];
}

__global__ void
lists (int *out)
{
  struct Node
  {
    int value;
    Node *next;
  };
  Node *head = nullptr;
  int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
  for (int k = 0; k <= i % 5; k++)
    {
      Node *node = (Node *) malloc (sizeof (Node));
      node->value = k + i;
      node->next = head;
      head = node;
    }
  while (head)
    {
      Node *next = head->next;
      sum += head->value;
      free (head);
      head = next;
    }
  out[i] = sum;
}

__global__ void
exhaust (int *out)
{
  void *first = malloc (1 << 20), *second = malloc (1 << 20);
  *out = first != nullptr && second == nullptr;
  free (first);
}

static int
fibonacci_on_host (int n)
{
  return n < 2 ? n : fibonacci_on_host (n - 1) + fibonacci_on_host (n - 2);
}

int
main ()
{
  int *out;
  float *reals;
  Pair *pairs;
  Shape **shapes;
  Binary given;
  OK (cudaMallocManaged (&out, 64 * sizeof *out));
  OK (cudaMallocManaged (&reals, 64 * sizeof *reals));
  OK (cudaMallocManaged (&pairs, 64 * sizeof *pairs));
  OK (cudaMalloc (&shapes, 64 * sizeof *shapes));
  recurse<<<1, 64>>> (out, pairs);
  OK (cudaDeviceSynchronize ());
  for (int i = 0; i < 64; i++)
    {
      long long total = 7;
      Pair pair = descend_on_host (i % 20, &total, Pair {1, 2, 3});
      CHECK (pairs[i].first == pair.first + total * 1000000 && pairs[i].second == pair.second);
      CHECK (pairs[i].tag == pair.tag);
      CHECK (out[i]
             == fibonacci_on_host (i % 13) + (i % 3 == 0 ? 1000 * (2 * (i % 4) + 3) : 0)
                    + 100000 * (1 + i % 2));
    }
  OK (cudaMemcpyFromSymbol (&given, chosen, sizeof given));
  apply<<<1, 64>>> (reals, given);
  OK (cudaDeviceSynchronize ());
  for (int i = 0; i < 64; i++)
    {
      float expected = i % 3 == 0 ? i + 2.f : i % 3 == 1 ? i - 2.f : i * 2.f;
      CHECK (reals[i] == expected + 3000.f * i);
    }
  make<<<1, 64>>> (shapes);
  measure<<<1, 64>>> (shapes, reals);
  OK (cudaDeviceSynchronize ());
  for (int i = 0; i < 64; i++)
    CHECK (reals[i] == (i % 2 ? 3.f * i * i : i * (i + 1) + 40000.f));
  lists<<<2, 32>>> (out);
  OK (cudaDeviceSynchronize ());
  for (int i = 0; i < 64; i++)
    CHECK (out[i] == (i % 5 + 1) * i + (i % 5) * (i % 5 + 1) / 2);
  OK (cudaDeviceReset ());
  OK (cudaDeviceSetLimit (cudaLimitMallocHeapSize, 3 << 19));
  OK (cudaMallocManaged (&out, sizeof *out));
  exhaust<<<1, 1>>> (out);
  OK (cudaDeviceSynchronize ());
  CHECK (*out == 1);
  std::printf ("fine\n");
}
