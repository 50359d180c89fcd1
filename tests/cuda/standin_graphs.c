/*
 * STAND-IN, for tests only, of NVIDIA's libcuda.so.1: CUDA graphs.  An executable graph that was
 * launched while CUPTI recorded kernels keeps a pointer into CUPTI's memory, and writes there at
 * every later launch; where CUPTI has freed that, the device fails for good.  In no way NVIDIA's.
 */
#include "standin_device.h"

#include <stdlib.h>

struct standin_graph {
	unsigned nodes;
};

struct standin_exec {
	unsigned nodes;
	uint64_t number;
	struct standin_patch *patch; /* the instrument's */
};

static uint64_t numbers;

STANDIN_EXPORT int cuGraphCreate(struct standin_graph **ret, unsigned flags)
{
	uint32_t call = standin_enter(CB_cuGraphCreate);

	(void)flags;
	*ret = calloc(1, sizeof(**ret));
	return standin_leave(CB_cuGraphCreate, call, *ret ? CUDA_SUCCESS : CUDA_INVALID_VALUE);
}

STANDIN_EXPORT int standinGraphAddKernels(struct standin_graph *graph, unsigned count)
{
	graph->nodes += count;
	return CUDA_SUCCESS;
}

STANDIN_EXPORT int cuGraphDestroy(struct standin_graph *graph)
{
	uint32_t call = standin_enter(CB_cuGraphDestroy);

	free(graph);
	return standin_leave(CB_cuGraphDestroy, call, CUDA_SUCCESS);
}

STANDIN_EXPORT int cuGraphInstantiateWithFlags(struct standin_exec **ret,
					       struct standin_graph *graph,
					       unsigned long long flags)
{
	uint32_t call = standin_enter(CB_cuGraphInstantiateWithFlags);

	(void)flags;
	*ret = calloc(1, sizeof(**ret));
	if (*ret) {
		(*ret)->nodes = graph->nodes;
		(*ret)->number = __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED);
	}
	return standin_leave(CB_cuGraphInstantiateWithFlags, call,
			     *ret ? CUDA_SUCCESS : CUDA_INVALID_VALUE);
}

/* Only parameters of nodes may change. */
STANDIN_EXPORT int cuGraphExecUpdate_v2(struct standin_exec *exec, struct standin_graph *graph,
					void *result)
{
	uint32_t call = standin_enter(CB_cuGraphExecUpdate_v2);

	(void)result;
	return standin_leave(CB_cuGraphExecUpdate_v2, call,
			     exec->nodes == graph->nodes ? CUDA_SUCCESS : CUDA_INVALID_VALUE);
}

STANDIN_EXPORT int cuGraphExecDestroy(struct standin_exec *exec)
{
	uint32_t call = standin_enter(CB_cuGraphExecDestroy);

	free(exec);
	return standin_leave(CB_cuGraphExecDestroy, call, CUDA_SUCCESS);
}

STANDIN_EXPORT int cuGraphLaunch(struct standin_exec *exec, void *stream)
{
	uint32_t call = standin_enter(CB_cuGraphLaunch);
	struct standin_work work = { .kind = WORK_KERNEL,
				     .correlation = call,
				     .name = "_Z10graph_nodePf",
				     .grid = { 1, 1, 1 },
				     .block = { 32, 1, 1 } };

	if (!exec->patch)
		exec->patch = standin_patch();
	work.patch = exec->patch;
	for (unsigned i = 0; i < exec->nodes; i++) {
		work.graph_node = exec->number << 32 | (i + 1);
		standin_enqueue(stream, &work, NULL, NULL);
	}
	return standin_leave(CB_cuGraphLaunch, call,
			     standin_has_failed() ? CUDA_LAUNCH_FAILED : CUDA_SUCCESS);
}
