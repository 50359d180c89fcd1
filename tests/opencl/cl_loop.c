/*
 * A program that works with OpenCL for ever, checks every result, and counts what it does by epoch.
 * All that it does in epoch E has a size of its own, so that a recording can be compared with its
 * counts exactly.  Lines on stdin are orders:
 *
 *   (empty)   ends the epoch: its counts are printed as one line of JSON
 *   hold      enqueues a kernel that waits until `let go`
 *   forbid    its thread may not read the machine's counter any more
 *   crowd     a kernel in each of more queues than limpet tells apart
 *   fork      a child that uses OpenCL as far as a child can
 *   exit      ends the program with a kernel that waits still
 *
 *   cl_loop [profiling] [unordered] [events] [threads] [late] [slow]
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define ITEMS_MAX    8192u
#define GROUP        64u
#define THREADS_MAX  2u
#define CROWD        1200u
#define SLOW_US      2000
#define SETTLE_US    1000
#define SETTLE_STEPS 5000u
#define FIRST_STEPS  100u
#define LONG_NAME \
	"a_kernel_with_a_name_that_is_longer_than_most_and_goes_on_for_quite_a_while_until_it_ends"

static const char source[] =
	"__kernel void add(__global int *a, __global const int *b) { a[get_global_id(0)] += "
	"b[get_global_id(0)]; }\n"
	"__kernel void twice(__global int *a) { size_t i = get_global_id(0) + get_global_id(1); if "
	"(!get_global_id(1)) a[i] *= 2; }\n"
	"__kernel void " LONG_NAME "(__global int *a, __local int *l) { l[get_local_id(0)] = 1; "
	"barrier(CLK_LOCAL_MEM_FENCE); a[get_global_id(0)] += l[get_local_id(0)]; }\n";

/* What was done in an epoch. */
struct counts {
	unsigned long rounds, kernels, to_device, to_host, in_device, fills, maps, buffers;
	unsigned long wrong, failed, references;
};

struct worker {
	cl_command_queue queue;
	cl_mem a, b;
	cl_kernel add, twice, longest;
	cl_event last; /* of the last command that gave one */
	cl_uint least; /* references that such an event had, once the driver had let go of it */
	struct counts counts;
	unsigned epoch;
};

static struct {
	bool profiling, unordered, events, threads, late, slow;
} options;
static cl_context context;
static cl_device_id device;
static unsigned wanted_epoch;
static pthread_barrier_t between;

static void check(cl_int result, const char *what)
{
	if (result == CL_SUCCESS)
		return;
	fprintf(stderr, "cl_loop: %s: %d\n", what, result);
	exit(3);
}

static unsigned items_of(unsigned epoch)
{
	return GROUP * (2 + epoch % 100);
}

/* Asks for an event, as programs do that want it. */
static cl_event *maybe(cl_event *event)
{
	*event = NULL;
	return options.events ? event : NULL;
}

static void done_with(struct worker *self, cl_event event)
{
	if (!event)
		return;
	check(clWaitForEvents(1, &event), "wait");
	if (self->last)
		check(clReleaseEvent(self->last), "release event");
	self->last = event;
}

static cl_uint references_of(cl_event event)
{
	cl_uint references = 0;

	if (!event)
		return 0;
	check(clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof(references), &references,
			     NULL),
	      "info");
	return references;
}

/* Who waits for an event is told of its end before the driver lets go of it: references are as few
 * as they were in the epoch before, a moment later; how few that is shows in the first one. */
static cl_uint references_settled(struct worker *self)
{
	cl_uint references = references_of(self->last), least = self->least ? self->least : 1;

	for (unsigned i = 0; i < (self->least ? SETTLE_STEPS : FIRST_STEPS) && references > least;
	     i++) {
		usleep(SETTLE_US);
		references = references_of(self->last);
	}
	self->least = references;
	return references;
}

static void run(struct worker *self, cl_kernel kernel, unsigned dimensions)
{
	size_t sizes[2] = { items_of(self->epoch), 2 }, groups[2] = { GROUP, 1 };
	cl_event event;

	check(clEnqueueNDRangeKernel(self->queue, kernel, dimensions, NULL, sizes, groups, 0, NULL,
				     maybe(&event)),
	      "kernel");
	if (options.unordered)
		check(clFinish(self->queue), "finish");
	done_with(self, event);
	self->counts.kernels++;
}

