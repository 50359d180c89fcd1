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
int hipSetDevice(int device);
int hipGetDevice(int *device);
int hipDeviceSynchronize(void);
/* A texture is two numbers here. */
int hipTexRefSetMipmapLevelClamp(float *texture, float least, float most);
int hipStreamCreate(void **stream);
int hipStreamDestroy(void *stream);
int hipStreamSynchronize(void *stream);
int hipMemcpyAsync(void *to, const void *from, size_t size, int kind, void *stream);
int hipLaunchKernel(const void *function, struct dim3 grid, struct dim3 block, void **arguments,
		    size_t shared_bytes, void *stream);
/* A graph is the name of a kernel here, which it runs so often. */
#define STANDIN_GRAPH_KERNELS 3
int hipGraphLaunch(void *graph, void *stream);
int __hipPushCallConfiguration(struct dim3 grid, struct dim3 block, size_t shared_bytes,
			       void *stream);
int __hipPopCallConfiguration(struct dim3 *grid, struct dim3 *block, size_t *shared_bytes,
			      void **stream);

/* What programs have in them for each kernel, run before main; only the second and the fourth are
 * used here. */
void __hipRegisterFunction(void **modules, const void *host, char *device, const char *name,
			   unsigned limit, void *tid, void *bid, struct dim3 *block,
			   struct dim3 *grid, int *size);

/* The runtime's one place for a tracer, as the real one has it. */
void hipRegisterTracerCallback(int (*function)(uint32_t domain, uint32_t command, void *data));

/* With STANDIN_NEWER in the environment, the table is longer than any that is known: calls its last
 * function. */
int standin_hip_newest(void);

/* Ends kernels that are called "endless". */
void standin_hip_release(void);

/* The tables, after the first use. */
void standin_hip_print(void);
