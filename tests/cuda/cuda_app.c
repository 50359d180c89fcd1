/*
 * STAND-IN, for tests only.  A program of the stand-in CUDA that says what it did, so that it can
 * be compared with what a tracer saw.  Words on stdin, a line of JSON for each on stdout:
 *
 *   go N      N rounds in each of three threads; what was done
 *   run       rounds without end, in three threads; stop: ends them; what was done
 *   state     what is on in CUPTI, and how many rounds were done
 *   reset     destroys a context and resets the device
 *   fork      a child launches a kernel and exits; its status
 *   slow      launches a kernel that takes 0.4 s, and does not wait for it
 *   nccl N    N rounds of NCCL with a communicator that is ready, one with another; what was wrong
 *   exit      launches kernels and exits at once
 *
 * Arguments: "late": CUDA is begun with the first word only.  "mapped": libcupti is mapped from the
 * beginning.
 */
#include "standin_cuda.h"
#include "standin_nccl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS  3
#define NODES    4 /* of a graph */
#define BYTES    1000u
#define PAUSE_US 500 /* of a thread that works without end */

static const char *const kernels[THREADS] = { "_Z8kernel_aPi", "_Z8kernel_bPf",
					      "_ZN2ns8kernel_cEPKc" };
static uint64_t launches, failed, graphs, copies, memsets, allocations, all_rounds;
static unsigned rounds;
static bool is_over;

#define COUNT(name) __atomic_fetch_add(&name, 1, __ATOMIC_RELAXED)

static void check(bool is_right, const char *what)
{
	if (is_right)
		return;
	printf("{\"wrong\": \"%s\"}\n", what);
	fflush(stdout);
	_exit(1);
}

static struct standin_exec *graph_new(unsigned nodes)
{
	struct standin_graph *graph;
	struct standin_exec *exec;

	check(!cuGraphCreate(&graph, 0) && !standinGraphAddKernels(graph, nodes), "graph");
	check(!cuGraphInstantiateWithFlags(&exec, graph, 0), "instantiate");
	check(!cuGraphExecUpdate_v2(exec, graph, NULL), "update");
	check(!cuGraphDestroy(graph), "graph destroyed");
	return exec;
}

/* Some live for long, others are made, updated and destroyed all the time. */
static void launch_graph(unsigned index, void *stream)
{
	static struct standin_exec *kept[THREADS];
	struct standin_exec *brief;

	if (!kept[index])
		kept[index] = graph_new(NODES - 1);
	brief = graph_new(1);
	check(!cuGraphLaunch(kept[index], stream) && !cuGraphLaunch(brief, stream), "graph launch");
	check(!cuStreamSynchronize(stream), "graph's end");
	check(!cuGraphExecDestroy(brief), "exec destroyed");
}

static void one_round(unsigned index, void *stream)
{
	char there[BYTES], back[BYTES] = "";
	uint64_t memory;
	int device;

	memset(there, (int)index + 1, sizeof(there));
	check(!cuMemAlloc_v2(&memory, BYTES), "cuMemAlloc");
	check(!cuMemsetD8_v2(memory, 0, BYTES), "cuMemset");
	check(!cudaGetDevice(&device), "device");
	check(!cudaMemcpyAsync((void *)(uintptr_t)memory, there, BYTES, CUDA_TO_DEVICE, stream),
	      "copy there");
	check(!cudaLaunchKernel(kernels[index], 2 + index, 64, stream), "launch");
	check(cuLaunchKernel("", 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL) == CUDA_NOT_FOUND,
	      "launch of nothing");
	launch_graph(index, stream);
	check(!cuMemcpyDtoHAsync_v2(back, memory, BYTES, stream), "copy back");
	check(!cuStreamSynchronize(stream), "wait");
	check(!memcmp(there, back, BYTES), "contents");
	check(!cuMemFree_v2(memory), "cuMemFree");
	COUNT(allocations);
	COUNT(memsets);
	COUNT(copies);
	COUNT(launches);
	COUNT(failed);
	__atomic_fetch_add(&graphs, 2, __ATOMIC_RELAXED);
	COUNT(all_rounds);
}

static void *thread_run(void *context)
{
	unsigned index = (unsigned)(uintptr_t)context;

	for (unsigned i = 0; i < rounds && !__atomic_load_n(&is_over, __ATOMIC_RELAXED); i++) {
		one_round(index, (void *)(uintptr_t)(index + 1));
		if (rounds == UINT32_MAX)
			usleep(PAUSE_US);
	}
	return NULL;
}