static void write_and_fill(struct worker *self, const int *data, size_t size)
{
	const int one = 1;
	cl_event event;

	check(clEnqueueWriteBuffer(self->queue, self->a, CL_FALSE, 0, size, data, 0, NULL,
				   maybe(&event)),
	      "write");
	done_with(self, event);
	check(clEnqueueFillBuffer(self->queue, self->b, &one, sizeof(one), 0, size, 0, NULL, NULL),
	      "fill");
	check(clFinish(self->queue), "finish");
	self->counts.to_device++;
	self->counts.fills++;
}

static void map_once(struct worker *self, size_t size)
{
	cl_int result;
	int *mapped = clEnqueueMapBuffer(self->queue, self->a, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE,
					 0, size, 0, NULL, NULL, &result);

	check(result, "map");
	mapped[0]++;
	check(clEnqueueUnmapMemObject(self->queue, self->a, mapped, 0, NULL, NULL), "unmap");
	if (options.unordered)
		check(clFinish(self->queue), "finish");
	self->counts.maps++;
}

/* What a driver refuses must be refused in the same way, always. */
static void be_refused(struct worker *self)
{
	size_t size = items_of(self->epoch), group = size + 1;
	cl_event untouched = (cl_event)(uintptr_t)0x1234;
	int byte;

	self->counts.failed +=
		clEnqueueNDRangeKernel(self->queue, self->add, 4, NULL, &size, NULL, 0, NULL,
				       &untouched) == CL_INVALID_WORK_DIMENSION;
	self->counts.failed += clEnqueueNDRangeKernel(self->queue, self->add, 1, NULL, &size,
						      &group, 0, NULL, &untouched) != CL_SUCCESS;
	self->counts.failed += clEnqueueReadBuffer(self->queue, self->a, CL_TRUE, 0, ITEMS_MAX * 99,
						   &byte, 0, NULL, &untouched) == CL_INVALID_VALUE;
	self->counts.failed += clEnqueueReadBuffer(self->queue, NULL, CL_TRUE, 0, 4, &byte, 0, NULL,
						   &untouched) == CL_INVALID_MEM_OBJECT;
	self->counts.wrong += untouched != (cl_event)(uintptr_t)0x1234;
}

static void make_and_drop(struct worker *self, size_t size)
{
	cl_int result;
	cl_mem extra = clCreateBuffer(context, CL_MEM_READ_WRITE, size * 3, NULL, &result);

	check(result, "buffer");
	check(clEnqueueCopyBuffer(self->queue, self->a, extra, 0, 0, size, 0, NULL, NULL), "copy");
	check(clFinish(self->queue), "finish");
	check(clReleaseMemObject(extra), "release buffer");
	self->counts.in_device++;
	self->counts.buffers++;
}

static void one_round(struct worker *self)
{
	unsigned items = items_of(self->epoch);
	size_t size = items * sizeof(int);
	int data[ITEMS_MAX], back[ITEMS_MAX];
	cl_event event;

	for (unsigned i = 0; i < items; i++)
		data[i] = (int)(i + self->counts.rounds);
	write_and_fill(self, data, size);
	run(self, self->add, 1);
	run(self, self->twice, 2);
	run(self, self->longest, 1);
	map_once(self, size);
	make_and_drop(self, size);
	be_refused(self);
	check(clEnqueueReadBuffer(self->queue, self->a, CL_TRUE, 0, size, back, 0, NULL,
				  maybe(&event)),
	      "read");
	done_with(self, event);
	self->counts.to_host++;
	for (unsigned i = 0; i < items; i++)
		self->counts.wrong += back[i] != 2 * (data[i] + 1) + 1 + (i == 0);
	self->counts.rounds++;
}

static cl_kernel make_kernel(cl_program program, const char *name)
{
	cl_int result;
	cl_kernel kernel = clCreateKernel(program, name, &result);

	check(result, name);
	return kernel;
}

