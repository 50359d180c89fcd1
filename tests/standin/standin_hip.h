/*
 * STAND-IN, for tests only.  The few functions of HIP that the stand-in libamdhip64.so.7 exports.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* As in HIP: three sizes, passed by value. */
struct dim3 {
	uint32_t x, y, z;
};

int hipMalloc(void **memory, size_t size);
int hipFree(void *memory);
int hipMemcpy(void *to, const void *from, size_t size, int kind);
int hipGetDeviceCount(int *count);
int hipDeviceSynchronize(void);
int hipLaunchKernel(const void *function, struct dim3 grid, struct dim3 block, void **arguments,
		    size_t shared_bytes, void *stream);
int __hipPushCallConfiguration(struct dim3 grid, struct dim3 block, size_t shared_bytes,
			       void *stream);
int __hipPopCallConfiguration(struct dim3 *grid, struct dim3 *block, size_t *shared_bytes,
			      void **stream);

/* The tables, after the first use. */
void standin_hip_print(void);
