/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
namespace std
{
template <typename T> __device__ __forceinline__ T min (T a, T b) { return b < a ? b : a; }
template <typename T> __device__ __forceinline__ T max (T a, T b) { return a < b ? b : a; }
template <typename T> __device__ __forceinline__ void swap (T &a, T &b)
{
  T kept = a;
  a = b;
  b = kept;
}
}
