/*
 * A program that uses OpenCL in ways which break when somebody else meddles with its events and
 * queues, and sees at once when one does.  Each line on stdin is answered by one line of JSON.
 *
 *   cl_hard answers     what the driver answers about events, queues and contexts
 *   cl_hard order       threads take turns on one queue that keeps their order
 *   cl_hard unordered   commands that must not wait for each other, and barriers
 *   cl_hard churn       queues, contexts and events that come and go, work still under way
 *   cl_hard kinds       native kernels, parts of buffers, rectangles, maps, reads that do not wait
 *   cl_hard million     many small commands
 *   cl_hard making      a driver that takes its time to make a queue: how many were begun.  "c"
 * changes the program's own queue cl_hard barriers    barriers without end: how many references the
 * queue has when all is done
 */
#define CL_TARGET_OPENCL_VERSION 200
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_icd.h>

#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define THREADS     3u
#define ITEMS       64u
#define BATCH       16u
#define WAIT_US     100
#define GATE_US     500 /* so that most often something waits when somebody comes or goes */
#define WAITS_MAX   100000u
#define ANSWERS_MAX 24u
#define MAKING_US   400000
#define PAGE_BYTES  4096u

static const char source[] =
	"__kernel void step_on(__global uint *a, uint k) { size_t i = get_global_id(0); a[i] = "
	"a[i] * 31 + k; }\n"
	"__kernel void put(__global uint *a, uint k) { a[get_global_id(0)] = k; }\n";

static cl_platform_id platform;
static cl_device_id device;
static cl_context context;
static cl_program program;
static unsigned long rounds, wrong;

static void check(cl_int result, const char *what)
{
	if (result == CL_SUCCESS)
		return;
	fprintf(stderr, "cl_hard: %s: %d\n", what, result);
	exit(3);
}

static cl_command_queue make_queue(cl_command_queue_properties properties)
{
	cl_int result;
	cl_command_queue queue = clCreateCommandQueue(context, device, properties, &result);

	check(result, "queue");
	return queue;
}

static cl_kernel make_kernel(const char *name, cl_mem buffer)
{
	cl_int result;
	cl_kernel kernel = clCreateKernel(program, name, &result);

	check(result, name);
	check(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer), "argument");
	return kernel;
}

static cl_mem make_buffer(void)
{
	cl_int result;
	cl_mem buffer =
		clCreateBuffer(context, CL_MEM_READ_WRITE, ITEMS * sizeof(cl_uint), NULL, &result);

	check(result, "buffer");
	return buffer;
}

static cl_event make_gate(void)
{
	cl_int result;
	cl_event gate = clCreateUserEvent(context, &result);

	check(result, "user event");
	return gate;
}

static void open_gate(cl_event gate)
{
	check(clSetUserEventStatus(gate, CL_COMPLETE), "user event");
	check(clReleaseEvent(gate), "release user event");
}

static void run(cl_command_queue queue, cl_kernel kernel, cl_uint k, cl_event *wait,
		cl_event *event)
{
	size_t size = ITEMS;

	check(clSetKernelArg(kernel, 1, sizeof(k), &k), "argument");
	check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, wait ? 1 : 0, wait,
				     event),
	      "kernel");
}

static cl_uint read_first(cl_command_queue queue, cl_mem buffer)
{
	cl_uint back[ITEMS];

	check(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof(back), back, 0, NULL, NULL),
	      "read");
	for (unsigned i = 1; i < ITEMS; i++)
		wrong += back[i] != back[0];
	return back[0];
}

static cl_int status_of(cl_event event)
{
	cl_int status = 0;

	check(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status,
			     NULL),
	      "status");
	return status;
}

/* False when it never comes to its end. */
static bool is_done_soon(cl_event event)
{
	for (unsigned i = 0; i < WAITS_MAX; i++) {
		if (status_of(event) == CL_COMPLETE)
			return true;
		usleep(WAIT_US);
	}
	return false;
}

static char told;

static bool is_told(void)
{
	struct pollfd in = { STDIN_FILENO, POLLIN, 0 };

	if (poll(&in, 1, 0) <= 0)
		return false;
	if (read(STDIN_FILENO, &told, 1) <= 0)
		_exit(0);
	return true;
}

