/*
 * Programs in which a careless hook kills: each does what is allowed, and few do.
 */
#define _GNU_SOURCE
#include "../programs/filter.h"
#include "../programs/workload.h"
#include "addresses.h"
#include "strangers.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

/* A library with functions that are called like libc's. */
static void run_strangers(const void *unused)
{
	long expected = strangers_meet();

	(void)unused;
	workload_ready();
	for (;;) {
		if (strangers_meet() != expected)
			workload_corrupt("a result differs");
		sleep_ns(NS_PER_MS);
		workload_turn();
	}
}

static int pipe_ends[2];
static _Atomic unsigned long moved;

/* Through the pipe and back, for ever; computes in between, so that it makes few calls. */
static void move_bytes(void)
{
	char byte = 1;

	for (;;) {
		for (volatile unsigned i = 0; i < 100000; i++)
			;
		if (write(pipe_ends[1], &byte, 1) == 1 && read(pipe_ends[0], &byte, 1) == 1)
			moved++;
	}
}

/* Any other call than these two ends the process. */
static void *confine(void *unused)
{
	static const struct rule list[] = { { SYS_read, ACTION_ALLOW },
					    { SYS_write, ACTION_ALLOW },
					    END };

	filter_install(&(struct rules){ ACTION_KILL, list });
	move_bytes();
	return unused;
}

/* The same by older means, which take the counter of ticks away, too. */
static void *confine_strictly(void *unused)
{
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) < 0)
		workload_skip("seccomp");
	move_bytes();
	return unused;
}

static _Atomic bool is_to_surrender;

static void on_surrender(int signal)
{
	(void)signal;
	is_to_surrender = true;
}

/* The same, but only when it is told to. */
static void *confine_later(void *unused)
{
	char byte = 1;

	while (!is_to_surrender)
		if (write(pipe_ends[1], &byte, 1) != 1 || read(pipe_ends[0], &byte, 1) != 1)
			workload_fail("the pipe is gone");
	stats->signals_received = 1;
	return confine_strictly(unused);
}

/* One thread is confined, the others are not. */
static void run_confined(const void *confinement)
{
	if (pipe(pipe_ends))
		workload_skip("pipe");
	thread_start(confinement, NULL, 0);
	while (!moved)
		sleep_ns(NS_PER_MS);
	workload_ready();
	workload_idle();
}

/* The others mostly wait for a child that borrows their memory: nobody can stop them then. */
static void run_confined_parent(const void *unused)
{
	int status;

	(void)unused;
	if (pipe(pipe_ends))
		workload_skip("pipe");
	thread_start(confine, NULL, 0);
	workload_ready();
	for (;; sleep_ns(20 * NS_PER_MS)) {
		pid_t child = vfork();

		if (!child) {
			sleep_ns(200 * NS_PER_MS);
			_exit(0);
		}
		if (child < 0 || waitpid(child, &status, 0) != child || status)
			workload_fail("vfork");
		workload_turn();
	}
}

/* Turns are what the confined thread has moved. */
static void run_surrender(const void *unused)
{
	(void)unused;
	if (pipe(pipe_ends))
		workload_skip("pipe");
	signal(SIGUSR1, on_surrender);
	thread_start(confine_later, NULL, 0);
	workload_ready();
	for (unsigned long seen = 0;; sleep_ns(NS_PER_MS)) {
		if (moved != seen)
			workload_turn();
		seen = moved;
	}
}

static int count_module(struct dl_phdr_info *info, size_t size, void *count)
{
	(void)info;
	(void)size;
	++*(unsigned *)count;
	return 0;
}

/* Its children need the loader, as any does that throws or loads something. */
static void run_forks(const void *unused)
{
	unsigned count = 0;
	int status;

	(void)unused;
	workload_ready();
	for (;;) {
		pid_t child = fork();

		if (!child) {
			alarm(60);
			dl_iterate_phdr(count_module, &count);
			_exit(0);
		}
		if (waitpid(child, &status, 0) != child || status)
			workload_fail("a child did not end");
		workload_turn();
	}
}

#define STACK_PAGES 8

static ucontext_t outside, near_top;

