/*
 * Runs inside calls of HIP's and on its threads.  A spin lock around a few dozen instructions; who
 * does not get it (a thread that holds it is not running, a signal handler came in between) does
 * without: then the cause of one command is not known.
 */
#include "target/domains/launches.h"

#include "shared/arch/syscall.h"

#include <errno.h>
#include <sys/mman.h>

#define POOL_MAX    65536u
#define STREAMS_MAX 256u
#define KERNELS_MAX 8192u
#define PROBES_MAX  16u
#define SKIPS_MAX   8u
#define SPINS_MAX   20000u
#define NOBODY      0u

#define THREAD_KEY (1ull << 63) /* no stream has such an address */

struct question {
	struct launch launch;
	uint64_t number;       /* in the order of all questions */
	uint32_t older, newer; /* of the same stream */
};

/* Questions from one stream, or from one thread where the call names no stream. */
struct source {
	uint64_t key;
	uint64_t queue; /* and one; 0: not known yet */
	bool is_doubtful;
	uint32_t oldest[LAUNCH_KINDS], newest[LAUNCH_KINDS];
};

struct kernel {
	uint64_t function, name;
};

struct pool {
	struct source sources[STREAMS_MAX];
	struct kernel kernels[KERNELS_MAX];
	struct question items[POOL_MAX]; /* 0 is nobody */
	uint32_t free;                   /* linked by newer */
	uint32_t used;
};

static struct pool *pool;
static uint32_t source_count, is_locked;
static uint64_t last_number;
static bool has_graphs;

