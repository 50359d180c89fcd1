/*
 * Creates threads while a tool is configured or attached, and ends them, on the runner's thread.
 */
#include "target/amd/sinks/sdk/base/delivery.h"

#include "shared/arch/syscall.h"
#include "target/amd/sinks/sdk/base/contexts.h"
#include "target/amd/sinks/sdk/base/status.h"
#include "target/amd/tables/threads.h"
#include "target/runtime/arena.h"
#include "target/runtime/broadcast.h"
#include "target/runtime/page.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#define STACK_SIZE   0x800000u
#define GUARD_SIZE   0x10000u
#define GLANCE_NS    500000000
#define END_PAUSE_NS 1000000
#define END_PAUSES   2000u
#define LIBC_SIGNALS (3ull << 31) /* signals 32 and 33 */

typedef int create_function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef int attr_function(pthread_attr_t *);
typedef int setstack_function(pthread_attr_t *, void *, size_t);
typedef int join_function(pthread_t, void **);

static struct delivery_thread {
	uint32_t is_used;
	int32_t tool;
	bool is_first;  /* the tool's first thread */
	int32_t tid;    /* 0: the thread does not run */
	uint32_t wakes; /* a futex */
	uint32_t must_end;
	pthread_t thread;
	void *stack;
} threads[DELIVERY_THREADS_MAX];

static struct boot_libc libc;
static struct delivery_work work;

void delivery_learn(const struct boot_libc *functions)
{
	libc = *functions;
}

const struct boot_libc *delivery_libc(void)
{
	return libc.pthread_create ? &libc : NULL;
}

void delivery_prepare(const struct delivery_work *used)
{
	work = *used;
}

static void results_deliver(struct delivery_thread *self)
{
	unsigned index = (unsigned)(self - threads);
	struct timespec glance = { 0, GLANCE_NS };

	arena_share(&libc);
	broadcast_avoid(&libc);
	raw2(SYS_prctl, PR_SET_NAME, DELIVERY_THREAD_NAME);
	__atomic_store_n(&self->tid, (int32_t)raw0(SYS_gettid), __ATOMIC_RELEASE);
	for (;;) {
		uint32_t wakes = __atomic_load_n(&self->wakes, __ATOMIC_SEQ_CST);
		bool is_last = __atomic_load_n(&self->must_end, __ATOMIC_SEQ_CST);

		glance.tv_nsec = (long)work.results(self->tool, index);
		if (!glance.tv_nsec)
			glance.tv_nsec = GLANCE_NS;
		work.buffers(index);
		if (is_last)
			return;
		if (!work.buffers_wait(index))
			raw4(SYS_futex, &self->wakes, FUTEX_WAIT_PRIVATE, wakes, &glance);
	}
}

static void *thread_deliver(void *self)
{
	results_deliver(self);
	arena_part(&libc);
	return NULL;
}