/* The words of the driver's table, added up. */
static unsigned long table_sum(void)
{
	const unsigned long *table = *(const unsigned long *const *)device;
	unsigned long sum = 0;

	for (unsigned i = 0; i < 140; i++)
		sum = sum * 31 + table[i];
	return sum;
}

static void tell(void)
{
	printf("{\"rounds\":%lu,\"wrong\":%lu,\"table\":%lu}\n", rounds, wrong, table_sum());
	fflush(stdout);
	rounds = 0;
}

/* What a program can ask; the answers must not depend on us. */
static struct {
	long items[ANSWERS_MAX];
	unsigned count;
} answers;

static void note(long value)
{
	if (answers.count < ANSWERS_MAX)
		answers.items[answers.count++] = value;
}

static void note_references(cl_command_queue queue, cl_event event)
{
	cl_uint references = 0;

	if (event) {
		check(clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof(references),
				     &references, NULL),
		      "event");
		note(references);
	}
	check(clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof(references),
				    &references, NULL),
	      "queue");
	note(references);
	check(clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof(references), &references,
			       NULL),
	      "context");
	note(references);
}

static void note_event(cl_command_queue queue, cl_event event)
{
	cl_command_queue its = NULL;
	cl_command_type type = 0;
	cl_ulong time = 0x1234;
	size_t size = 0x5678;

	check(clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof(its), &its, NULL), "event");
	check(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof(type), &type, NULL), "event");
	note(its == queue);
	note(type);
	note(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof(time), &time,
				     &size));
	note((long)time);
	note((long)size);
}

static void note_queue(cl_command_queue queue)
{
	cl_command_queue_properties properties = 99;
	cl_context its = NULL;

	check(clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof(properties), &properties,
				    NULL),
	      "queue");
	check(clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(its), &its, NULL), "queue");
	note((long)properties);
	note(its == context);
}

static void answer_once(cl_command_queue queue, cl_kernel kernel)
{
	cl_event gate = make_gate(), event = NULL, untouched = (cl_event)(uintptr_t)0x1230;
	size_t size = ITEMS;

	answers.count = 0;
	run(queue, kernel, 1, &gate, &event);
	note_references(queue, event);
	note_event(queue, event);
	note_queue(queue);
	note(status_of(event) > CL_COMPLETE);
	note(clEnqueueNDRangeKernel(queue, kernel, 4, NULL, &size, NULL, 0, NULL, &untouched));
	note((long)(uintptr_t)untouched);
	open_gate(gate);
	check(clFinish(queue), "finish");
	note(status_of(event));
	note_event(queue, event);
	check(clReleaseEvent(event), "release");
	rounds++;
}

static void tell_answers(void)
{
	printf("{\"rounds\":%lu,\"answers\":[", rounds);
	for (unsigned i = 0; i < answers.count; i++)
		printf("%s%ld", i ? "," : "", answers.items[i]);
	printf("]}\n");
	fflush(stdout);
	rounds = 0;
}

static void answer(void)
{
	cl_command_queue queue = make_queue(0);
	cl_kernel kernel = make_kernel("put", make_buffer());

	for (;;) {
		answer_once(queue, kernel);
		if (is_told())
			tell_answers();
		usleep(1000);
	}
}

/* What was enqueued on the one queue, computed here as well. */
static struct {
	pthread_mutex_t lock;
	cl_command_queue queue;
	cl_kernel kernel;
	cl_mem buffer;
	cl_uint expected;
	unsigned count;
} turn = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void step(cl_uint k, cl_event *wait)
{
	run(turn.queue, turn.kernel, k, wait, NULL);
	turn.expected = turn.expected * 31 + k;
	turn.count++;
}

/* Some of the work waits until its gate is opened, and all that comes later with it. */
static void take_turn(unsigned seed)
{
	cl_event gate = seed % 5 ? NULL : make_gate();

	step(seed, gate ? &gate : NULL);
	step(seed + 1, NULL);
	if (seed % 3 == 0)
		check(clFlush(turn.queue), "flush");
	if (gate) {
		usleep(GATE_US);
		open_gate(gate);
	}
	if (seed % 7 == 0)
		check(clFinish(turn.queue), "finish");
	if (turn.count >= BATCH) {
		wrong += read_first(turn.queue, turn.buffer) != turn.expected;
		turn.count = 0;
		rounds++;
	}
}

