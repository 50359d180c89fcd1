/*
 * Sequentially consistent throughout: each side stores its own state before it reads the other's.
 */
#include "target/runtime/fork_turn.h"

#include "shared/arch/syscall.h"
#include "shared/arch/ticks.h"
#include "target/runtime/patience.h"

#include <sys/mman.h>

#define GLANCE_NS        20000
#define FORK_LIMIT_NS    1000000000ull  /* for a fork that waits for workers */
#define HELD_LIMIT_NS    10000000000ull /* ...which certainly hold a lock */
#define WORK_LIMIT_NS    4000000000ull  /* for a worker that waits for forks */
#define YIELD_LIMIT_NS   2000000ull     /* ...so that earlier forks go first */
#define SPINS_MAX        (1u << 22)     /* for a thread that may not sleep: 20 to 200 ms of CPU */
#define SETTLE_NS        200000
#define PAGES            65536 /* bytes: whole pages of any size */
#define HANDLERS_FREE_IN 36    /* glibc 2.36 */

static uint32_t turn_load(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static int32_t worker_load(const struct fork_turn *self, unsigned slot)
{
	return __atomic_load_n(&self->workers[slot], __ATOMIC_SEQ_CST);
}

static bool worker_exchange(struct fork_turn *self, unsigned slot, int32_t from, int32_t to)
{
	return __atomic_compare_exchange_n(&self->workers[slot], &from, to, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
}

/* The kernel copies a forking process's memory under a lock that mmap waits for. */
static void kernel_await(void)
{
	long memory = raw6(SYS_mmap, 0, PAGES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory >= 0 || memory <= -4096)
		raw2(SYS_munmap, memory, PAGES);
}

/* Parses "2.36". */
static bool are_handlers_locked(const char *version)
{
	unsigned minor = 0;

	if (!version || version[0] != '2' || version[1] != '.')
		return true;
	for (version += 2; *version >= '0' && *version <= '9'; version++)
		minor = minor * 10 + (unsigned)(*version - '0');
	return minor < HANDLERS_FREE_IN;
}

void fork_turn_open(struct fork_turn *self, const char *version, bool is_alone)
{
	self->process = (int32_t)raw0(SYS_getpid);
	self->is_locked = are_handlers_locked(version);
	self->opened_ns = monotonic_ns();
	__atomic_store_n(&self->is_unsettled, !is_alone, __ATOMIC_SEQ_CST);
}

/* A fork takes some microseconds from its handlers to the kernel. */
static void turn_settle(struct fork_turn *self)
{
	if (!turn_load(&self->is_unsettled))
		return;
	if (monotonic_ns() - self->opened_ns < SETTLE_NS)
		(void)patience_pause(&(struct patience){ 0, 0 }, SETTLE_NS, SETTLE_NS);
	kernel_await();
	__atomic_store_n(&self->is_unsettled, 0, __ATOMIC_SEQ_CST);
}

static int worker_find(const struct fork_turn *self, int32_t thread)
{
	for (unsigned i = 0; i < FORK_WORKERS; i++)
		if (worker_load(self, i) == thread || worker_load(self, i) == -thread)
			return (int)i;
	return -1;
}

static int worker_enter(struct fork_turn *self, int32_t thread)
{
	struct patience patience = { 0, 0 };

	do {
		for (unsigned i = 0; i < FORK_WORKERS; i++)
			if (worker_exchange(self, i, 0, thread))
				return (int)i;
	} while (patience_pause(&patience, GLANCE_NS, WORK_LIMIT_NS));
	return -1;
}

static void forks_await(const uint32_t *count, uint64_t limit_ns)
{
	struct patience patience = { 0, 0 };

	while (turn_load(count) && patience_pause(&patience, GLANCE_NS, limit_ns))
		;
}

/* After this limit, a fork is in another library's handlers, or in the kernel. */
static void forks_finish(const struct fork_turn *self)
{
	forks_await(&self->forking, WORK_LIMIT_NS);
	if (turn_load(&self->forking))
		kernel_await();
}

/* A child created without libc has its parent's state, and none of its threads. */
static void turn_own(struct fork_turn *self)
{
	int32_t process = (int32_t)raw0(SYS_getpid);

	if (self->process && self->process != process)
		fork_turn_forget(self);
	self->process = process;
}

struct fork_work fork_turn_begin(struct fork_turn *self)
{
	struct fork_work work = { (int32_t)raw0(SYS_gettid), -1 };

	turn_own(self);
	if (worker_find(self, work.thread) >= 0)
		return work;
	forks_await(&self->waiting, YIELD_LIMIT_NS);
	work.slot = worker_enter(self, work.thread);
	turn_settle(self);
	forks_finish(self);
	return work;
}

/* Fails in a child that this thread has forked meanwhile: it does not own the slot. */
void fork_turn_end(struct fork_turn *self, struct fork_work work)
{
	if (work.slot >= 0 && !worker_exchange(self, (unsigned)work.slot, work.thread, 0))
		worker_exchange(self, (unsigned)work.slot, -work.thread, 0);
}

void fork_turn_pass(struct fork_turn *self, struct fork_work work)
{
	int slot = self->is_locked ? worker_find(self, work.thread) : -1;

	if (slot < 0)
		return;
	worker_exchange(self, (unsigned)slot, work.thread, -work.thread);
	forks_finish(self);
}

void fork_turn_hold(struct fork_turn *self)
{
	__atomic_add_fetch(&self->holding, 1, __ATOMIC_SEQ_CST);
}

static void turn_decrease(uint32_t *word)
{
	uint32_t value = turn_load(word);

	while (value && !__atomic_compare_exchange_n(word, &value, value - 1, false,
						     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
}

void fork_turn_release(struct fork_turn *self)
{
	turn_decrease(&self->holding);
}

bool fork_turn_is_idle(const struct fork_turn *self)
{
	for (unsigned i = 0; i < FORK_WORKERS; i++)
		if (worker_load(self, i))
			return false;
	return true;
}

static bool is_worked(const struct fork_turn *self)
{
	for (unsigned i = 0; i < FORK_WORKERS; i++)
		if (worker_load(self, i) > 0)
			return true;
	return false;
}

/* A fork inside limpet's work never waits: it would wait for its own thread. */
static bool must_wait(const struct fork_turn *self)
{
	if (!is_worked(self))
		return false;
	return !turn_load(&self->may_call) || (raw0(SYS_getpid) == self->process &&
					       worker_find(self, (int32_t)raw0(SYS_gettid)) < 0);
}

static bool fork_enter(struct fork_turn *self)
{
	if (must_wait(self))
		return false;
	__atomic_add_fetch(&self->forking, 1, __ATOMIC_SEQ_CST);
	if (!must_wait(self))
		return true;
	turn_decrease(&self->forking);
	return false;
}

static bool fork_pause(const struct fork_turn *self, struct patience *patience)
{
	if (turn_load(&self->may_call))
		return patience_pause(patience, GLANCE_NS,
				      turn_load(&self->holding) ? HELD_LIMIT_NS : FORK_LIMIT_NS);
	spin_pause();
	return patience->glances++ < SPINS_MAX;
}

/* After a timeout, no fork waits for these pieces of work any more. */
static void fork_force(struct fork_turn *self)
{
	for (unsigned i = 0; i < FORK_WORKERS; i++) {
		int32_t thread = worker_load(self, i);

		if (thread > 0)
			worker_exchange(self, i, thread, -thread);
	}
	__atomic_add_fetch(&self->forking, 1, __ATOMIC_SEQ_CST);
}

void fork_turn_fork_begin(struct fork_turn *self)
{
	struct patience patience = { 0, 0 };

	if (fork_enter(self))
		return;
	__atomic_add_fetch(&self->waiting, 1, __ATOMIC_SEQ_CST);
	while (!fork_enter(self)) {
		if (!fork_pause(self, &patience)) {
			fork_force(self);
			break;
		}
	}
	turn_decrease(&self->waiting);
}

void fork_turn_fork_end(struct fork_turn *self)
{
	turn_decrease(&self->forking);
}

/* Clears `process`, too: two threads that begin at once must not clear each other's slots. */
void fork_turn_forget(struct fork_turn *self)
{
	self->process = 0;
	self->forking = self->waiting = self->holding = 0;
	for (unsigned i = 0; i < FORK_WORKERS; i++)
		self->workers[i] = 0;
}
