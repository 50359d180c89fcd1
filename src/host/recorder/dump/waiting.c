/*
 * Reads /proc/PID/task/TID/syscall and resolves its arguments.  All of it may change meanwhile: it
 * is shown, never used.  Threads are read one after the other, so the edges of a circle need not
 * have existed at the same time: they did if no thread of the circle ran between two readings.
 */
#include "host/recorder/dump/waiting.h"

#include "host/core/cleanup.h"
#include "host/core/clock.h"
#include "host/process/memory.h"
#include "host/process/procfs.h"
#include "host/process/stat.h"
#include "host/process/status.h"
#include "host/syscalls/syscall_table.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <stdio.h>
#include <sys/syscall.h>

#define LOCK_PI2  13u /* since Linux 5.14 */
#define PAUSE_NS  30000000
#define NO_THREAD SIZE_MAX

static void describe_descriptor(pid_t pid, int descriptor, struct waiting *ret)
{
	char name[32], link[160];

	snprintf(name, sizeof(name), "fd/%d", descriptor);
	if (proc_read_link(pid, name, link, sizeof(link)) > 0)
		snprintf(ret->object, sizeof(ret->object), "%d: %s", descriptor, link);
	else
		snprintf(ret->object, sizeof(ret->object), "%d", descriptor);
}

/* Finds a thread by its number in its own pid namespace. */
static const struct thread *thread_of(pid_t pid, const struct threads *threads, pid_t number)
{
	bool is_inner = inner_number(pid, pid) != pid;

	for (size_t i = 0; i < threads->count; i++) {
		pid_t tid = threads->items[i].tid;

		if ((is_inner ? inner_number(pid, tid) : tid) == number)
			return &threads->items[i];
	}
	return NULL;
}

/* The head of a glibc mutex: the owner is beside the word that threads wait on. */
struct mutex_head {
	uint32_t lock, count;
	int32_t owner;
	uint32_t users;
	int32_t kind;
};

#define MUTEX_ROBUST 16
#define MUTEX_KINDS  1024 /* all flags are below */
#define MUTEX_WAITED 2    /* the value of a mutex with waiting threads */

static bool is_held(const struct mutex_head *mutex)
{
	if (mutex->owner <= 0 || !mutex->users || mutex->kind < 0 || mutex->kind >= MUTEX_KINDS)
		return false;
	return mutex->kind & MUTEX_ROBUST ? (mutex->lock & FUTEX_TID_MASK) == (uint32_t)mutex->owner
					  : mutex->lock == MUTEX_WAITED;
}

/* 0: it is no mutex, or not held. */
static pid_t owner_of(pid_t pid, uint64_t address, unsigned operation)
{
	CLEANUP(close) int memory = memory_open(pid);
	struct mutex_head mutex;

	if (!memory_read(memory, address, &mutex, sizeof(mutex)))
		return 0;
	if (operation == FUTEX_LOCK_PI || operation == LOCK_PI2)
		return (pid_t)(mutex.lock & FUTEX_TID_MASK);
	return is_held(&mutex) ? mutex.owner : 0;
}

static void describe_futex(pid_t pid, const uint64_t args[6], const struct threads *threads,
			   struct waiting *ret)
{
	unsigned operation = (unsigned)args[1] & FUTEX_CMD_MASK;
	bool is_wait = operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET ||
		       operation == FUTEX_LOCK_PI || operation == LOCK_PI2;
	pid_t owner = is_wait ? owner_of(pid, args[0], operation) : 0;
	const struct thread *holder = owner > 0 ? thread_of(pid, threads, owner) : NULL;

	ret->futex = args[0];
	if (!holder) {
		snprintf(ret->object, sizeof(ret->object), "0x%" PRIx64, args[0]);
		return;
	}
	snprintf(ret->object, sizeof(ret->object), "a lock at 0x%" PRIx64 ", held by %d (%s)",
		 args[0], holder->tid, holder->name);
	ret->lock = args[0];
	ret->holder = holder->tid;
	ret->has_limit = args[3];
}