static bool lock(void)
{
	for (uint32_t i = 0; i < SPINS_MAX; i++) {
		uint32_t nobody = 0;

		if (__atomic_compare_exchange_n(&is_locked, &nobody, 1, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return true;
	}
	return false;
}

static void unlock(void)
{
	__atomic_store_n(&is_locked, 0, __ATOMIC_RELEASE);
}

int launches_open(void)
{
	long r = pool ? 0
		      : raw6(SYS_mmap, 0, sizeof(struct pool), PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (r < 0 && r > -4096)
		return -ENOMEM;
	if (!pool)
		pool = (struct pool *)r;
	source_count = is_locked = 0;
	has_graphs = false;
	pool->free = NOBODY;
	pool->used = 1;
	return 0;
}

/* Its memory stays, as a thread may be on its way in; the kernel takes the pages back. */
void launches_close(void)
{
	if (pool && lock()) {
		source_count = 0;
		raw3(SYS_madvise, pool, sizeof(*pool), MADV_DONTNEED);
		pool->used = 1;
		unlock();
	}
}

static uint64_t key_of(const struct launch *launch)
{
	/* The default stream is another on each device, and a thread has one device at a time. */
	return launch->stream > 2
		       ? launch->stream
		       : THREAD_KEY | (uint64_t)(uint32_t)launch->thread << 2 | launch->stream;
}

static struct source *find_source(uint64_t key, bool makes)
{
	struct source *source = pool->sources;

	while (source < pool->sources + source_count && source->key != key)
		source++;
	if (source < pool->sources + source_count)
		return source;
	if (!makes || source_count == STREAMS_MAX)
		return NULL;
	source_count++;
	*source = (struct source){ .key = key };
	return source;
}

static uint32_t take_place(void)
{
	uint32_t place = pool->free;

	if (place != NOBODY)
		pool->free = pool->items[place].newer;
	else if (pool->used < POOL_MAX)
		place = pool->used++;
	return place;
}

static void append(struct source *source, enum launch_kind kind, uint32_t place,
		   const struct launch *launch)
{
	uint32_t before = source->newest[kind];

	pool->items[place] = (struct question){ *launch, ++last_number, before, NOBODY };
	if (before)
		pool->items[before].newer = place;
	else
		source->oldest[kind] = place;
	source->newest[kind] = place;
}

static void drop(struct source *source, enum launch_kind kind, uint32_t place)
{
	struct question *gone = &pool->items[place];

	if (gone->older)
		pool->items[gone->older].newer = gone->newer;
	else
		source->oldest[kind] = gone->newer;
	if (gone->newer)
		pool->items[gone->newer].older = gone->older;
	else
		source->newest[kind] = gone->older;
	gone->newer = pool->free;
	pool->free = place;
}

bool launches_add(enum launch_kind kind, const struct launch *launch)
{
	struct source *source;
	uint32_t place;

	if (!lock())
		return false;
	source = find_source(key_of(launch), true);
	place = source ? take_place() : NOBODY;
	if (source && !source->oldest[LAUNCH_KERNEL] && !source->oldest[LAUNCH_COPY])
		source->is_doubtful = false;
	/* Never reported, it seems: the oldest makes room. */
	if (source && place == NOBODY && source->oldest[kind]) {
		drop(source, kind, source->oldest[kind]);
		place = take_place();
	}
	if (place != NOBODY)
		append(source, kind, place, launch);
	unlock();
	return place != NOBODY;
}

/* Which name a function has, as far as it was learned. */
static uint64_t *name_of(uint64_t function)
{
	uint64_t at = function * 0x9e3779b97f4a7c15u >> 32;

	for (uint32_t i = 0; i < PROBES_MAX; i++) {
		struct kernel *kernel = &pool->kernels[(at + i) % KERNELS_MAX];

		if (!kernel->function)
			kernel->function = function;
		if (kernel->function == function)
			return &kernel->name;
	}
	return NULL;
}

static bool fits(const struct launch_report *report, const struct launch *launch)
{
	const uint64_t *name;

	if (launch->asked > report->latest)
		return false;
	if (!launch->what)
		return true;
	if (report->kind == LAUNCH_COPY)
		return launch->what == report->what && (!launch->direction || !report->direction ||
							launch->direction == report->direction);
	name = name_of(launch->what);
	return !name || !*name || *name == report->what;
}

static bool is_of_stream(const struct source *source)
{
	return !(source->key & THREAD_KEY);
}

/* Who has the queue: a stream has it alone. */
static const struct source *find_owner(uint64_t queue)
{
	const struct source *owner = NULL;

	for (uint32_t i = 0; i < source_count; i++)
		if (pool->sources[i].queue == queue && (!owner || is_of_stream(&pool->sources[i])))
			owner = &pool->sources[i];
	return owner;
}

static bool may_have(const struct source *source, const struct source *owner, uint64_t queue)
{
	if (source->queue)
		return source->queue == queue;
	return !owner || (!is_of_stream(owner) && !is_of_stream(source));
}

/* The oldest question of a source that fits.  Of a source whose queue is known, those before it
 * were never done; of another, it must be the oldest of all, and asked before the command was done.
 */
static uint32_t find_fitting(const struct source *source, const struct launch_report *report)
{
	uint32_t place = source->oldest[report->kind];
	uint32_t other =
		source->oldest[report->kind == LAUNCH_KERNEL ? LAUNCH_COPY : LAUNCH_KERNEL];

	if (!source->queue && other && pool->items[other].number < pool->items[place].number)
		return NOBODY;
	for (unsigned i = 0; place && i < SKIPS_MAX; i++) {
		if (fits(report, &pool->items[place].launch))
			return place;
		place = source->queue ? pool->items[place].newer : NOBODY;
	}
	return NOBODY;
}

struct choice {
	struct source *source;
	uint32_t place;
	unsigned count; /* of sources that would fit */
};

static struct choice choose(const struct launch_report *report)
{
	uint64_t queue = report->queue + 1;
	const struct source *owner = find_owner(queue);
	struct choice best = { NULL, NOBODY, 0 };

	for (uint32_t i = 0; i < source_count; i++) {
		struct source *source = &pool->sources[i];
		uint32_t place = may_have(source, owner, queue) ? find_fitting(source, report) : 0;

		best.count += place != NOBODY;
		if (place &&
		    (!best.source || pool->items[place].number < pool->items[best.place].number)) {
			best.source = source;
			best.place = place;
		}
	}
	return best;
}

/* Several streams fit, and of none is it known: which of their questions is answered cannot be said
 * before they have none left. */
static void doubt(const struct launch_report *report)
{
	uint64_t queue = report->queue + 1;
	const struct source *owner = find_owner(queue);

	for (uint32_t i = 0; i < source_count; i++) {
		struct source *source = &pool->sources[i];

		if (!source->queue && may_have(source, owner, queue) &&
		    find_fitting(source, report))
			source->is_doubtful = true;
	}
}

/* Each report has its question.  Where no source of its queue has one, a source was taken for one
 * of another queue. */
static void distrust(const struct launch_report *report)
{
	struct source *oldest = NULL;

	for (uint32_t i = 0; i < source_count; i++) {
		struct source *source = &pool->sources[i];
		uint32_t place = source->oldest[report->kind];

		if (!place || !fits(report, &pool->items[place].launch))
			continue;
		source->queue = 0;
		source->is_doubtful = true;
		if (!oldest ||
		    pool->items[place].number < pool->items[oldest->oldest[report->kind]].number)
			oldest = source;
	}
	if (oldest)
		drop(oldest, report->kind, oldest->oldest[report->kind]);
}

static void learn(const struct choice *choice, const struct launch_report *report)
{
	uint64_t what = pool->items[choice->place].launch.what;
	uint64_t *name = report->kind == LAUNCH_KERNEL && what ? name_of(what) : NULL;

	choice->source->queue = report->queue + 1;
	if (name)
		*name = report->what;
}

static bool is_sure(const struct choice *choice)
{
	return choice->source->queue || (choice->count == 1 && !choice->source->is_doubtful);
}

static void take(const struct choice *choice, enum launch_kind kind)
{
	while (choice->source->oldest[kind] != choice->place)
		drop(choice->source, kind, choice->source->oldest[kind]);
	drop(choice->source, kind, choice->place);
}

bool launches_take(const struct launch_report *report, struct launch *ret)
{
	struct choice choice;
	bool is_found = false;

	if (!lock())
		return false;
	choice = choose(report);
	if (choice.source) {
		is_found = is_sure(&choice);
		if (is_found)
			learn(&choice, report);
		else
			doubt(report);
		*ret = pool->items[choice.place].launch;
		take(&choice, report->kind);
	} else if (!has_graphs) {
		distrust(report);
	}
	unlock();
	return is_found;
}

void launches_cancel(uint64_t cause)
{
	if (!lock())
		return;
	for (uint32_t i = 0; i < source_count; i++)
		for (unsigned kind = 0; kind < LAUNCH_KINDS; kind++) {
			struct source *source = &pool->sources[i];

			while (source->newest[kind] &&
			       pool->items[source->newest[kind]].launch.cause == cause)
				drop(source, kind, source->newest[kind]);
		}
	unlock();
}

void launches_expect_graphs(void)
{
	__atomic_store_n(&has_graphs, true, __ATOMIC_RELAXED);
}

void launches_forget_stream(uint64_t stream)
{
	struct source *source;

	if (!lock())
		return;
	source = find_source(stream, false);
	if (source)
		source->queue = 0;
	unlock();
}
