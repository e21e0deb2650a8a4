// SPDX-License-Identifier: Apache-2.0
// Programs of steps that the host draws: memory touched in many ways, with and without barriers between
// them, so that races and uninitialised reads of all kinds come about.

#define WORDS 192

struct Step
{
  int kind, stride, offset, modulus, rest, span;
};

extern "C" __global__ void
shared_walk (int count, const Step *steps, unsigned *out, unsigned *wide)
{
  __shared__ __align__ (16) unsigned work[WORDS];
  unsigned char *bytes = (unsigned char *) work;
  unsigned short *halves = (unsigned short *) work;
  int t = threadIdx.x + blockDim.x * threadIdx.y;
  int block = blockIdx.x;
  unsigned sum = t;
  for (int i = 0; i < count; i++)
    {
      Step s = steps[i];
      int at = (t / s.span * s.stride + s.offset) % WORDS;
      if (s.kind == 0)
        __syncthreads ();
      else if (s.kind == 1)
        __syncwarp ();
      else if (t % s.modulus >= s.rest)
        switch (s.kind)
          {
          case 2:
            sum += work[at];
            break;
          case 3:
            work[at] = sum;
            break;
          case 4:
            work[at] = 7;
            break;
          case 5:
            atomicAdd (&work[at], 3u);
            break;
          case 6:
            sum += bytes[at];
            break;
          case 7:
            halves[at] = (unsigned short) sum;
            break;
          case 8:
            {
              uint4 v = *(uint4 *) &work[at / 4 * 4];
              sum += v.x + v.w;
              break;
            }
          case 9:
            *(uint2 *) &work[at / 2 * 2] = make_uint2 (sum, 5);
            break;
          case 10:
            sum += *(volatile unsigned *) &work[at];
            break;
          case 11:
            *(volatile unsigned *) &work[at] = sum;
            break;
          default:
            sum += halves[at * 2 + 1];
          }
    }
  __syncthreads ();
  out[block * blockDim.x * blockDim.y + t] = sum + work[t] + wide[t];
}

extern "C" __global__ void
global_walk (int count, const Step *steps, unsigned *out, unsigned *wide)
{
  int t = threadIdx.x + blockDim.x * threadIdx.y;
  int block = blockIdx.x;
  unsigned sum = t;
  for (int i = 0; i < count; i++)
    {
      Step s = steps[i];
      int at = (t / s.span * s.stride + s.offset) % WORDS;
      if (t % s.modulus >= s.rest)
        switch (s.kind)
          {
          case 2:
            sum += wide[at + block * s.rest];
            break;
          case 3:
            sum += wide[at + block * WORDS];
            break;
          case 4:
            wide[at + block * WORDS] = sum;
            break;
          case 5:
            wide[at + block * s.rest] = 9;
            break;
          case 6:
            ((unsigned short *) wide)[at + block * s.stride] = (unsigned short) sum;
            break;
          case 7:
            sum += ((unsigned char *) wide)[at + block * s.stride];
            break;
          case 8:
            atomicAdd (&wide[at + block * s.rest], 3u);
            break;
          case 9:
            *(uint2 *) &wide[(at + block * s.stride) / 2 * 2] = make_uint2 (sum, 5);
            break;
          case 10:
            sum += wide[(wide[at] & 15) + at];
            break;
          case 11:
            wide[(wide[at] & 15) + at + block * WORDS] = 1;
            break;
          default:
            {
              uint4 v = ((uint4 *) wide)[(at + block * s.rest) / 4];
              sum += v.y + v.z;
            }
          }
    }
  out[block * blockDim.x * blockDim.y + t] = sum;
}
