/*
 * A CUDA program of the driver's functions alone that knows nothing of limpet: graph_loop PAGE MODE
 *
 * PAGE is as that of torch_loop.py.  MODE graphs: in each iteration three threads launch, each on
 * its own stream, a kernel and a graph that they keep; every eighth time another graph is captured,
 * instantiated, launched and destroyed, and the kept one is updated by it.  MODE long: one graph of
 * 1000 kernels.  Every kernel makes the next number of its stream's: the sum tells whether any was
 * lost or done twice.  cc graph_loop.c -ldl -lpthread
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { DONE, WAIT_AT, WAITS, PID, END_AT, CHECKSUM, PAGE_WORDS };
enum { THREADS = 3, NODES = 20, LONG_NODES = 1000, RENEW_EACH = 8, THREAD_LOCAL = 1 };

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
			  ".visible .entry limpet_next(.param .u64 at) {\n"
			  ".reg .u64 %rd<3>; .reg .u32 %r<3>;\n"
			  "ld.param.u64 %rd1, [at];\ncvta.to.global.u64 %rd2, %rd1;\n"
			  "ld.global.u32 %r1, [%rd2];\nmad.lo.u32 %r2, %r1, 1664525, 1013904223;\n"
			  "st.global.u32 [%rd2], %r2;\nret;\n}\n";

#define DRIVER(name, ...) static int (*name)(__VA_ARGS__);
#include "graph_loop.def"
#undef DRIVER

struct worker {
	pthread_t thread;
	void *stream, *kept;
	uint64_t memory, count;
	uint32_t expected;
};

static volatile int64_t *page;
static void *function, *context;
static struct worker workers[THREADS];
static pthread_barrier_t begin, end;
static int is_long, is_over;

static void check(int result, const char *what)
{
	if (!result)
		return;
	fprintf(stderr, "%s: %d\n", what, result);
	_exit(3);
}

static void open_driver(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);

	check(!library, "libcuda.so.1");
#define DRIVER(name, ...)                        \
	*(void **)&name = dlsym(library, #name); \
	check(!name, #name);
#include "graph_loop.def"
#undef DRIVER
}

static void launch(struct worker *worker)
{
	void *arguments[] = { &worker->memory };

	check(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, worker->stream, arguments, NULL),
	      "launch");
}

static void expect(struct worker *worker, unsigned kernels)
{
	for (unsigned i = 0; i < kernels; i++)
		worker->expected = worker->expected * 1664525u + 1013904223u;
}

static void *capture(struct worker *worker, unsigned nodes)
{
	void *graph;

	check(cuStreamBeginCapture_v2(worker->stream, THREAD_LOCAL), "capture");
	for (unsigned i = 0; i < nodes; i++)
		launch(worker);
	check(cuStreamEndCapture(worker->stream, &graph), "capture's end");
	return graph;
}

static void *instantiate(void *graph)
{
	void *exec;

	check(cuGraphInstantiateWithFlags(&exec, graph, 0), "instantiate");
	return exec;
}

static void renew(struct worker *worker)
{
	uint64_t answer[4] = { 0 };
	void *graph = capture(worker, NODES), *brief = instantiate(graph);

	check(cuGraphExecUpdate_v2(worker->kept, graph, answer), "update");
	check(cuGraphLaunch(brief, worker->stream), "brief launch");
	expect(worker, NODES);
	check(cuStreamSynchronize(worker->stream), "brief end");
	check(cuGraphExecDestroy(brief), "destroy");
	check(cuGraphDestroy(graph), "destroy graph");
}

static void step(struct worker *worker)
{
	unsigned nodes = is_long ? LONG_NODES : NODES;

	check(cuGraphLaunch(worker->kept, worker->stream), "graph launch");
	expect(worker, nodes);
	if (!is_long) {
		launch(worker);
		expect(worker, 1);
		if (++worker->count % RENEW_EACH == 0)
			renew(worker);
	}
	check(cuStreamSynchronize(worker->stream), "wait");
}

static void worker_open(struct worker *worker)
{
	check(cuCtxSetCurrent(context), "current");
	check(cuStreamCreate(&worker->stream, 1), "stream");
	check(cuMemAlloc_v2(&worker->memory, 64), "memory");
	check(cuMemsetD8_v2(worker->memory, 0, 64), "memset");
	worker->kept = instantiate(capture(worker, is_long ? LONG_NODES : NODES));
}

static void *worker_run(void *given)
{
	struct worker *worker = given;

	worker_open(worker);
	for (;;) {
		pthread_barrier_wait(&begin);
		if (is_over)
			return NULL;
		step(worker);
		pthread_barrier_wait(&end);
	}
}

static void open_context(void)
{
	void *module;
	int device;

	check(cuInit(0), "begin");
	check(cuDeviceGet(&device, 0), "device");
	check(cuDevicePrimaryCtxRetain(&context, device), "context");
	check(cuCtxSetCurrent(context), "current");
	check(cuModuleLoadData(&module, ptx), "module");
	check(cuModuleGetFunction(&function, module, "limpet_next"), "function");
}

/* What the device has is what it should have. */
static int64_t sum(unsigned threads)
{
	int64_t all = 0;

	for (unsigned i = 0; i < threads; i++) {
		uint32_t value = 0;

		check(cuMemcpyDtoH_v2(&value, workers[i].memory, 4), "copy back");
		check(value != workers[i].expected, "a kernel was lost or done twice");
		all += value;
	}
	return all;
}

static void await(void)
{
	page[WAITS] = 1;
	while (page[WAIT_AT] && page[WAIT_AT] <= page[DONE])
		usleep(1000);
	page[WAITS] = 0;
}

int main(int count, char **words)
{
	int file = count == 3 ? open(words[1], O_RDWR) : -1;
	unsigned threads;

	check(file < 0, "graph_loop PAGE MODE");
	page = mmap(NULL, 64, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	is_long = !strcmp(words[2], "long");
	threads = is_long ? 1 : THREADS;
	open_driver();
	open_context();
	pthread_barrier_init(&begin, NULL, threads + 1);
	pthread_barrier_init(&end, NULL, threads + 1);
	for (unsigned i = 0; i < threads; i++)
		pthread_create(&workers[i].thread, NULL, worker_run, &workers[i]);
	page[PID] = getpid();
	while (!page[END_AT] || page[DONE] < page[END_AT]) {
		if (page[WAIT_AT] && page[DONE] >= page[WAIT_AT])
			await();
		pthread_barrier_wait(&begin);
		pthread_barrier_wait(&end);
		page[DONE]++;
		if (page[DONE] % 1000 == 0)
			sum(threads);
	}
	is_over = 1;
	pthread_barrier_wait(&begin);
	page[CHECKSUM] = sum(threads);
	puts("ok");
	return 0;
}
