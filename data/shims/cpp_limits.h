/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
namespace std
{
template <typename T> struct numeric_limits;
template <> struct numeric_limits<float>
{
  __device__ static float infinity () { return __int_as_float (0x7f800000); }
  __device__ static float quiet_NaN () { return __int_as_float (0x7fffffff); }
  __device__ static constexpr float max () { return 3.402823466e+38F; }
  __device__ static constexpr float min () { return 1.175494351e-38F; }
  __device__ static constexpr float lowest () { return -3.402823466e+38F; }
  __device__ static constexpr float epsilon () { return 1.192092896e-07F; }
};
template <> struct numeric_limits<double>
{
  __device__ static double infinity () { return __longlong_as_double (0x7ff0000000000000LL); }
  __device__ static double quiet_NaN () { return __longlong_as_double (0x7ff8000000000000LL); }
  __device__ static constexpr double max () { return 1.7976931348623158e+308; }
  __device__ static constexpr double min () { return 2.2250738585072014e-308; }
  __device__ static constexpr double lowest () { return -1.7976931348623158e+308; }
  __device__ static constexpr double epsilon () { return 2.2204460492503131e-16; }
};
template <> struct numeric_limits<int>
{
  __device__ static constexpr int max () { return 2147483647; }
  __device__ static constexpr int min () { return -2147483647 - 1; }
  __device__ static constexpr int lowest () { return -2147483647 - 1; }
};
template <> struct numeric_limits<unsigned int>
{
  __device__ static constexpr unsigned int max () { return 4294967295U; }
  __device__ static constexpr unsigned int min () { return 0; }
};
}