static void make_worker(struct worker *self, cl_program program)
{
	cl_command_queue_properties properties =
		(options.profiling ? CL_QUEUE_PROFILING_ENABLE : 0) |
		(options.unordered ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0);
	cl_int result;

	self->queue = clCreateCommandQueue(context, device, properties, &result);
	check(result, "queue");
	self->a =
		clCreateBuffer(context, CL_MEM_READ_WRITE, ITEMS_MAX * sizeof(int), NULL, &result);
	check(result, "buffer");
	self->b =
		clCreateBuffer(context, CL_MEM_READ_WRITE, ITEMS_MAX * sizeof(int), NULL, &result);
	check(result, "buffer");
	self->add = make_kernel(program, "add");
	self->twice = make_kernel(program, "twice");
	self->longest = make_kernel(program, LONG_NAME);
	check(clSetKernelArg(self->add, 0, sizeof(cl_mem), &self->a), "argument");
	check(clSetKernelArg(self->add, 1, sizeof(cl_mem), &self->b), "argument");
	check(clSetKernelArg(self->twice, 0, sizeof(cl_mem), &self->a), "argument");
	check(clSetKernelArg(self->longest, 0, sizeof(cl_mem), &self->a), "argument");
	check(clSetKernelArg(self->longest, 1, GROUP * sizeof(int), NULL), "argument");
}

static cl_program prepare(void)
{
	const char *text = source;
	cl_platform_id platform;
	cl_program program;
	cl_int result;

	check(clGetPlatformIDs(1, &platform, NULL), "platform");
	check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "device");
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &result);
	check(result, "context");
	program = clCreateProgramWithSource(context, 1, &text, NULL, &result);
	check(result, "program");
	check(clBuildProgram(program, 1, &device, "", NULL, NULL), "build");
	return program;
}

/* A queue of its own, whose only kernel waits for somebody to say so. */
static struct {
	cl_command_queue queue;
	cl_event gate, event;
} held;

static void hold(struct worker *self)
{
	size_t size = GROUP;
	cl_int result;

	held.queue = clCreateCommandQueue(context, device, 0, &result);
	check(result, "queue");
	held.gate = clCreateUserEvent(context, &result);
	check(result, "user event");
	check(clEnqueueNDRangeKernel(held.queue, self->twice, 1, NULL, &size, NULL, 1, &held.gate,
				     &held.event),
	      "kernel that waits");
	check(clFlush(held.queue), "flush");
}

static void let_go(void)
{
	check(clSetUserEventStatus(held.gate, CL_COMPLETE), "user event");
	check(clFinish(held.queue), "finish");
	check(clReleaseEvent(held.gate), "release event");
	check(clReleaseEvent(held.event), "release event");
	check(clReleaseCommandQueue(held.queue), "release queue");
	held.event = NULL;
}

static void crowd(struct worker *self)
{
	static cl_command_queue queues[CROWD];
	size_t size = GROUP;
	cl_int result;

	for (unsigned i = 0; i < CROWD; i++) {
		queues[i] = clCreateCommandQueue(context, device, 0, &result);
		check(result, "queue");
		check(clEnqueueNDRangeKernel(queues[i], self->twice, 1, NULL, &size, NULL, 0, NULL,
					     NULL),
		      "kernel in a crowd");
		check(clFinish(queues[i]), "finish");
	}
	for (unsigned i = 0; i < CROWD; i++)
		check(clReleaseCommandQueue(queues[i]), "release queue");
}

/* The driver's threads are not in a child: nothing may be waited for. */
static void fork_once(struct worker *self)
{
	int byte = 0, status = -1;
	char name[64];
	pid_t child = fork();

	if (!child) {
		cl_int result = clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof(name), name, NULL) |
				clEnqueueReadBuffer(self->queue, NULL, CL_FALSE, 0, 4, &byte, 0,
						    NULL, NULL);

		_exit(result == CL_INVALID_MEM_OBJECT ? 0 : 1);
	}
	waitpid(child, &status, 0);
	self->counts.wrong += status != 0;
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