/* Where the compiler makes this a jump, the callee stands at the very end of the stack. */
static void call_near_top(void)
{
	strangers_count(1);
}

static void *make_stack(size_t page)
{
	char *stack = mmap(NULL, (STACK_PAGES + 1) * page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (stack == MAP_FAILED || mprotect(stack + STACK_PAGES * page, page, PROT_NONE))
		workload_skip("mmap");
	return stack;
}

/* A coroutine whose stack ends where memory ends, and begins anew each time. */
static void run_top(const void *unused)
{
	size_t page = (size_t)getpagesize();
	void *stack = make_stack(page);

	(void)unused;
	workload_ready();
	for (long turn = 1;; turn++) {
		getcontext(&near_top);
		near_top.uc_stack.ss_sp = stack;
		near_top.uc_stack.ss_size = STACK_PAGES * page;
		near_top.uc_link = &outside;
		makecontext(&near_top, call_near_top, 0);
		swapcontext(&outside, &near_top);
		if (strangers_count(0) != turn)
			workload_corrupt("calls were lost");
		sleep_ns(NS_PER_MS);
		workload_turn();
	}
}

/* With as much on the stack as can be handed on, at every place in a page. */
static __attribute__((noinline)) void sweep(void)
{
	for (size_t depth = 16; depth <= 8192; depth += 16) {
		volatile char *deeper = __builtin_alloca(depth);

		deeper[0] = 1;
		if (strangers_weigh(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18,
				    19, 20) != 2870)
			workload_corrupt("an argument was lost");
	}
}

static void run_sweep(const void *unused)
{
	(void)unused;
	workload_ready();
	for (;;) {
		sweep();
		sleep_ns(NS_PER_MS);
		workload_turn();
	}
}

#define HALF_BYTES 0x40000

static void call_from_handler(int number)
{
	int saved = errno;

	(void)number;
	if (open("/nonexistent/from/a/handler", O_RDONLY) >= 0)
		workload_corrupt("open");
	errno = saved;
	stats->signals_received++;
}

static void *call_for_ever(void *upper_half)
{
	stack_t other = { .ss_sp = upper_half, .ss_size = HALF_BYTES };

	if (sigaltstack(&other, NULL))
		workload_skip("sigaltstack");
	for (;;)
		if (open("/nonexistent", O_RDONLY) >= 0)
			workload_corrupt("open");
	return NULL;
}

/* The handler's stack lies above that of the thread which it interrupts. */
static void run_altstack(const void *unused)
{
	struct sigaction action = { .sa_handler = call_from_handler,
				    .sa_flags = SA_RESTART | SA_ONSTACK };
	char *halves = mmap(NULL, 2 * HALF_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attributes;
	pthread_t thread;

	(void)unused;
	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, halves, HALF_BYTES);
	if (sigaction(SIGUSR1, &action, NULL) ||
	    pthread_create(&thread, &attributes, call_for_ever, halves + HALF_BYTES))
		workload_skip("pthread_create");
	workload_ready();
	for (;;) {
		for (unsigned i = 0; i < 100; i++) {
			pthread_kill(thread, SIGUSR1);
			sched_yield();
		}
		workload_turn();
	}
}

#define CONSTANTS 4096

/* Addresses, so that the loader must write them: several pages that are read-only then. */
static struct workload_stats **const constants[CONSTANTS] = { [0] = &stats,
							      [CONSTANTS / 2] = &stats,
							      [CONSTANTS - 1] = &stats };

/* Has made one of the pages writable that the loader left read-only, and uses it. */
static void run_reopened(const void *unused)
{
	size_t page = (size_t)getpagesize();
	volatile uint64_t *word = (volatile uint64_t *)(uintptr_t)&constants[CONSTANTS / 2];

	(void)unused;
	if (mprotect((void *)((uintptr_t)word & ~(page - 1)), page, PROT_READ | PROT_WRITE))
		workload_skip("mprotect");
	workload_ready();
	for (;;) {
		(*word)++;
		close(-1);
		sleep_ns(NS_PER_MS / 10);
		workload_turn();
	}
}

static void *load(const char *name, int flags)
{
	char path[PATH_MAX] = "";
	void *handle;

	if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		workload_skip("readlink");
	snprintf(strrchr(path, '/') + 1, NAME_MAX, "%s", name);
	handle = dlopen(path, flags);
	if (!handle)
		workload_skip(dlerror());
	return handle;
}

static volatile sig_atomic_t is_told;

static void note_signal(int number)
{
	(void)number;
	is_told = 1;
}

/* A plugin that is to see its own libraries first, bound at its first call. */
static void run_deepbind(const void *unused)
{
	int (*number)(void);

	(void)unused;
	signal(SIGUSR1, note_signal);
	load("libtwin_first.so", RTLD_NOW | RTLD_GLOBAL);
	number = (int (*)(void))dlsym(load("twin_plugin.so", RTLD_LAZY | RTLD_DEEPBIND),
				      "plugin_number");
	workload_ready();
	for (;;) {
		if (is_told && number() != 2)
			workload_corrupt("the wrong twin was called");
		if (is_told)
			stats->signals_received++;
		sleep_ns(NS_PER_MS);
		workload_turn();
	}
}

static void *sleep_for_ever(void *unused)
{
	for (;;)
		sleep_ns(NS_PER_MS);
	return unused;
}

/* A child that libc knows nothing of: there its first thread has its parent's number. */
static void run_cloned(const void *unused)
{
	long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	(void)unused;
	if (child) {
		waitpid((pid_t)child, NULL, 0);
		_exit(0);
	}
	stats->pid = (uint64_t)syscall(SYS_getpid);
	thread_start(sleep_for_ever, NULL, 0);
	workload_ready();
	for (;;) {
		close(-1);
		sleep_ns(NS_PER_MS);
		workload_turn();
	}
}

/* A plugin that uses data of a library's which lies among its code. */
static void run_constants(const void *unused)
{
	uint32_t (*sum)(void);

	(void)unused;
	load("libconstants.so", RTLD_NOW | RTLD_GLOBAL);
	sum = (uint32_t(*)(void))dlsym(load("constants_plugin.so", RTLD_NOW), "plugin_sum");
	workload_ready();
	for (;;) {
		if (sum() != (0x12345678 ^ 0x9abcdef0 ^ 1))
			workload_corrupt("a constant has changed");
		sleep_ns(NS_PER_MS);
		workload_turn();
	}
}

#define HOARD_FAST 100000

/* The compiler would see that nobody wants it. */
static void *volatile hoarded;

/* Takes memory and never gives it back: much at first, then little. */
static void run_hoard(const void *unused)
{
	(void)unused;
	signal(SIGUSR1, note_signal);
	workload_ready();
	for (;;) {
		unsigned more = !is_told ? 0 : stats->signals_received < HOARD_FAST ? 2000 : 10;

		for (unsigned i = 0; i < more; i++)
			hoarded = malloc(24);
		stats->signals_received += more; /* what it has, so far */
		sleep_ns(NS_PER_MS);
		workload_turn();
	}
}

/* A lock that nobody else wants. */
static void run_mutexes(const void *unused)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

	(void)unused;
	workload_ready();
	for (;;) {
		for (unsigned i = 0; i < 100; i++) {
			pthread_mutex_lock(&mutex);
			pthread_mutex_unlock(&mutex);
		}
		sleep_ns(NS_PER_MS);
		workload_turn();
	}
}