static void *take_turns(void *first)
{
	for (unsigned seed = (unsigned)(uintptr_t)first;; seed++) {
		pthread_mutex_lock(&turn.lock);
		take_turn(seed);
		pthread_mutex_unlock(&turn.lock);
		usleep(50);
	}
	return NULL;
}

static void order(void)
{
	pthread_t thread;
	cl_kernel put;

	turn.queue = make_queue(0);
	turn.buffer = make_buffer();
	turn.kernel = make_kernel("step_on", turn.buffer);
	put = make_kernel("put", turn.buffer);
	run(turn.queue, put, 0, NULL, NULL);
	for (uintptr_t i = 0; i < THREADS; i++)
		check(pthread_create(&thread, NULL, take_turns, (void *)(1000 * i)), "thread");
	for (;;) {
		if (is_told()) {
			pthread_mutex_lock(&turn.lock);
			tell();
			pthread_mutex_unlock(&turn.lock);
		}
		usleep(1000);
	}
}

struct loose {
	cl_command_queue queue;
	cl_mem a, b;
	cl_kernel put_a, put_b, step_a;
};

/* One waits for the program, which waits for another that came later. */
static void pass_by(struct loose *self, cl_uint k)
{
	cl_event gate = make_gate(), held, free_one;

	run(self->queue, self->put_a, k, &gate, &held);
	run(self->queue, self->put_b, k, NULL, &free_one);
	check(clFlush(self->queue), "flush");
	wrong += !is_done_soon(free_one);
	wrong += status_of(held) == CL_COMPLETE;
	open_gate(gate);
	check(clFinish(self->queue), "finish");
	wrong += status_of(held) != CL_COMPLETE;
	check(clReleaseEvent(held), "release");
	check(clReleaseEvent(free_one), "release");
}

/* What comes behind a barrier waits, also for what is held up. */
static void hold_back(struct loose *self, cl_uint k)
{
	cl_event gate = make_gate(), behind;

	run(self->queue, self->put_a, k, &gate, NULL);
	check(clEnqueueBarrierWithWaitList(self->queue, 0, NULL, NULL), "barrier");
	usleep(k % 8 * 500);
	run(self->queue, self->step_a, 7, NULL, &behind);
	check(clFlush(self->queue), "flush");
	usleep(k % 5 * 500);
	wrong += status_of(behind) == CL_COMPLETE;
	open_gate(gate);
	check(clWaitForEvents(1, &behind), "wait");
	wrong += read_first(self->queue, self->a) != k * 31 + 7;
	check(clReleaseEvent(behind), "release");
}

static void unordered(void)
{
	struct loose self = { .queue = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE),
			      .a = make_buffer(),
			      .b = make_buffer() };

	self.put_a = make_kernel("put", self.a);
	self.step_a = make_kernel("step_on", self.a);
	self.put_b = make_kernel("put", self.b);
	for (cl_uint k = 1;; k++) {
		pass_by(&self, k);
		hold_back(&self, k);
		rounds++;
		if (is_told())
			tell();
	}
}

static void use_once(cl_uint k)
{
	cl_command_queue queue = make_queue(0);
	cl_mem buffer = make_buffer();
	cl_kernel kernel = make_kernel("put", buffer);
	cl_event kept = NULL, gate = k % 2 ? make_gate() : NULL;

	check(clRetainCommandQueue(queue), "retain");
	run(queue, kernel, k, gate ? &gate : NULL, k % 3 ? &kept : NULL);
	check(clReleaseCommandQueue(queue), "release");
	run(queue, kernel, k, NULL, NULL);
	check(clFlush(queue), "flush");
	if (k % 4 == 0)
		check(clFinish(queue), "finish");
	check(clReleaseCommandQueue(queue), "release");
	if (gate)
		open_gate(gate);
	if (kept) {
		check(clWaitForEvents(1, &kept), "wait");
		check(clReleaseEvent(kept), "release");
	}
	check(clReleaseKernel(kernel), "release");
	check(clReleaseMemObject(buffer), "release");
	rounds++;
}