static void print_epoch(struct worker *workers, unsigned count)
{
	struct counts sum = { 0 };
	cl_uint context_references = 0;

	for (unsigned i = 0; i < count; i++) {
		const unsigned long *from = (const unsigned long *)&workers[i].counts;

		workers[i].counts.references = references_settled(&workers[i]);
		for (size_t j = 0; j < sizeof(sum) / sizeof(unsigned long); j++)
			((unsigned long *)&sum)[j] += from[j];
		memset(&workers[i].counts, 0, sizeof(sum));
	}
	check(clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof(context_references),
			       &context_references, NULL),
	      "context");
	printf("{\"epoch\":%u,\"items\":%u,\"rounds\":%lu,\"kernels\":%lu,\"to_device\":%lu,"
	       "\"to_host\":%lu,\"in_device\":%lu,\"fills\":%lu,\"maps\":%lu,\"buffers\":%lu,"
	       "\"wrong\":%lu,\"failed\":%lu,\"references\":%lu,\"workers\":%u,\"held\":%u,\"context\":%u,"
	       "\"table\":%lu}\n",
	       workers[0].epoch, items_of(workers[0].epoch), sum.rounds, sum.kernels, sum.to_device,
	       sum.to_host, sum.in_device, sum.fills, sum.maps, sum.buffers, sum.wrong, sum.failed,
	       sum.references, count, references_of(held.event), context_references, table_sum());
	fflush(stdout);
}

static void read_line(char *line, size_t room)
{
	size_t at = 0;

	do
		if (read(STDIN_FILENO, line + at, 1) <= 0)
			_exit(0);
	while (line[at++] != '\n' && at + 1 < room);
	line[at] = '\0';
}

/* True when the epoch is over. */
static bool obey(struct worker *self)
{
	struct pollfd in = { STDIN_FILENO, POLLIN, 0 };
	char line[64];

	if (poll(&in, 1, 0) <= 0)
		return false;
	read_line(line, sizeof(line));
	if (!strcmp(line, "hold\n"))
		hold(self);
	else if (!strcmp(line, "let go\n"))
		let_go();
	else if (!strcmp(line, "forbid\n"))
		self->counts.wrong += prctl(PR_SET_TSC, PR_TSC_SIGSEGV) != 0;
	else if (!strcmp(line, "crowd\n"))
		crowd(self);
	else if (!strcmp(line, "fork\n"))
		fork_once(self);
	else if (!strcmp(line, "exit\n")) {
		hold(self);
		exit(0);
	}
	return !strcmp(line, "\n");
}

/* The first worker reads stdin; all meet at the end of an epoch. */
static void *work(void *context_of_all)
{
	struct worker *all = ((struct worker **)context_of_all)[0];
	struct worker *self = ((struct worker **)context_of_all)[1];
	unsigned count = options.threads ? THREADS_MAX : 1;

	for (;;) {
		one_round(self);
		if (options.slow)
			usleep(SLOW_US);
		if (self == all && obey(self))
			__atomic_fetch_add(&wanted_epoch, 1, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&wanted_epoch, __ATOMIC_SEQ_CST) == self->epoch)
			continue;
		pthread_barrier_wait(&between);
		if (self == all)
			print_epoch(all, count);
		pthread_barrier_wait(&between);
		self->epoch++;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static struct worker workers[THREADS_MAX];
	struct worker *told[THREADS_MAX][2];
	unsigned count;
	cl_program program;
	pthread_t thread;
	bool *const flags[] = { &options.profiling, &options.unordered, &options.events,
				&options.threads,   &options.late,      &options.slow };
	const char *const names[] = {
		"profiling", "unordered", "events", "threads", "late", "slow"
	};

	for (int i = 1; i < argc; i++)
		for (size_t j = 0; j < sizeof(flags) / sizeof(flags[0]); j++)
			if (!strcmp(argv[i], names[j]))
				*flags[j] = true;
	if (options.late) {
		printf("{\"late\":true}\n");
		fflush(stdout);
		while (!obey(NULL))
			usleep(1000);
	}
	count = options.threads ? THREADS_MAX : 1;
	pthread_barrier_init(&between, NULL, count);
	program = prepare();
	for (unsigned i = 0; i < count; i++)
		make_worker(&workers[i], program);
	printf("{\"ready\":true}\n");
	fflush(stdout);
	for (unsigned i = 0; i < count; i++) {
		told[i][0] = &workers[0];
		told[i][1] = &workers[i];
		if (i && pthread_create(&thread, NULL, work, told[i]))
			return 4;
	}
	work(told[0]);
	return 0;
}