/* A library that compares addresses of functions, among them some that it found before. */
static void run_addresses(const void *library)
{
	void *handle = load(library, RTLD_LAZY);
	addresses_function *meet = (addresses_function *)dlsym(handle, "addresses_meet");
	addresses_function *const *table = dlsym(handle, "addresses_table");
	addresses_free *(*of_free)(void) =
		(addresses_free * (*)(void)) dlsym(handle, "addresses_of_free");
	addresses_function *own = table[0];
	addresses_free *theirs = of_free();

	(void)meet(1);
	workload_ready();
	for (;;) {
		for (long i = 0; i < 10; i++)
			if (meet(i) != i + 2)
				workload_corrupt("a result differs");
		if (table[0] != own || own != (addresses_function *)dlsym(handle, "addresses_own"))
			workload_corrupt("a function has another address");
		if (of_free() != theirs || theirs != free)
			workload_corrupt("free has another address");
		sleep_ns(NS_PER_MS);
		workload_turn();
	}
}

#define POOL_THREADS 8

/* Takes memory and a lock, as servers do, and waits for more to do. */
static void serve_once(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	void *taken[32];

	for (unsigned i = 0; i < 32; i++)
		hoarded = taken[i] = malloc(16 + i);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	for (unsigned i = 0; i < 32; i++)
		free(taken[i]);
	close(open("/dev/null", O_RDONLY | O_CLOEXEC));
	sleep_ns(NS_PER_MS);
}

