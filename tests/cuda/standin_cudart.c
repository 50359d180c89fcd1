/*
 * STAND-IN, for tests only, of NVIDIA's libcudart.so.13: hands calls on to the driver.  In no way
 * NVIDIA's.
 */
#include "standin_cuda.h"

STANDIN_EXPORT int cudaLaunchKernel(const char *function, unsigned grid, unsigned block,
				    void *stream)
{
	return cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 77, stream, NULL, NULL);
}

STANDIN_EXPORT int cudaMemcpyAsync(void *to, const void *from, size_t size, int kind, void *stream)
{
	if (kind == CUDA_TO_DEVICE)
		return cuMemcpyHtoDAsync_v2((uint64_t)(uintptr_t)to, from, size, stream);
	return cuMemcpyDtoHAsync_v2(to, (uint64_t)(uintptr_t)from, size, stream);
}

/* What programs ask many times for each launch. */
STANDIN_EXPORT int cudaGetDevice(int *device)
{
	return cuDeviceGet(device, 0);
}