static void *map_stack(void)
{
	long r = raw6(SYS_mmap, 0, STACK_SIZE + GUARD_SIZE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

	if (r < 0 && r > -4096)
		return NULL;
	raw3(SYS_mprotect, r, GUARD_SIZE, PROT_NONE);
	return (void *)r;
}

/* Blocks all signals but libc's, so that no handler of the application runs on the thread. */
static int thread_create(struct delivery_thread *self)
{
	pthread_attr_t attributes;
	uint64_t mask = ~LIBC_SIGNALS, old = 0;
	int r;

	((attr_function *)libc.pthread_attr_init)(&attributes);
	((setstack_function *)libc.pthread_attr_setstack)(
		&attributes, (char *)self->stack + GUARD_SIZE, STACK_SIZE);
	raw4(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &mask, &old, sizeof(mask));
	r = ((create_function *)libc.pthread_create)(&self->thread, &attributes, thread_deliver,
						     self);
	if (!r)
		broadcast_spare(&libc, self->thread);
	raw4(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &old, 0, sizeof(old));
	return r;
}

static void pause_for(long ns)
{
	struct timespec pause = { 0, ns };

	raw2(SYS_nanosleep, &pause, 0);
}

static bool thread_start(struct delivery_thread *self)
{
	self->stack = libc.pthread_create ? map_stack() : NULL;
	if (!self->stack)
		return false;
	self->must_end = 0;
	work.notify(false);
	if (thread_create(self)) {
		raw2(SYS_munmap, self->stack, STACK_SIZE + GUARD_SIZE);
		self->stack = NULL;
		return false;
	}
	/* Waits however long the thread needs to be scheduled: a thread cannot be ended before its
	 * tid is known, and the library could be unmapped while the thread runs in it. */
	while (!__atomic_load_n(&self->tid, __ATOMIC_ACQUIRE))
		pause_for(END_PAUSE_NS / 10);
	work.notify(true);
	return true;
}

static int thread_make(int tool, bool is_first)
{
	for (unsigned i = 0; i < DELIVERY_THREADS_MAX; i++) {
		struct delivery_thread *self = &threads[i];

		/* A thread that did not end in time keeps its entry until it has. */
		if (self->is_used || self->tid)
			continue;
		self->tool = tool;
		self->is_first = is_first;
		self->is_used = thread_start(self);
		return self->is_used ? (int)i : -1;
	}
	return -1;
}

static int first_of(int tool)
{
	for (unsigned i = 0; i < DELIVERY_THREADS_MAX; i++)
		if (threads[i].is_used && threads[i].tool == tool && threads[i].is_first)
			return (int)i;
	return -1;
}

int delivery_begin(int tool)
{
	int found = first_of(tool);

	return found >= 0 ? found : thread_make(tool, true);
}

int delivery_find(int tool, struct sdk_handle id)
{
	if (!id.handle)
		return first_of(tool);
	if (id.handle > DELIVERY_THREADS_MAX || !threads[id.handle - 1].is_used ||
	    threads[id.handle - 1].tool != tool)
		return -1;
	return (int)id.handle - 1;
}

bool delivery_has(unsigned thread)
{
	return __atomic_load_n(&threads[thread].tid, __ATOMIC_ACQUIRE) != 0;
}

bool delivery_is_me(unsigned thread)
{
	return __atomic_load_n(&threads[thread].tid, __ATOMIC_RELAXED) == call_thread_number();
}

bool delivery_is_mine(void)
{
	for (unsigned i = 0; i < DELIVERY_THREADS_MAX; i++)
		if (delivery_is_me(i))
			return true;
	return false;
}

void delivery_wake(unsigned thread)
{
	__atomic_add_fetch(&threads[thread].wakes, 1, __ATOMIC_SEQ_CST);
	raw3(SYS_futex, &threads[thread].wakes, FUTEX_WAKE_PRIVATE, 1);
}

static bool is_gone(const struct delivery_thread *self)
{
	return raw3(SYS_tgkill, raw0(SYS_getpid), self->tid, 0) == -ESRCH;
}

/* Joins only when the kernel does not know the tid any more: libc's join then returns at once. */
static bool thread_end(struct delivery_thread *self)
{
	__atomic_store_n(&self->must_end, 1, __ATOMIC_SEQ_CST);
	delivery_wake((unsigned)(self - threads));
	for (unsigned i = 0; i < END_PAUSES && !is_gone(self); i++)
		pause_for(END_PAUSE_NS);
	if (!is_gone(self))
		return false;
	((join_function *)libc.pthread_join)(self->thread, NULL);
	raw2(SYS_munmap, self->stack, STACK_SIZE + GUARD_SIZE);
	self->stack = NULL;
	__atomic_store_n(&self->tid, 0, __ATOMIC_RELEASE);
	return true;
}

unsigned delivery_stop(int tool)
{
	unsigned left = 0;

	for (unsigned i = 0; i < DELIVERY_THREADS_MAX; i++)
		if (threads[i].tid && threads[i].tool == tool && !delivery_is_me(i))
			left += !thread_end(&threads[i]);
	return left;
}

void delivery_restart(int tool)
{
	for (unsigned i = 0; i < DELIVERY_THREADS_MAX; i++)
		if (threads[i].is_used && threads[i].tool == tool && !threads[i].tid)
			(void)thread_start(&threads[i]);
}

void delivery_forget(int tool)
{
	for (unsigned i = 0; i < DELIVERY_THREADS_MAX; i++)
		if (threads[i].tool == tool)
			threads[i].is_used = 0;
}

unsigned delivery_threads(void)
{
	unsigned count = 0;

	for (unsigned i = 0; i < DELIVERY_THREADS_MAX; i++)
		count += delivery_has(i);
	return count;
}

void delivery_adopt(void)
{
	for (unsigned i = 0; i < DELIVERY_THREADS_MAX; i++)
		threads[i].tid = 0;
}

SDK_EXPORT int rocprofiler_create_callback_thread(struct sdk_handle *ret);

int rocprofiler_create_callback_thread(struct sdk_handle *ret)
{
	int tool = contexts_configuring(), index;

	if (!ret)
		return SDK_INVALID_ARGUMENT;
	if (tool < 0)
		return SDK_CONFIGURATION_LOCKED;
	index = delivery_begin(tool) < 0 ? -1 : thread_make(tool, false);
	if (index < 0)
		return SDK_ERROR;
	ret->handle = (uint64_t)index + 1;
	return SDK_SUCCESS;
}