static void *serve(void *unused)
{
	for (;;)
		serve_once();
	return unused;
}

static void run_pool(const void *unused)
{
	pthread_t thread;

	(void)unused;
	for (unsigned i = 0; i < POOL_THREADS; i++)
		if (pthread_create(&thread, NULL, serve, NULL))
			workload_skip("threads");
	workload_ready();
	for (;;) {
		serve_once();
		workload_turn();
	}
}

#define COROUTINE_BYTES 65536

static ucontext_t main_context, coroutine_context;

/* Leaves a traced call in the middle, for as long as the other one likes. */
static int yield_and_compare(const void *left, const void *right)
{
	stats->signals_received = 1;
	swapcontext(&coroutine_context, &main_context);
	return *(const int *)left - *(const int *)right;
}

static void run_coroutine(void)
{
	int numbers[2] = { 2, 1 };

	qsort(numbers, 2, sizeof(numbers[0]), yield_and_compare);
	if (numbers[0] != 1)
		workload_corrupt("it is not sorted");
	stats->signals_received = 2;
}

static void turn_for_ever(void)
{
	signal(SIGUSR1, note_signal);
	workload_ready();
	for (;;) {
		if (is_told && stats->signals_received < 2) {
			is_told = false;
			swapcontext(&main_context, &coroutine_context);
		}
		sleep_ns(NS_PER_MS);
		workload_turn();
	}
}

/* Memory for two coroutines, behind something that looks like the guard of a thread's stack. */
static char *map_behind_guard(void)
{
	char *memory =
		mmap(NULL, 3 * COROUTINE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED ||
	    mprotect(memory + COROUTINE_BYTES, 2 * COROUTINE_BYTES, PROT_READ | PROT_WRITE))
		workload_skip("memory");
	return memory + COROUTINE_BYTES;
}

static void prepare_coroutine(ucontext_t *context, char *stack, void (*function)(void))
{
	getcontext(context);
	context->uc_stack.ss_sp = stack;
	context->uc_stack.ss_size = COROUTINE_BYTES;
	context->uc_link = &main_context;
	makecontext(context, function, 0);
}

/* A coroutine that is suspended inside a call, until it is told to go on. */
static void run_suspended(const void *unused)
{
	(void)unused;
	prepare_coroutine(&coroutine_context, map_behind_guard(), run_coroutine);
	turn_for_ever();
}

/* The thread itself runs a coroutine, whose stack lies above that of the suspended one. */
static void run_suspended_below(const void *unused)
{
	static ucontext_t upper, unused_context;
	char *memory = map_behind_guard();

	(void)unused;
	prepare_coroutine(&coroutine_context, memory, run_coroutine);
	prepare_coroutine(&upper, memory + COROUTINE_BYTES, turn_for_ever);
	swapcontext(&unused_context, &upper);
}

/* Leaves the traced call for a coroutine, or for a handler, with a stack further up. */
static int leave_and_compare(const void *left, const void *right)
{
	if (!stats->signals_received)
		swapcontext(&main_context, &coroutine_context);
	return *(const int *)left - *(const int *)right;
}

static int raise_and_compare(const void *left, const void *right)
{
	if (!stats->signals_received)
		raise(SIGUSR2);
	return *(const int *)left - *(const int *)right;
}

static void wait_until_told(void)
{
	is_told = false;
	for (stats->signals_received = 1; !is_told;) {
		sleep_ns(NS_PER_MS);
		workload_turn();
	}
	is_told = false;
}

