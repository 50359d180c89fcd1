/*
 * STAND-IN, for tests only.  A program that uses the stand-in runtimes when it is told to, and says
 * what it did, so that it can be compared with what a tracer saw.
 *
 *   tables          prints the addresses of the tables; initializes the runtimes
 *   go N            N rounds in each of three threads; prints "did NAME COUNT ..." lines and "end"
 *   well N          the same without launches that fail
 *   launch N        N kernels as fast as it can, the same; "took NS NS" by the clock, and busy
 *   newest N        N calls of a function that is newer than what is known of the table
 *   pace N          a kernel every N nanoseconds, for ever; "stop" ends it, the same
 */
#include "standin_hip.h"
#include "standin_hsa.h"
#include "standin_roctx.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define THREADS    3
#define BATCH      256
#define NS_PER_S   1000000000l
#define FAILED_FOR 98

/* Everything that is counted. */
#define COUNTED(name) DID_##name,
enum did {
#include "counted.def"
	DID_COUNT
};
#undef COUNTED
#define COUNTED(name) #name,
static const char *const names[] = {
#include "counted.def"
};
static uint64_t counts[DID_COUNT];

#define COUNT(name, more) __atomic_fetch_add(&counts[DID_##name], more, __ATOMIC_RELAXED)
/* Calls it, and says so. */
#define DO(name, ...) (COUNT(name, 1), name(__VA_ARGS__))

static const char kernel_functions[THREADS];
static const char default_function, unknown_function;
static char kernel_names[THREADS][32];
static int thread_numbers[THREADS];
static unsigned rounds;
static bool has_failures;

static void check(bool is_right, const char *what)
{
	if (is_right)
		return;
	printf("wrong %s\n", what);
	fflush(stdout);
	_exit(1);
}

static void begin(void)
{
	static bool is_begun;

	if (is_begun)
		return;
	is_begun = true;
	check(!hsa_init(), "hsa_init");
	for (unsigned i = 0; i < THREADS; i++) {
		snprintf(kernel_names[i], sizeof(kernel_names[i]), "kernel_%u(int*)", i);
		__hipRegisterFunction(NULL, &kernel_functions[i], NULL, kernel_names[i], 0, NULL,
				      NULL, NULL, NULL, NULL);
	}
	__hipRegisterFunction(NULL, &default_function, NULL, "default_kernel(float)", 0, NULL, NULL,
			      NULL, NULL, NULL);
	roctxGetThreadId(&(uint64_t){ 0 });
}

static void launch(const void *function, void *stream)
{
	struct dim3 grid = { 2, 3, 4 }, block = { 5, 6, 7 }, got_grid, got_block;
	size_t shared;
	void *got_stream;
	int r;

	DO(__hipPushCallConfiguration, grid, block, 77, stream);
	DO(__hipPopCallConfiguration, &got_grid, &got_block, &shared, &got_stream);
	check(got_stream == stream && shared == 77 && got_grid.z == 4 && got_block.z == 7,
	      "configuration");
	r = DO(hipLaunchKernel, function, got_grid, got_block, NULL, shared, got_stream);
	check(r == (function == &unknown_function ? FAILED_FOR : 0), "hipLaunchKernel");
	if (r)
		COUNT(failed_launches, 1);
	else
		COUNT(kernels, 1);
}

static void copy_there_and_back(void *memory, size_t size, uint8_t byte, void *stream)
{
	uint8_t *there = malloc(size), *back = calloc(1, size);

	check(there && back, "malloc");
	memset(there, byte, size);
	DO(hipMemcpyAsync, memory, there, size, 1, stream);
	if (has_failures)
		launch(&unknown_function, stream);
	launch(&kernel_functions[byte % THREADS], stream);
	DO(hipMemcpyAsync, back, memory, size, 2, stream);
	DO(hipStreamSynchronize, stream);
	check(!memcmp(there, back, size), "contents");
	COUNT(copies_to_device, 1);
	COUNT(copies_to_host, 1);
	COUNT(bytes_to_device, size);
	COUNT(bytes_to_host, size);
	free(there);
	free(back);
}

static void use_default_stream(void *memory, size_t size)
{
	uint64_t word = size;

	DO(hipMemcpy, memory, &word, sizeof(word), 1);
	COUNT(copies_to_device, 1);
	COUNT(bytes_to_device, sizeof(word));
	launch(&default_function, NULL);
	DO(hipStreamSynchronize, NULL);
}

static void one_round(unsigned index, void *stream, struct hsa_signal signal)
{
	size_t size = 1000 * (index + 1);
	void *memory;
	uint64_t id;

	DO(roctxRangePushA, "round");
	id = DO(roctxRangeStartA, "whole");
	check(!DO(hipMalloc, &memory, size), "hipMalloc");
	COUNT(bytes_allocated, size);
	DO(roctxMarkA, "allocated");
	DO(roctxRangePushA, "copies");
	copy_there_and_back(memory, size, (uint8_t)index, stream);
	DO(roctxRangePop);
	use_default_stream(memory, size);
	DO(hsa_signal_store_relaxed, signal, (int64_t)size);
	check(DO(hsa_signal_load_relaxed, signal) == (int64_t)size, "signal");
	DO(hipFree, memory);
	standin_hsa_scratch(index, size);
	COUNT(scratch, 2);
	DO(roctxRangeStop, id);
	DO(roctxRangePop);
}

