/*
 * STAND-IN, for tests only.  A program that treats the stand-in runtimes badly while it is traced,
 * and says whether it took harm:
 *
 *   storm N     N threads launch kernels until the next line; "did N"
 *   leaps N     N calls are left by longjmp out of a signal handler, wherever they are
 *   cancels N   N threads are cancelled in the midst of their calls, wherever they are
 *   forks N     N children are forked while other threads launch, and make calls
 *   imports N   a forked child opens a library and asks for a function of it, N times; "took MS"
 *   locked N    the same in this process, under a lock of the loader's; "took MS"
 *   names       kernels with names that no compiler would give
 *   streams N   N streams are made, used and given back
 *   graphs N    a stream has a kernel and a graph, N times
 *   beside N    a stream has N kernels after one that ends after another stream's graph
 *   child N     a forked child launches N kernels, and waits for each, 20 s at most
 *   waits       a thread waits for "endless" in a call, until "release"
 *   forbid N    a thread that may not read the machine's counter launches N kernels
 *   endless     a kernel that does not end before "release"
 *   queue N     N kernels behind it, which are not waited for
 *   drain       waits for them
 *   quit        ends, with calls in an exit handler and a destructor
 *
 * Every answer ends with "end".
 */
#define _GNU_SOURCE
#include "standin_hip.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 64
#define ERRNO       4711
#define LONG_NAME   100000
#define LEAP_NS     300000
#define STORM_US    5000
#define CHILD_S     20

static const char plain, endless, odd[8];
static char long_name[LONG_NAME + 1];
static bool is_over;
static uint64_t launched;

static void check(bool is_right, const char *what)
{
	if (is_right)
		return;
	printf("wrong %s\n", what);
	fflush(stdout);
	_exit(1);
}

static void done(void)
{
	printf("end\n");
	fflush(stdout);
}

static void add_kernel(const void *function, const char *name)
{
	__hipRegisterFunction(NULL, function, NULL, name, 0, NULL, NULL, NULL, NULL, NULL);
}

static void add_kernels(void)
{
	static const char *const names[] = { "",
					     "quote \" comma , semicolon ; 'single'",
					     "line\nline\r\ttab",
					     "\x01\x02\x1b[31m\x7f",
					     "\xff\xfe\x80\xc0\xaf",
					     "</script><b>&amp; %s %n ${HOME} $(id)",
					     "../../../etc/passwd\\..\\x" };

	memset(long_name, 'k', LONG_NAME);
	add_kernel(&plain, "plain_kernel");
	add_kernel(&endless, "endless");
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		add_kernel(&odd[i], names[i]);
	add_kernel(&odd[7], long_name);
}

static void launch(const void *function, void *stream)
{
	struct dim3 one = { 1, 1, 1 };

	errno = ERRNO;
	check(!hipLaunchKernel(function, one, one, NULL, 0, stream), "hipLaunchKernel");
	check(errno == ERRNO, "errno");
	__atomic_fetch_add(&launched, 1, __ATOMIC_RELAXED);
}

static void count_devices(void)
{
	int count = 0;

	errno = ERRNO;
	check(!hipGetDeviceCount(&count) && count == 2 && errno == ERRNO, "hipGetDeviceCount");
}

static void *storm_on(void *argument)
{
	void *stream = NULL;

	if ((uintptr_t)argument % 2)
		check(!hipStreamCreate(&stream), "hipStreamCreate");
	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
		for (unsigned i = 0; i < 16; i++)
			launch(&plain, stream);
		check(!hipStreamSynchronize(stream), "hipStreamSynchronize");
		usleep(STORM_US); /* the tracer's side needs a processor too */
	}
	if (stream)
		check(!hipStreamDestroy(stream), "hipStreamDestroy");
	return NULL;
}

static unsigned start_threads(pthread_t *threads, unsigned count, void *(*run)(void *))
{
	is_over = false;
	for (uintptr_t i = 0; i < count; i++)
		check(!pthread_create(&threads[i], NULL, run, (void *)i), "pthread_create");
	return count;
}

