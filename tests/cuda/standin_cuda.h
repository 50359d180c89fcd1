/*
 * STAND-IN, for tests only, of NVIDIA's libcuda.so.1, libcudart.so.13 and libcupti.so.13: written
 * to the contract of their public interfaces, as far as limpet and its tests use it.  In no way
 * NVIDIA's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define STANDIN_EXPORT __attribute__((visibility("default")))

enum {
	CUDA_SUCCESS = 0,
	CUDA_INVALID_VALUE = 1,
	CUDA_NOT_INITIALIZED = 3,
	CUDA_NOT_FOUND = 500,
	CUDA_LAUNCH_FAILED = 719
};

/* The one that does all work, and the last of as many. */
static inline uint32_t standin_device(void)
{
	const char *number = getenv("STANDIN_CUDA_DEVICE");

	return number ? (uint32_t)strtoul(number, NULL, 10) : 0;
}

/* Functions that CUPTI may tell of, by its numbers. */
enum {
	CB_cuDriverGetVersion = 2,
	CB_cuDeviceGet = 3,
	CB_cuStreamSynchronize = 126,
	CB_cuMemAlloc_v2 = 243,
	CB_cuMemFree_v2 = 245,
	CB_cuMemsetD8_v2 = 249,
	CB_cuMemcpyHtoDAsync_v2 = 277,
	CB_cuMemcpyDtoHAsync_v2 = 279,
	CB_cuLaunchKernel = 307,
	CB_cuCtxDestroy_v2 = 322,
	CB_cuGraphCreate = 501,
	CB_cuGraphLaunch = 514,
	CB_cuGraphExecDestroy = 516,
	CB_cuGraphDestroy = 517,
	CB_cuDevicePrimaryCtxReset_v2 = 545,
	CB_cuGraphInstantiateWithFlags = 643,
	CB_cuGraphExecUpdate_v2 = 696,
	CB_COUNT = 807,
};

int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuDeviceGetCount(int *count);
int cuDeviceGet(int *device, int ordinal);
int cuDeviceGetName(char *name, int room, int device);
int cuDeviceGetPCIBusId(char *ret, int room, int device);
int cuGetErrorString(int result, const char **ret);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuMemAlloc_v2(uint64_t *address, size_t size);
int cuMemFree_v2(uint64_t address);
int cuMemsetD8_v2(uint64_t address, unsigned char byte, size_t size);
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t size, void *stream);
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t size, void *stream);
int cuStreamSynchronize(void *stream);
/* A function is its name; "" is not there.  The stream is a number from 1 on. */
int cuLaunchKernel(const char *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
		   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
		   void *stream, void **arguments, void **extra);
/* All that was enqueued is done first. */
int cuCtxDestroy_v2(void *context);
int cuDevicePrimaryCtxReset_v2(int device);
struct standin_graph;
struct standin_exec;
int cuGraphCreate(struct standin_graph **ret, unsigned flags);
int standinGraphAddKernels(struct standin_graph *graph, unsigned count);
int cuGraphDestroy(struct standin_graph *graph);
int cuGraphInstantiateWithFlags(struct standin_exec **ret, struct standin_graph *graph,
				unsigned long long flags);
int cuGraphExecUpdate_v2(struct standin_exec *exec, struct standin_graph *graph, void *result);
int cuGraphExecDestroy(struct standin_exec *exec);
int cuGraphLaunch(struct standin_exec *exec, void *stream);
int cudaLaunchKernel(const char *function, unsigned grid, unsigned block, void *stream);
enum { CUDA_TO_DEVICE = 1, CUDA_TO_HOST = 2 };
int cudaMemcpyAsync(void *to, const void *from, size_t size, int kind, void *stream);
int cudaGetDevice(int *device);

/* The kernel that takes its time. */
#define STANDIN_SLOW "_Z11slow_kernelv"

/* What the driver tells whoever instruments it. */
enum standin_kind { WORK_KERNEL, WORK_TO_DEVICE, WORK_TO_HOST, WORK_MEMSET };
/* Memory of an instrument's that graphs write to. */
struct standin_patch {
	bool is_freed;
	uint32_t faults; /* writes after that */
};
struct standin_work {
	enum standin_kind kind;
	uint32_t stream, correlation;
	const char *name;
	size_t bytes;
	unsigned grid[3], block[3], shared;
	void *record; /* the instrument's, in its life of that number */
	uint32_t life;
	uint64_t graph_node; /* 0: of no graph */
	struct standin_patch *patch;
};
struct standin_instrument {
	/* Around a call; the number that its work has, 0: none. */
	uint32_t (*enter)(uint32_t function);
	void (*leave)(uint32_t function, uint32_t correlation, int result);
	/* When work is enqueued, and when it is done. */
	void (*enqueued)(struct standin_work *work);
	void (*done)(const struct standin_work *work, uint64_t begin_ns, uint64_t end_ns);
	void (*memory)(uint32_t correlation, bool is_release, uint64_t address, size_t size);
	struct standin_patch *(*patch)(void);
};
void standin_instrument(const struct standin_instrument *instrument); /* NULL: none */

/* What is on in CUPTI, for programs that are asked; and how often its rules were broken. */
struct standin_cupti_state {
	uint32_t is_subscribed, callbacks, kinds, buffers_out, broken, finalized, faults, sessions;
};