static void build(void)
{
	const char *text = source;
	cl_int result;

	context = clCreateContext(NULL, 1, &device, NULL, NULL, &result);
	check(result, "context");
	program = clCreateProgramWithSource(context, 1, &text, NULL, &result);
	check(result, "program");
	check(clBuildProgram(program, 1, &device, "", NULL, NULL), "build");
}

static void *churn(void *first)
{
	for (cl_uint k = (cl_uint)(uintptr_t)first;; k++) {
		use_once(k);
		usleep(200);
	}
	return NULL;
}

static void churn_all(void)
{
	pthread_t thread;

	for (uintptr_t i = 0; i < THREADS; i++)
		check(pthread_create(&thread, NULL, churn, (void *)(i * 7)), "thread");
	for (;;) {
		if (is_told())
			tell();
		usleep(1000);
	}
}

static void million(void)
{
	cl_command_queue queue = make_queue(0);
	cl_kernel kernel = make_kernel("put", make_buffer());
	int byte = 0;

	for (;;) {
		check(clEnqueueReadBuffer(queue, NULL, CL_FALSE, 0, 1, &byte, 0, NULL, NULL) ==
				      CL_INVALID_MEM_OBJECT
			      ? CL_SUCCESS
			      : -1,
		      "refusal");
		run(queue, kernel, 1, NULL, NULL);
		if (++rounds % 256 == 0)
			check(clFinish(queue), "finish");
		if (is_told())
			tell();
	}
}

static void CL_CALLBACK add_natively(void *arguments)
{
	cl_uint *items = *(cl_uint **)arguments;

	for (unsigned i = 0; i < ITEMS; i++)
		items[i] += 5;
}

static void run_natively(cl_command_queue queue, cl_mem buffer)
{
	void *arguments[1] = { NULL };
	const void *pointer = arguments;

	check(clEnqueueNativeKernel(queue, add_natively, arguments, sizeof(arguments), 1, &buffer,
				    &pointer, 0, NULL, NULL),
	      "native kernel");
}

static void fill_half(cl_command_queue queue, cl_mem half, cl_uint k)
{
	check(clEnqueueFillBuffer(queue, half, &k, sizeof(k), 0, ITEMS / 2 * sizeof(k), 0, NULL,
				  NULL),
	      "fill");
}

/* Adds one by a map that does not wait for what is before it. */
static void map_once(cl_command_queue queue, cl_mem buffer)
{
	cl_event mapped;
	cl_int result;
	cl_uint *items = clEnqueueMapBuffer(queue, buffer, CL_FALSE, CL_MAP_READ | CL_MAP_WRITE, 0,
					    ITEMS * sizeof(*items), 0, NULL, &mapped, &result);

	check(result, "map");
	check(clWaitForEvents(1, &mapped), "wait");
	for (unsigned i = 0; i < ITEMS; i++)
		items[i]++;
	check(clEnqueueUnmapMemObject(queue, buffer, items, 1, &mapped, NULL), "unmap");
	check(clReleaseEvent(mapped), "release");
}

static void read_rectangle(cl_command_queue queue, cl_mem buffer, cl_uint *into)
{
	const size_t zero[3] = { 0, 0, 0 }, region[3] = { 8 * sizeof(*into), ITEMS / 8, 1 };
	cl_event done;

	check(clEnqueueReadBufferRect(queue, buffer, CL_FALSE, zero, zero, region, region[0], 0,
				      region[0], 0, into, 0, NULL, &done),
	      "read of a rectangle");
	check(clFlush(queue), "flush");
	check(clWaitForEvents(1, &done), "wait");
	check(clReleaseEvent(done), "release");
}

static void all_kinds(void)
{
	const cl_buffer_region part = { 0, ITEMS / 2 * sizeof(cl_uint) };
	cl_command_queue queue = make_queue(0);
	cl_mem buffer = make_buffer();
	cl_kernel put = make_kernel("put", buffer);
	cl_uint back[ITEMS];
	cl_int result;

	for (cl_uint k = 1;; k++) {
		cl_mem half =
			clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &part, &result);

		check(result, "part of a buffer");
		run(queue, put, k, NULL, NULL);
		fill_half(queue, half, k + 100);
		run_natively(queue, buffer);
		map_once(queue, buffer);
		read_rectangle(queue, buffer, back);
		for (unsigned i = 0; i < ITEMS; i++)
			wrong += back[i] != k + 6 + (i < ITEMS / 2 ? 100 : 0);
		check(clReleaseMemObject(half), "release");
		rounds++;
		if (is_told())
			tell();
	}
}