uint64_t waiting_futex(pid_t pid, pid_t tid)
{
	struct blocked_call call;

	(void)thread_read_call(pid, tid, &call);
	return call.is_known && call.nr == SYS_futex ? call.args[0] : 0;
}

void waiting_read(pid_t pid, pid_t tid, const struct threads *threads, struct waiting *ret)
{
	struct blocked_call call;

	*ret = (struct waiting){ 0 };
	(void)thread_read_call(pid, tid, &call);
	if (!call.is_known)
		return;
	syscall_name((int32_t)call.nr, /* is_32_bit */ false, ret->call, sizeof(ret->call));
	if (call.nr == SYS_futex)
		describe_futex(pid, call.args, threads, ret);
	else if (syscall_shape((uint32_t)call.nr) & SYSCALL_DESCRIPTOR)
		describe_descriptor(pid, (int)call.args[0], ret);
}

struct edge {
	size_t holder; /* the index of the thread that holds the lock; NO_THREAD */
	uint64_t lock, turns;
};

static size_t index_of(const struct threads *threads, pid_t tid)
{
	for (size_t i = 0; i < threads->count; i++)
		if (threads->items[i].tid == tid)
			return i;
	return NO_THREAD;
}

static struct edge read_edge(pid_t pid, const struct threads *threads, size_t i)
{
	struct edge edge = { .holder = NO_THREAD };
	struct schedstat times;
	struct waiting waiting;

	if (schedstat_read(pid, threads->items[i].tid, &times))
		return edge;
	waiting_read(pid, threads->items[i].tid, threads, &waiting);
	if (!waiting.holder || waiting.has_limit)
		return edge;
	return (struct edge){ index_of(threads, waiting.holder), waiting.lock, times.turns };
}

/* The index of a thread in a circle; NO_THREAD: there is none.  A thread that only leads into a
 * circle is not in it. */
static size_t find_circle(const struct edge *edges, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t at = edges[i].holder;

		for (size_t steps = 0; steps < count && at != NO_THREAD && at != i; steps++)
			at = edges[at].holder;
		if (at == i)
			return i;
	}
	return NO_THREAD;
}

static bool is_same(pid_t pid, const struct threads *threads, const struct edge *edges,
		    size_t first)
{
	size_t at = first;

	do {
		struct edge now = read_edge(pid, threads, at);

		if (now.holder != edges[at].holder || now.lock != edges[at].lock ||
		    now.turns != edges[at].turns)
			return false;
		at = edges[at].holder;
	} while (at != first);
	return true;
}

static int circle_keep(const struct edge *edges, size_t first, struct deadlock *ret)
{
	size_t at = first, count = 0;

	do {
		count++;
		at = edges[at].holder;
	} while (at != first);
	ret->items = calloc(count, sizeof(*ret->items));
	if (!ret->items)
		return -ENOMEM;
	for (; ret->count < count; at = edges[at].holder)
		ret->items[ret->count++] = (struct deadlocked){ at, edges[at].lock };
	return 0;
}

int deadlock_find(pid_t pid, const struct threads *threads, struct deadlock *ret)
{
	CLEANUP(free) struct edge *edges = calloc(threads->count + 1, sizeof(*edges));
	size_t first;

	*ret = (struct deadlock){ 0 };
	if (!edges)
		return -ENOMEM;
	for (size_t i = 0; i < threads->count; i++)
		edges[i] = read_edge(pid, threads, i);
	first = find_circle(edges, threads->count);
	if (first == NO_THREAD)
		return 0;
	sleep_ns(PAUSE_NS);
	return is_same(pid, threads, edges, first) ? circle_keep(edges, first, ret) : 0;
}

void deadlock_done(struct deadlock *deadlock)
{
	free(deadlock->items);
	*deadlock = (struct deadlock){ 0 };
}