static void wait_in_handler(int number)
{
	(void)number;
	wait_until_told();
}

static void wait_in_coroutine(void)
{
	wait_until_told();
	setcontext(&main_context);
}

static void sort_when_told(int (*compare)(const void *, const void *))
{
	int numbers[2] = { 2, 1 };

	signal(SIGUSR1, note_signal);
	workload_ready();
	for (;; workload_turn()) {
		sleep_ns(NS_PER_MS);
		if (!is_told)
			continue;
		is_told = false;
		qsort(numbers, 2, sizeof(numbers[0]), compare);
		if (numbers[0] != 1)
			workload_corrupt("it is not sorted");
		stats->signals_received = 2;
	}
}

/* The thread waits in a coroutine whose stack is an array of one of the thread's own functions; the
 * traced call that it has left is below. */
static void *sort_above_coroutine(void *unused)
{
	char stack[COROUTINE_BYTES];

	prepare_coroutine(&coroutine_context, stack, wait_in_coroutine);
	sort_when_told(leave_and_compare);
	return unused;
}

static void run_suspended_array(const void *unused)
{
	(void)unused;
	sort_above_coroutine(NULL);
}

static void run_suspended_array_thread(const void *unused)
{
	pthread_t thread;

	(void)unused;
	if (pthread_create(&thread, NULL, sort_above_coroutine, NULL))
		workload_skip("threads");
	pthread_join(thread, NULL);
}

/* The same with a signal handler in place of the coroutine. */
static void run_suspended_altstack(const void *unused)
{
	char stack[COROUTINE_BYTES];
	stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_handler = wait_in_handler, .sa_flags = SA_ONSTACK };

	(void)unused;
	if (sigaltstack(&other, NULL) || sigaction(SIGUSR2, &action, NULL))
		workload_skip("sigaltstack");
	sort_when_told(raise_and_compare);
}

static void *serve_and_end(void *unused)
{
	serve_once();
	return unused;
}

/* Threads that end, when it is told to: libc keeps their stacks, as they were left. */
static void run_ended(const void *unused)
{
	pthread_t threads[POOL_THREADS];

	(void)unused;
	signal(SIGUSR1, note_signal);
	workload_ready();
	for (;; workload_turn()) {
		sleep_ns(NS_PER_MS);
		if (!is_told)
			continue;
		is_told = false;
		for (unsigned i = 0; i < POOL_THREADS; i++)
			if (pthread_create(&threads[i], NULL, serve_and_end, NULL))
				workload_skip("threads");
		for (unsigned i = 0; i < POOL_THREADS; i++)
			pthread_join(threads[i], NULL);
		stats->signals_received++;
	}
}

const struct workload workloads[] = {
	{ "suspended", run_suspended, NULL },
	{ "suspended_below", run_suspended_below, NULL },
	{ "suspended_array", run_suspended_array, NULL },
	{ "suspended_array_thread", run_suspended_array_thread, NULL },
	{ "suspended_altstack", run_suspended_altstack, NULL },
	{ "ended", run_ended, NULL },
	{ "pool", run_pool, NULL },
	{ "addresses_lazy", run_addresses, "addresses_lazy.so" },
	{ "addresses_now", run_addresses, "addresses_now.so" },
	{ "addresses_noplt", run_addresses, "addresses_noplt.so" },
	{ "strangers", run_strangers, NULL },
	{ "confined", run_confined, confine },
	{ "confined_parent", run_confined_parent, NULL },
	{ "forks", run_forks, NULL },
	{ "top", run_top, NULL },
	{ "sweep", run_sweep, NULL },
	{ "altstack", run_altstack, NULL },
	{ "reopened", run_reopened, NULL },
	{ "deepbind", run_deepbind, NULL },
	{ "cloned", run_cloned, NULL },
	{ "constants", run_constants, NULL },
	{ "hoard", run_hoard, NULL },
	{ "mutexes", run_mutexes, NULL },
	{ "strict", run_confined, confine_strictly },
	{ "surrender", run_surrender, NULL },
	{ NULL, NULL, NULL },
};