static cl_api_clCreateCommandQueueWithProperties make_at_once;
static unsigned long begun;

static CL_API_ENTRY cl_command_queue CL_API_CALL make_slowly(cl_context in, cl_device_id of,
							     const cl_queue_properties *properties,
							     cl_int *ret)
{
	__atomic_fetch_add(&begun, 1, __ATOMIC_RELAXED);
	usleep(MAKING_US);
	return make_at_once(in, of, properties, ret);
}

/* As a layer would do it, before anybody comes. */
static void slow_down(void)
{
	cl_icd_dispatch *table = *(cl_icd_dispatch **)platform;
	uintptr_t address = (uintptr_t)&table->clCreateCommandQueueWithProperties;

	check(mprotect((void *)(address & ~(uintptr_t)(PAGE_BYTES - 1)), 2 * PAGE_BYTES,
		       PROT_READ | PROT_WRITE),
	      "table");
	make_at_once = table->clCreateCommandQueueWithProperties;
	table->clCreateCommandQueueWithProperties = make_slowly;
}

static void *put_on(void *argument)
{
	cl_command_queue queue = argument;
	cl_kernel kernel = make_kernel("put", make_buffer());

	for (;; __atomic_fetch_add(&rounds, 1, __ATOMIC_RELAXED)) {
		run(queue, kernel, 1, NULL, NULL);
		check(clFinish(queue), "finish");
		usleep(1000);
	}
	return NULL;
}

static void CL_CALLBACK free_it(cl_command_queue queue, cl_uint count, void *pointers[], void *data)
{
	wrong += queue != data;
	for (cl_uint i = 0; i < count; i++)
		clSVMFree(context, pointers[i]);
}

static void free_by_function(cl_command_queue queue)
{
	void *shared = clSVMAlloc(context, CL_MEM_READ_WRITE, ITEMS, 0);

	check(shared ? CL_SUCCESS : CL_OUT_OF_RESOURCES, "shared memory");
	check(clEnqueueSVMFree(queue, 1, &shared, free_it, queue, 0, NULL, NULL), "free");
}

static void making(void)
{
	cl_command_queue queue = make_queue(0);
	pthread_t thread;

	slow_down();
	check(pthread_create(&thread, NULL, put_on, queue), "thread");
	for (;; usleep(1000)) {
		if (!is_told())
			continue;
		if (told == 'f')
			free_by_function(queue);
		printf("{\"begun\":%lu,\"rounds\":%lu,\"wrong\":%lu}\n",
		       __atomic_load_n(&begun, __ATOMIC_RELAXED),
		       __atomic_exchange_n(&rounds, 0, __ATOMIC_RELAXED), wrong);
		fflush(stdout);
	}
}

static void barriers(void)
{
	cl_command_queue queue = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	cl_uint references;

	for (;;) {
		for (unsigned i = 0; i < BATCH; i++)
			check(clEnqueueBarrierWithWaitList(queue, 0, NULL, NULL), "barrier");
		check(clFinish(queue), "finish");
		if (!is_told())
			continue;
		check(clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof(references),
					    &references, NULL),
		      "references");
		printf("{\"references\":%u}\n", references);
		fflush(stdout);
	}
}

#ifdef BYPASS
/* A program that could enqueue in a way that nobody sees who came later. */
static void bypass(void)
{
	volatile bool is_there = clGetExtensionFunctionAddressForPlatform(
					 platform, "clEnqueueCommandBufferKHR") != NULL;

	(void)is_there;
	all_kinds();
}
#endif

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} ways[] = {
		{ "answers", answer },  { "order", order },     { "unordered", unordered },
		{ "churn", churn_all }, { "million", million },
#ifdef BYPASS
		{ "bypass", bypass },
#endif
		{ "kinds", all_kinds }, { "making", making },   { "barriers", barriers },
	};

	check(clGetPlatformIDs(1, &platform, NULL), "platform");
	check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "device");
	build();
	printf("{\"ready\":true}\n");
	fflush(stdout);
	for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(argv[1], ways[i].name))
			ways[i].run();
	return 2;
}
