/*
 * Runs inside HIP's calls and on its threads, any of which may end, be cancelled, fork, or leave by
 * longjmp while it holds the lock. So no thread waits for long (half a millisecond, seldom): a
 * thread that does not get the lock continues without, and causes are unknown for a while. A lock
 * whose holder has ended is reclaimed; the pool is emptied.
 */
#include "target/amd/hip/launch_pool.h"

#include "shared/arch/syscall.h"
#include "target/hooks/clock.h"
#include "target/hooks/stack.h"

#include <errno.h>
#include <sys/mman.h>
#include <time.h>

#define SPINS_MAX   256u
#define NAPS_MAX    4u
#define NAP_NS      50000
#define OPEN_TRIES  200u
#define OPEN_NS     5000000
#define POOLS_MAX   8u /* abandoned to threads that never unlock them */
#define THREAD_BITS 32

static struct launch_pool *current;
static unsigned abandoned;
static uint32_t misses;

uint32_t launches_misses(void)
{
	return __atomic_load_n(&misses, __ATOMIC_ACQUIRE);
}

void launches_miss(void)
{
	__atomic_fetch_add(&misses, 1, __ATOMIC_RELEASE);
}

static struct launch_pool *map_pool(void)
{
	long r = raw6(SYS_mmap, 0, sizeof(struct launch_pool), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return r < 0 && r > -4096 ? NULL : (struct launch_pool *)r;
}

/* 0 is the age of unused slots. */
void pool_forget_names(struct launch_pool *pool)
{
	if (!++pool->name_age)
		pool->name_age = 1;
}

/* Resets all but the lock; untouched pages stay unmapped. */
static void make_empty(struct launch_pool *pool)
{
	pool->source_count = 0;
	__atomic_store_n(&pool->waiting, 0, __ATOMIC_RELAXED);
	pool->has_graphs = false;
	pool->free = NO_SLOT;
	pool->used = 1;
	pool_forget_names(pool);
}

/* A thread that wants the lock: its seal, and a unique name for this attempt. */
struct comer {
	pool_seal *seal;
	uint64_t name;
};

static uint64_t seal_value(uint64_t address, uint64_t name)
{
	return address ^ name;
}

static bool take_over(struct launch_pool *pool, uint64_t from, const struct comer *me)
{
	*me->seal = seal_value((uint64_t)me->seal, me->name);
	if (!__atomic_compare_exchange_n(&pool->holder, &from, me->name, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return false;
	/* A signal handler that interrupts here finds a seal of another holder. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	pool->seal = (uint64_t)me->seal;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	pool->seal_of = me->name;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return true;
}

/* The calling thread itself holds the lock: either it was interrupted and this is a signal handler
 * on any stack, or it has left by longjmp. The latter is certain only if the seal is gone: this
 * frame has the same address, or the seal was overwritten, or its stack is unmapped. */
static bool is_left_by(const struct launch_pool *pool, uint64_t holder, const struct comer *me)
{
	pool_seal *theirs = (pool_seal *)pool->seal;

	if (pool->seal_of != holder)
		return false;
	return theirs == me->seal || !stack_has_word(theirs) ||
	       *theirs != seal_value(pool->seal, holder);
}

static bool is_gone(uint64_t holder)
{
	return raw3(SYS_tgkill, raw0(SYS_getpid), (int32_t)holder, 0) == -ESRCH;
}

static bool take_from(struct launch_pool *pool, uint64_t holder, const struct comer *me)
{
	if (!take_over(pool, holder, me))
		return false;
	make_empty(pool);
	launches_miss();
	return true;
}

/* The holder may have been preempted. */
static void wait_a_little(unsigned turn)
{
	struct timespec nap = { 0, NAP_NS };

	if (turn < SPINS_MAX)
		spin_pause();
	else
		raw2(SYS_nanosleep, &nap, 0);
}

/* Threads wait for a holder only once. */
static bool pool_enter(struct launch_pool *pool, const struct comer *me)
{
	uint64_t there = 0;

	for (unsigned i = 0; i < SPINS_MAX + NAPS_MAX; i++) {
		there = __atomic_load_n(&pool->holder, __ATOMIC_RELAXED);
		if (!there && take_over(pool, 0, me))
			return true;
		if (there && (int32_t)there == (int32_t)me->name)
			return is_left_by(pool, there, me) && take_from(pool, there, me);
		if (there && there == __atomic_load_n(&pool->awaited, __ATOMIC_RELAXED))
			break;
		wait_a_little(i);
	}
	__atomic_store_n(&pool->awaited, there, __ATOMIC_RELAXED);
	return there && is_gone(there) && take_from(pool, there, me);
}

struct launch_pool *pool_lock(pool_seal *seal)
{
	struct launch_pool *pool = __atomic_load_n(&current, __ATOMIC_ACQUIRE);
	struct comer me = { seal, clock_ticks() << THREAD_BITS | (uint32_t)call_thread_number() };

	return pool && pool_enter(pool, &me) ? pool : NULL;
}

/* Does nothing if the lock was reclaimed. */
void pool_unlock(struct launch_pool *pool, pool_seal *seal)
{
	uint64_t holder = __atomic_load_n(&pool->holder, __ATOMIC_RELAXED);

	if ((int32_t)holder == call_thread_number())
		__atomic_compare_exchange_n(&pool->holder, &holder, 0, false, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED);
	*seal = 0;
}

static struct launch_pool *lock_patiently(pool_seal *seal)
{
	struct timespec pause = { 0, OPEN_NS };
	struct launch_pool *pool = pool_lock(seal);

	for (unsigned i = 0; current && !pool && i < OPEN_TRIES; i++) {
		raw2(SYS_nanosleep, &pause, 0);
		pool = pool_lock(seal);
	}
	return pool;
}

/* A thread that does not unlock the old pool keeps it. */
static int pool_replace(void)
{
	struct launch_pool *pool;

	if (current && abandoned == POOLS_MAX)
		return -EBUSY;
	pool = map_pool();
	if (!pool)
		return -ENOMEM;
	make_empty(pool);
	abandoned += current != NULL;
	/* Release: pairs with pool_lock(); publishes an empty pool. */
	__atomic_store_n(&current, pool, __ATOMIC_RELEASE);
	return 0;
}

int pool_open(void)
{
	pool_seal seal;
	struct launch_pool *pool;

	misses = 0;
	pool = lock_patiently(&seal);
	if (!pool)
		return pool_replace();
	make_empty(pool);
	pool_unlock(pool, &seal);
	return 0;
}

/* The mapping stays, because a thread may be about to lock it; the pages are freed. */
void pool_close(void)
{
	pool_seal seal;
	struct launch_pool *pool = pool_lock(&seal);

	if (!pool)
		return;
	make_empty(pool);
	raw3(SYS_madvise, ALIGN_UP((uint64_t)pool->sources, 65536),
	     ALIGN_DOWN((uint64_t)(pool + 1), 65536) - ALIGN_UP((uint64_t)pool->sources, 65536),
	     MADV_DONTNEED);
	pool_unlock(pool, &seal);
}

bool source_is_idle(const struct source *source)
{
	return !source->oldest[LAUNCH_KERNEL] && !source->oldest[LAUNCH_COPY];
}

bool pool_is_empty(void)
{
	const struct launch_pool *pool = __atomic_load_n(&current, __ATOMIC_ACQUIRE);

	return !pool || !__atomic_load_n(&pool->waiting, __ATOMIC_RELAXED);
}

/* Returns a new source, or the idle one with the oldest last question. */
static struct source *source_allocate(struct launch_pool *pool)
{
	struct source *best = NULL;

	if (pool->source_count < STREAMS_MAX)
		return &pool->sources[pool->source_count++];
	for (uint32_t i = 0; i < STREAMS_MAX; i++) {
		struct source *source = &pool->sources[i];

		if (source_is_idle(source) && (!best || source->last < best->last))
			best = source;
	}
	return best;
}

struct source *pool_source(struct launch_pool *pool, uint64_t key, bool makes)
{
	struct source *source = NULL;

	for (uint32_t i = 0; i < pool->source_count; i++)
		if (pool->sources[i].key == key)
			return &pool->sources[i];
	if (makes)
		source = source_allocate(pool);
	if (source)
		*source = (struct source){ .key = key };
	return source;
}

static uint32_t slot_allocate(struct launch_pool *pool)
{
	uint32_t slot = pool->free;

	if (slot != NO_SLOT)
		pool->free = pool->items[slot].newer;
	else if (pool->used < POOL_MAX)
		slot = pool->used++;
	return slot;
}

bool pool_append(struct launch_pool *pool, struct source *source, enum launch_kind kind,
		 const struct launch *launch)
{
	uint32_t slot = slot_allocate(pool), before;
	struct question *question;

	if (source_is_idle(source))
		source->is_doubtful = false;
	/* The oldest question was probably never reported: it makes room. */
	if (slot == NO_SLOT && source->oldest[kind]) {
		launches_miss();
		pool_drop(pool, source, kind, source->oldest[kind]);
		slot = slot_allocate(pool);
	}
	if (slot == NO_SLOT)
		return false;
	before = source->newest[kind];
	source->last = ++pool->last_number;
	question = &pool->items[slot];
	launch_copy(&question->launch, launch);
	question->number = source->last;
	question->older = before;
	question->newer = NO_SLOT;
	if (before)
		pool->items[before].newer = slot;
	else
		source->oldest[kind] = slot;
	source->newest[kind] = slot;
	__atomic_store_n(&pool->waiting, pool->waiting + 1, __ATOMIC_RELAXED);
	return true;
}

void pool_drop(struct launch_pool *pool, struct source *source, enum launch_kind kind,
	       uint32_t slot)
{
	struct question *gone = &pool->items[slot];

	if (gone->older)
		pool->items[gone->older].newer = gone->newer;
	else
		source->oldest[kind] = gone->newer;
	if (gone->newer)
		pool->items[gone->newer].older = gone->older;
	else
		source->newest[kind] = gone->older;
	gone->newer = pool->free;
	pool->free = slot;
	__atomic_store_n(&pool->waiting, pool->waiting - 1, __ATOMIC_RELAXED);
}
