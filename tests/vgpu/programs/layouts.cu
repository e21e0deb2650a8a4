/* SPDX-License-Identifier: Apache-2.0 */
// The runtime's structures are laid out as the toolkit's headers have them.
#include "check.h"

#include <cuda.h>

#include <cstddef>
#include <cstdint>

namespace assay
{
#include "engine/vgpu/runtime/abi.h"
}

#define SAME_SIZE(ours, theirs) static_assert (sizeof (assay::ours) == sizeof (theirs), #theirs)
#define SAME_PLACE(ours, our_member, theirs, their_member)                                         \
  static_assert (offsetof (assay::ours, our_member) == offsetof (theirs, their_member),            \
                 #theirs "." #their_member)

SAME_SIZE (AssayDeviceProperties, cudaDeviceProp);
SAME_PLACE (AssayDeviceProperties, total_memory, cudaDeviceProp, totalGlobalMem);
SAME_PLACE (AssayDeviceProperties, constant_memory, cudaDeviceProp, totalConstMem);
SAME_PLACE (AssayDeviceProperties, multiprocessors, cudaDeviceProp, multiProcessorCount);
SAME_PLACE (AssayDeviceProperties, surface_alignment, cudaDeviceProp, surfaceAlignment);
SAME_PLACE (AssayDeviceProperties, l2_bytes, cudaDeviceProp, l2CacheSize);
SAME_PLACE (AssayDeviceProperties, managed_memory, cudaDeviceProp, managedMemory);
SAME_PLACE (AssayDeviceProperties, cooperative_launch, cudaDeviceProp, cooperativeLaunch);
SAME_PLACE (AssayDeviceProperties, shared_per_block_optin, cudaDeviceProp, sharedMemPerBlockOptin);
SAME_PLACE (AssayDeviceProperties, shared_reserved, cudaDeviceProp, reservedSharedMemPerBlock);
SAME_PLACE (AssayDeviceProperties, memory_pools, cudaDeviceProp, memoryPoolsSupported);
SAME_PLACE (AssayDeviceProperties, cluster_launch, cudaDeviceProp, clusterLaunch);
SAME_SIZE (AssayFuncAttributes, cudaFuncAttributes);
SAME_PLACE (AssayFuncAttributes, max_dynamic_shared, cudaFuncAttributes,
            maxDynamicSharedSizeBytes);
SAME_PLACE (AssayFuncAttributes, carveout, cudaFuncAttributes, preferredShmemCarveout);
SAME_SIZE (AssayPointerAttributes, cudaPointerAttributes);
SAME_PLACE (AssayPointerAttributes, host_pointer, cudaPointerAttributes, hostPointer);
SAME_SIZE (AssayPitchedPointer, cudaPitchedPtr);
SAME_SIZE (AssayExtent, cudaExtent);
SAME_SIZE (AssayPosition, cudaPos);
SAME_SIZE (AssayChannel, cudaChannelFormatDesc);
SAME_SIZE (AssayLocation, cudaMemLocation);
SAME_SIZE (AssayCopy3DParameters, cudaMemcpy3DParms);
SAME_PLACE (AssayCopy3DParameters, kind, cudaMemcpy3DParms, kind);
SAME_SIZE (AssayRuntimeResource, cudaResourceDesc);
SAME_PLACE (AssayRuntimeResource, rows.pitch, cudaResourceDesc, res.pitch2D.pitchInBytes);
SAME_PLACE (AssayRuntimeResource, linear.bytes, cudaResourceDesc, res.linear.sizeInBytes);
SAME_PLACE (AssayRuntimeResource, flags, cudaResourceDesc, flags);
SAME_SIZE (AssayRuntimeSampler, cudaTextureDesc);
SAME_PLACE (AssayRuntimeSampler, border, cudaTextureDesc, borderColor);
SAME_PLACE (AssayRuntimeSampler, greatest_level, cudaTextureDesc, maxMipmapLevelClamp);
SAME_SIZE (AssayResource, CUDA_RESOURCE_DESC);
SAME_PLACE (AssayResource, rows.pitch, CUDA_RESOURCE_DESC, res.pitch2D.pitchInBytes);
SAME_SIZE (AssaySampler, CUDA_TEXTURE_DESC);
SAME_PLACE (AssaySampler, border, CUDA_TEXTURE_DESC, borderColor);
SAME_SIZE (AssayArray3D, CUDA_ARRAY3D_DESCRIPTOR);
SAME_SIZE (AssayCopy3D, CUDA_MEMCPY3D);
SAME_SIZE (AssayRuntimeLaunch, cudaLaunchConfig_t);
SAME_PLACE (AssayRuntimeLaunch, attribute_count, cudaLaunchConfig_t, numAttrs);
SAME_SIZE (AssayLaunchAttribute, cudaLaunchAttribute);
SAME_PLACE (AssayLaunchAttribute, cooperative, cudaLaunchAttribute, val);
SAME_SIZE (AssayRuntimeKernelNode, cudaKernelNodeParams);
SAME_SIZE (AssayRuntimeMemsetNode, cudaMemsetParams);
SAME_SIZE (AssayHostNode, cudaHostNodeParams);
SAME_SIZE (AssayMemoryNode, cudaMemAllocNodeParams);
SAME_PLACE (AssayMemoryNode, pointer, cudaMemAllocNodeParams, dptr);
static_assert (assay::CUDART_INVALID_FUNCTION == (int) cudaErrorInvalidDeviceFunction, "");
static_assert (assay::CUDART_INVALID_CONFIGURATION == (int) cudaErrorInvalidConfiguration, "");
static_assert (assay::CUDART_INVALID_SYMBOL == (int) cudaErrorInvalidSymbol, "");
static_assert (assay::CUDART_INVALID_PITCH == (int) cudaErrorInvalidPitchValue, "");
static_assert (assay::CUDART_INVALID_DIRECTION == (int) cudaErrorInvalidMemcpyDirection, "");

int
main ()
{
  std::printf ("fine\n");
}