static void print_done(void)
{
	printf("{\"launches\": %lu, \"failed\": %lu, \"graphs\": %lu, \"nodes\": %lu, "
	       "\"copies\": %lu, \"memsets\": %lu, \"allocations\": %lu}\n",
	       launches, failed, graphs, NODES * graphs / 2, copies, memsets, allocations);
	launches = failed = graphs = copies = memsets = allocations = 0;
}

static pthread_t threads[THREADS];

static void threads_start(unsigned count)
{
	rounds = count;
	__atomic_store_n(&is_over, false, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < THREADS; i++)
		check(!pthread_create(&threads[i], NULL, thread_run, (void *)(uintptr_t)i),
		      "thread");
}

static void threads_end(bool at_once)
{
	__atomic_store_n(&is_over, at_once, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 0; i < THREADS; i++)
		cuStreamSynchronize((void *)(uintptr_t)(i + 1));
	cuStreamSynchronize((void *)7);
	print_done();
}

static void print_state(void)
{
	void (*ask)(struct standin_cupti_state *) =
		(void (*)(struct standin_cupti_state *))dlsym(RTLD_DEFAULT, "standin_cupti_state");
	void *library = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
	struct standin_cupti_state state = { 0 };

	if (library)
		ask = (void (*)(struct standin_cupti_state *))dlsym(library, "standin_cupti_state");
	if (ask)
		ask(&state);
	printf("{\"mapped\": %d, \"subscribed\": %u, \"callbacks\": %u, \"kinds\": %u, "
	       "\"buffers\": %u, \"broken\": %u, \"finalized\": %u, \"faults\": %u, "
	       "\"sessions\": %u, \"rounds\": %lu}\n",
	       ask != NULL, state.is_subscribed, state.callbacks, state.kinds, state.buffers_out,
	       state.broken, state.finalized, state.faults, state.sessions,
	       __atomic_load_n(&all_rounds, __ATOMIC_RELAXED));
}

static void print_fork(void)
{
	int status = -1;
	pid_t child = fork();

	if (!child) {
		cudaLaunchKernel(kernels[0], 1, 1, (void *)5);
		_exit(7);
	}
	waitpid(child, &status, 0);
	printf("{\"status\": %d}\n", status);
}

static void print_nccl(unsigned count)
{
	struct standin_communicator *ready = standin_communicator(true);
	struct standin_communicator *late = standin_communicator(false);
	float from[16] = { 1 }, to[16];

	for (unsigned i = 0; i < count; i++) {
		check(!ncclAllReduce(from, to, 16, NCCL_FLOAT, 0, ready, NULL), "all reduce");
		check(!ncclReduce(from, to, 16, NCCL_INT8, 0, 5, ready, NULL), "reduce");
		check(!ncclSend(from, 2, NCCL_FLOAT, 6, ready, NULL), "send");
	}
	check(ncclAllReduce(from, to, 1, NCCL_FLOAT, 0, late, NULL) == NCCL_IN_PROGRESS, "late");
	printf("{\"broken\": %u}\n", standin_nccl_broken());
}

static void obey(const char *word)
{
	unsigned count;

	cuInit(0);
	if (sscanf(word, "go %u", &count) == 1) {
		threads_start(count);
		threads_end(false);
	} else if (!strncmp(word, "run", 3)) {
		threads_start(UINT32_MAX);
		printf("{}\n");
	} else if (!strncmp(word, "stop", 4)) {
		threads_end(true);
	} else if (!strncmp(word, "state", 5)) {
		print_state();
	} else if (sscanf(word, "nccl %u", &count) == 1) {
		print_nccl(count);
	} else if (!strncmp(word, "fork", 4)) {
		print_fork();
	} else if (!strncmp(word, "reset", 5)) {
		check(!cuCtxDestroy_v2(NULL) && !cuDevicePrimaryCtxReset_v2(0), "reset");
		printf("{}\n");
	} else if (!strncmp(word, "slow", 4)) {
		cudaLaunchKernel(STANDIN_SLOW, 1, 1, (void *)1);
		printf("{}\n");
	} else if (!strncmp(word, "exit", 4)) {
		one_round(0, (void *)1);
		exit(0);
	}
}

int main(int count, char **words)
{
	char line[64];

	for (int i = 1; i < count; i++)
		if (!strcmp(words[i], "mapped"))
			check(dlopen("libcupti.so.13", RTLD_NOW) != NULL, "libcupti");
	if (count < 2 || strcmp(words[1], "late") != 0)
		cuInit(0);
	printf("{}\n");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		obey(line);
		fflush(stdout);
	}
	return 0;
}
