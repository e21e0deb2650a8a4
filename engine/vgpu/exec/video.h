/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The target of a VIDEO instruction: what is done, and how. */
enum
{
  VGPU_VIDEO_ADD,
  VGPU_VIDEO_SUB,
  VGPU_VIDEO_AVERAGE,
  VGPU_VIDEO_DISTANCE,
  VGPU_VIDEO_MIN,
  VGPU_VIDEO_MAX,
  VGPU_VIDEO_WORKS,
  VGPU_VIDEO_SIGNED_D = 1 << 4,
  VGPU_VIDEO_SIGNED_A = 1 << 5,
  VGPU_VIDEO_SIGNED_B = 1 << 6,
  VGPU_VIDEO_SATURATES = 1 << 7,
  VGPU_VIDEO_SUMS = 1 << 8 /* the parts of the result, onto c */
};