static void end_threads(const pthread_t *threads, unsigned count)
{
	__atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

static void storm(unsigned count)
{
	pthread_t threads[THREADS_MAX];
	char line[16];

	launched = 0;
	count = start_threads(threads, count < THREADS_MAX ? count : THREADS_MAX, storm_on);
	printf("storming\n");
	fflush(stdout);
	check(fgets(line, sizeof(line), stdin) != NULL, "stop");
	end_threads(threads, count);
	printf("did %lu\n", launched);
	done();
}

static sigjmp_buf out;
static volatile sig_atomic_t may_leap;

static void leap(int number)
{
	(void)number;
	count_devices();
	if (may_leap)
		siglongjmp(out, 1);
}

/* To this thread only: one of the runtime's would jump onto our stack, where we are already. */
static timer_t begin_alarms(void)
{
	struct sigaction action = { .sa_handler = leap };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM };
	struct timespec period = { 0, LEAP_NS };
	struct itimerspec often = { period, period };
	timer_t timer = NULL;

	event._sigev_un._tid = gettid();
	sigaction(SIGALRM, &action, NULL);
	check(!timer_create(CLOCK_MONOTONIC, &event, &timer), "timer_create");
	check(!timer_settime(timer, 0, &often, NULL), "timer_settime");
	return timer;
}

/* The calls that are left hold nothing of their own: they only look at a number. */
static void leaps(unsigned count)
{
	timer_t timer = begin_alarms();
	volatile unsigned left = count;

	if (sigsetjmp(out, 1) && left)
		left--;
	may_leap = left > 0;
	while (left)
		count_devices();
	timer_delete(timer);
	count_devices();
	done();
}

static void *call_until_cancelled(void *argument)
{
	int old;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
	__atomic_store_n((bool *)argument, true, __ATOMIC_RELEASE);
	for (;;)
		count_devices();
	return NULL;
}

static void cancels(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		bool is_there = false;
		void *result = NULL;
		pthread_t thread;

		check(!pthread_create(&thread, NULL, call_until_cancelled, &is_there),
		      "pthread_create");
		while (!__atomic_load_n(&is_there, __ATOMIC_ACQUIRE))
			usleep(50);
		usleep(100 + i % 50);
		pthread_cancel(thread);
		pthread_join(thread, &result);
		check(result == PTHREAD_CANCELED, "cancelled");
	}
	done();
}

static void forks(unsigned count)
{
	pthread_t threads[4];

	start_threads(threads, 4, storm_on);
	for (unsigned i = 0; i < count; i++) {
		pid_t child = fork();
		int status = -1;

		if (!child) {
			for (unsigned j = 0; j < 100; j++)
				count_devices();
			_exit(0);
		}
		check(waitpid(child, &status, 0) == child && !status, "child");
	}
	end_threads(threads, 4);
	done();
}

static void import(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		void *library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);

		check(library && dlsym(library, "getpid") && !dlclose(library), "import");
	}
}

static int import_once(struct dl_phdr_info *info, size_t size, void *count)
{
	(void)info;
	(void)size;
	import(*(unsigned *)count);
	return 1;
}

static void import_locked(unsigned count)
{
	dl_iterate_phdr(import_once, &count);
}

static void import_in_child(unsigned count)
{
	pid_t child = fork();
	int status = -1;

	if (!child) {
		import(count);
		_exit(0);
	}
	check(waitpid(child, &status, 0) == child && !status, "child");
}

static void time_it(void (*work)(unsigned), unsigned count)
{
	struct timespec begin, end;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	work(count);
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("took %ld\n",
	       (end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000);
	done();
}

static void names(void)
{
	for (unsigned i = 0; i < sizeof(odd); i++)
		launch(&odd[i], NULL);
	check(!hipStreamSynchronize(NULL), "hipStreamSynchronize");
	done();
}

static void streams(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		void *stream;

		check(!hipStreamCreate(&stream), "hipStreamCreate");
		launch(&plain, stream);
		check(!hipStreamDestroy(stream), "hipStreamDestroy");
	}
	done();
}

static void *launch_without_counter(void *count)
{
	check(!prctl(PR_SET_TSC, PR_TSC_SIGSEGV), "prctl");
	for (unsigned i = 0; i < *(unsigned *)count; i++)
		launch(&plain, NULL);
	check(!hipStreamSynchronize(NULL), "hipStreamSynchronize");
	count_devices();
	return NULL;
}

/* The queue is there before: the device's thread may read it. */
static void forbid(unsigned count)
{
	pthread_t thread;

	launch(&plain, NULL);
	check(!hipStreamSynchronize(NULL), "hipStreamSynchronize");
	check(!pthread_create(&thread, NULL, launch_without_counter, &count), "pthread_create");
	pthread_join(thread, NULL);
	done();
}