static void *work(void *argument)
{
	unsigned index = (unsigned)(uintptr_t)argument;
	struct hsa_signal signal;
	void *stream;

	thread_numbers[index] = (int)syscall(SYS_gettid);
	check(!hsa_signal_create(0, 0, NULL, &signal), "hsa_signal_create");
	DO(hipSetDevice, (int)(index % 2));
	check(!DO(hipStreamCreate, &stream), "hipStreamCreate");
	for (unsigned i = 0; i < rounds; i++)
		one_round(index, stream, signal);
	DO(hipStreamDestroy, stream);
	return NULL;
}

static void print_counts(void)
{
	for (unsigned i = 0; i < THREADS; i++)
		if (thread_numbers[i])
			printf("thread %u %d\n", i, thread_numbers[i]);
	for (unsigned i = 0; i < DID_COUNT; i++)
		printf("did %s %lu\n", names[i], counts[i]);
	printf("end\n");
	fflush(stdout);
}

static void go(unsigned count, bool is_failing)
{
	pthread_t threads[THREADS];

	begin();
	memset(counts, 0, sizeof(counts));
	rounds = count;
	has_failures = is_failing;
	for (uintptr_t i = 0; i < THREADS; i++)
		check(!pthread_create(&threads[i], NULL, work, (void *)i), "pthread_create");
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	print_counts();
}

static long elapsed_ns(const struct timespec *start, clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (now.tv_sec - start->tv_sec) * NS_PER_S + now.tv_nsec - start->tv_nsec;
}

static void launch_many(uint64_t count)
{
	struct dim3 one = { 1, 1, 1 };
	struct timespec start, start_busy;

	begin();
	memset(counts, 0, sizeof(counts));
	clock_gettime(CLOCK_MONOTONIC, &start);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start_busy);
	for (uint64_t i = 0; i < count; i++) {
		DO(hipLaunchKernel, &default_function, one, one, NULL, 0, NULL);
		if (i % BATCH == BATCH - 1)
			DO(hipStreamSynchronize, NULL);
	}
	DO(hipStreamSynchronize, NULL);
	COUNT(kernels, count);
	printf("took %ld %ld\n", elapsed_ns(&start, CLOCK_MONOTONIC),
	       elapsed_ns(&start_busy, CLOCK_THREAD_CPUTIME_ID));
	print_counts();
}

static void call_newest(uint64_t count)
{
	begin();
	for (uint64_t i = 0; i < count; i++)
		standin_hip_newest();
	printf("end\n");
	fflush(stdout);
}

static bool is_over;

static void *launch_paced(void *argument)
{
	long pause_ns = (long)(uintptr_t)argument;
	struct dim3 one = { 1, 1, 1 };
	struct timespec next;

	clock_gettime(CLOCK_MONOTONIC, &next);
	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
		for (unsigned i = 0; i < BATCH; i++)
			DO(hipLaunchKernel, &default_function, one, one, NULL, 0, NULL);
		COUNT(kernels, BATCH);
		DO(hipStreamSynchronize, NULL);
		next.tv_nsec += pause_ns * BATCH;
		next.tv_sec += next.tv_nsec / NS_PER_S;
		next.tv_nsec %= NS_PER_S;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
	return NULL;
}

/* Until the next line comes. */
static void pace(uint64_t pause_ns)
{
	pthread_t thread;
	char line[64];

	begin();
	memset(counts, 0, sizeof(counts));
	is_over = false;
	check(!pthread_create(&thread, NULL, launch_paced, (void *)pause_ns), "pthread_create");
	check(fgets(line, sizeof(line), stdin) != NULL, "stop");
	__atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	print_counts();
}

static void print_tables(void)
{
	begin();
	standin_hsa_print();
	standin_hip_print();
	standin_roctx_print();
	printf("end\n");
	fflush(stdout);
}

/* As AMD's attacher has the program do. */
static void attach_amds(void)
{
	int (*attach)(const char *, const char *) = (int (*)(const char *, const char *))dlsym(
		RTLD_DEFAULT, "rocprofiler_register_attach");

	printf("attach %d\nend\n", attach ? attach(NULL, "a_tool.so") : -1);
	fflush(stdout);
}

int main(void)
{
	char line[64], word[16];
	uint64_t number;

	printf("ready %d\n", getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		number = 0;
		if (sscanf(line, "%15s %lu", word, &number) < 1)
			continue;
		if (!strcmp(word, "tables"))
			print_tables();
		else if (!strcmp(word, "go") || !strcmp(word, "well"))
			go((unsigned)number, !strcmp(word, "go"));
		else if (!strcmp(word, "launch"))
			launch_many(number);
		else if (!strcmp(word, "resume"))
			roctxProfilerResume(0);
		else if (!strcmp(word, "pause"))
			roctxProfilerPause(0);
		else if (!strcmp(word, "newest"))
			call_newest(number);
		else if (!strcmp(word, "pace"))
			pace(number);
		else if (!strcmp(word, "attach"))
			attach_amds();
	}
	return 0;
}