/* Graphs among kernels of a stream. */
static void graphs(unsigned count)
{
	static char name[] = "in_a_graph";
	void *stream;

	check(!hipStreamCreate(&stream), "hipStreamCreate");
	for (unsigned i = 0; i < count; i++) {
		launch(&plain, stream);
		check(!hipGraphLaunch(name, stream), "hipGraphLaunch");
		check(!hipStreamSynchronize(stream), "hipStreamSynchronize");
	}
	check(!hipStreamDestroy(stream), "hipStreamDestroy");
	done();
}

/* The graphs' kernels end before that of the stream: their reports come when it has the only
 * question. */
static void graphs_beside(unsigned count)
{
	static char name[] = "in_a_graph";
	void *stream, *other;

	check(!hipStreamCreate(&stream) && !hipStreamCreate(&other), "hipStreamCreate");
	launch(&endless, stream);
	check(!hipGraphLaunch(name, other), "hipGraphLaunch");
	check(!hipStreamSynchronize(other), "hipStreamSynchronize");
	standin_hip_release();
	for (unsigned i = 0; i < count; i++) {
		check(!hipStreamSynchronize(stream), "hipStreamSynchronize");
		launch(&plain, stream);
	}
	check(!hipStreamSynchronize(stream), "hipStreamSynchronize");
	check(!hipStreamDestroy(stream) && !hipStreamDestroy(other), "hipStreamDestroy");
	done();
}

static void launch_in_child(unsigned count)
{
	pid_t child = fork();
	int status = -1;

	if (!child) {
		void *stream;

		alarm(CHILD_S);
		check(!hipStreamCreate(&stream), "hipStreamCreate");
		for (unsigned i = 0; i < count; i++) {
			launch(&plain, stream);
			check(!hipStreamSynchronize(stream), "hipStreamSynchronize");
		}
		_exit(0);
	}
	check(waitpid(child, &status, 0) == child && !status, "child");
	done();
}

static pthread_t waiting;

static void *wait_in_call(void *argument)
{
	check(!hipStreamSynchronize(NULL), "hipStreamSynchronize");
	return argument;
}

static void begin_waiting(void)
{
	launch(&endless, NULL);
	check(!pthread_create(&waiting, NULL, wait_in_call, NULL), "pthread_create");
	usleep(100000); /* until it is in the call */
	done();
}

static void release(void)
{
	standin_hip_release();
	if (waiting)
		pthread_join(waiting, NULL);
	waiting = 0;
	done();
}

static void call_at_exit(void)
{
	count_devices();
	launch(&plain, NULL);
	check(!hipStreamSynchronize(NULL), "hipStreamSynchronize");
}

__attribute__((destructor)) static void call_after_that(void)
{
	if (launched)
		count_devices();
}

static void queue(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		launch(&plain, NULL);
	done();
}

static bool obey(const char *word, unsigned number)
{
	if (!strcmp(word, "storm"))
		storm(number);
	else if (!strcmp(word, "leaps"))
		leaps(number);
	else if (!strcmp(word, "cancels"))
		cancels(number);
	else if (!strcmp(word, "forks"))
		forks(number);
	else if (!strcmp(word, "imports"))
		time_it(import_in_child, number);
	else if (!strcmp(word, "locked"))
		time_it(import_locked, number);
	else if (!strcmp(word, "names"))
		names();
	else if (!strcmp(word, "streams"))
		streams(number);
	else if (!strcmp(word, "graphs"))
		graphs(number);
	else if (!strcmp(word, "beside"))
		graphs_beside(number);
	else if (!strcmp(word, "child"))
		launch_in_child(number);
	else if (!strcmp(word, "waits"))
		begin_waiting();
	else if (!strcmp(word, "forbid"))
		forbid(number);
	else if (!strcmp(word, "endless"))
		launch(&endless, NULL), done();
	else if (!strcmp(word, "queue"))
		queue(number);
	else if (!strcmp(word, "drain"))
		check(!hipStreamSynchronize(NULL), "hipStreamSynchronize"), done();
	else if (!strcmp(word, "release"))
		release();
	else
		done(); /* whoever asks anything else learns that the program answers */
	return strcmp(word, "quit") != 0;
}

int main(void)
{
	char line[64], word[16];
	unsigned number;
	bool goes_on = true;

	add_kernels();
	atexit(call_at_exit);
	count_devices();
	printf("ready %d\n", getpid());
	fflush(stdout);
	while (goes_on && fgets(line, sizeof(line), stdin)) {
		number = 0;
		if (sscanf(line, "%15s %u", word, &number) >= 1)
			goes_on = obey(word, number);
	}
	return 0;
}
