/*
 * Matches reports with questions. Runs inside HIP's calls and on its threads. A thread that does
 * not get the lock continues without: see launch_pool.c.
 */
#include "target/amd/hip/launches.h"

#include "target/amd/hip/launch_pool.h"

#define PROBES_MAX 16u
#define SKIPS_MAX  8u
#define AGE_BITS   48 /* addresses have no more bits */

#define THREAD_KEY (1ull << 63) /* no stream has such an address */

static uint32_t settled; /* number of launches_misses() that are settled */

int launches_open(void)
{
	settled = 0;
	return pool_open();
}

static bool is_settled(void)
{
	return launches_misses() == __atomic_load_n(&settled, __ATOMIC_ACQUIRE);
}

void launches_close(void)
{
	pool_close();
}

static uint64_t key_of(const struct launch *launch)
{
	/* Each device has a default stream of its own, and a thread has one device at a time. */
	return launch->stream > 2
		       ? launch->stream
		       : THREAD_KEY | (uint64_t)(uint32_t)launch->thread << 2 | launch->stream;
}

/* Never 0. */
static uint64_t queue_key(const struct launch_report *report)
{
	return report->queue << 1 | 1;
}

bool launches_add(enum launch_kind kind, const struct launch *launch)
{
	pool_seal seal;
	struct launch_pool *pool = pool_lock(&seal);
	struct source *source;
	bool is_noted;

	if (!pool) {
		launches_miss();
		return false;
	}
	source = pool_source(pool, key_of(launch), true);
	is_noted = source && pool_append(pool, source, kind, launch);
	if (!is_noted)
		launches_miss();
	pool_unlock(pool, &seal);
	return is_noted;
}

/* Returns the slot of a function's learned name; NULL if there is no room. */
static uint64_t *name_of(struct launch_pool *pool, uint64_t function)
{
	uint64_t at = function * 0x9e3779b97f4a7c15u >> 32;
	uint64_t aged = (function & ((1ull << AGE_BITS) - 1)) | (uint64_t)pool->name_age
									<< AGE_BITS;

	for (uint32_t i = 0; i < PROBES_MAX; i++) {
		struct kernel *kernel = &pool->kernels[(at + i) % KERNELS_MAX];

		if (kernel->function >> AGE_BITS != pool->name_age)
			*kernel = (struct kernel){ aged, 0 };
		if (kernel->function == aged)
			return &kernel->name;
	}
	return NULL;
}

static bool launch_fits(struct launch_pool *pool, const struct launch_report *report,
			const struct launch *launch)
{
	const uint64_t *name;

	if (launch->asked > report->latest)
		return false;
	if (!launch->what)
		return true;
	if (report->kind == LAUNCH_COPY)
		return launch->what == report->what && (!launch->direction || !report->direction ||
							launch->direction == report->direction);
	name = name_of(pool, launch->what);
	return !name || !*name || *name == report->what;
}

static bool is_of_stream(const struct source *source)
{
	return !(source->key & THREAD_KEY);
}

/* The source that has the queue: a stream has its queue alone. */
static const struct source *find_owner(const struct launch_pool *pool, uint64_t queue)
{
	const struct source *owner = NULL;

	for (uint32_t i = 0; i < pool->source_count; i++)
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

/* Finds a source's oldest question that fits. If the source's queue is known, earlier questions
 * were never executed; else it must be the oldest of all, and asked before the command ended. */
static uint32_t find_fitting(struct launch_pool *pool, const struct source *source,
			     const struct launch_report *report)
{
	uint32_t slot = source->oldest[report->kind];
	uint32_t other =
		source->oldest[report->kind == LAUNCH_KERNEL ? LAUNCH_COPY : LAUNCH_KERNEL];

	if (!source->queue && other && pool->items[other].number < pool->items[slot].number)
		return NO_SLOT;
	for (unsigned i = 0; slot && i < SKIPS_MAX; i++) {
		if (launch_fits(pool, report, &pool->items[slot].launch))
			return slot;
		slot = source->queue ? pool->items[slot].newer : NO_SLOT;
	}
	return NO_SLOT;
}

struct choice {
	struct source *source;
	uint32_t slot;
	unsigned count;   /* number of sources with a fitting question */
	bool is_doubtful; /* answered questions may be left, and unanswered ones dropped */
};

static bool may_be_wrong(const struct source *source)
{
	return source->is_doubtful && !source_is_idle(source);
}

static struct choice launch_choose(struct launch_pool *pool, const struct launch_report *report)
{
	uint64_t queue = queue_key(report);
	const struct source *owner = find_owner(pool, queue);
	struct choice best = { NULL, NO_SLOT, 0, false };

	for (uint32_t i = 0; i < pool->source_count; i++) {
		struct source *source = &pool->sources[i];
		uint32_t slot =
			may_have(source, owner, queue) ? find_fitting(pool, source, report) : 0;

		best.is_doubtful |= may_be_wrong(source);
		best.count += slot != NO_SLOT;
		if (slot &&
		    (!best.source || pool->items[slot].number < pool->items[best.slot].number)) {
			best.source = source;
			best.slot = slot;
		}
	}
	return best;
}

/* Several sources fit: which question is answered stays uncertain until they have none left. */
static void sources_doubt(struct launch_pool *pool, const struct launch_report *report)
{
	uint64_t queue = queue_key(report);
	const struct source *owner = find_owner(pool, queue);

	for (uint32_t i = 0; i < pool->source_count; i++) {
		struct source *source = &pool->sources[i];

		if (may_have(source, owner, queue) && find_fitting(pool, source, report))
			source->is_doubtful = true;
	}
}

/* A stream's queue delivers only the stream's own reports. */
static bool is_certain(const struct source *source)
{
	return is_of_stream(source) && source->queue && !source->is_doubtful;
}

/* Marks all sources whose oldest question fits as doubtful, and moves the oldest question to ret.
 */
static bool sources_distrust(struct launch_pool *pool, const struct launch_report *report,
			     bool are_certain, struct launch *ret)
{
	struct source *oldest = NULL;

	for (uint32_t i = 0; i < pool->source_count; i++) {
		struct source *source = &pool->sources[i];
		uint32_t slot = source->oldest[report->kind];

		if (!slot || is_certain(source) != are_certain ||
		    !launch_fits(pool, report, &pool->items[slot].launch))
			continue;
		source->queue = 0;
		source->is_doubtful = true;
		if (!oldest ||
		    pool->items[slot].number < pool->items[oldest->oldest[report->kind]].number)
			oldest = source;
	}
	if (!oldest)
		return false;
	launch_copy(ret, &pool->items[oldest->oldest[report->kind]].launch);
	pool_drop(pool, oldest, report->kind, oldest->oldest[report->kind]);
	return true;
}

/* Moves the oldest question of the kind to ret: the clocks may differ by more than was allowed for.
 */
static void oldest_take(struct launch_pool *pool, enum launch_kind kind, struct launch *ret)
{
	struct source *oldest = NULL;

	for (uint32_t i = 0; i < pool->source_count; i++) {
		struct source *source = &pool->sources[i];

		if (source->oldest[kind] &&
		    (!oldest || pool->items[source->oldest[kind]].number <
					pool->items[oldest->oldest[kind]].number))
			oldest = source;
	}
	if (!oldest)
		return;
	launch_copy(ret, &pool->items[oldest->oldest[kind]].launch);
	pool_drop(pool, oldest, kind, oldest->oldest[kind]);
}

/* Each report has a question. If no source of its queue has one, a source was matched with a wrong
 * queue; if none has one at all, the surplus question is unknown. */
static void report_surprises(struct launch_pool *pool, const struct launch_report *report,
			     struct launch *ret)
{
	launch_clear(ret);
	for (uint32_t i = 0; i < pool->source_count; i++)
		if (pool->sources[i].queue == queue_key(report))
			pool->sources[i].is_doubtful = true;
	if (!sources_distrust(pool, report, false, ret) &&
	    !sources_distrust(pool, report, true, ret)) {
		oldest_take(pool, report->kind, ret);
		launches_miss();
	}
}

static void source_learn(struct launch_pool *pool, const struct choice *choice,
			 const struct launch_report *report)
{
	uint64_t what = pool->items[choice->slot].launch.what;
	uint64_t *name = report->kind == LAUNCH_KERNEL && what ? name_of(pool, what) : NULL;

	choice->source->queue = queue_key(report);
	if (name)
		*name = report->what;
}

/* If a doubtful source has a question too many, another has lost one, whose report is then matched
 * with any source of the same queue. */
static bool is_sure(const struct choice *choice)
{
	if (choice->is_doubtful)
		return is_certain(choice->source);
	return choice->source->queue || choice->count == 1;
}

static void launch_remove(struct launch_pool *pool, const struct choice *choice,
			  enum launch_kind kind)
{
	while (choice->source->oldest[kind] != choice->slot)
		pool_drop(pool, choice->source, kind, choice->source->oldest[kind]);
	pool_drop(pool, choice->source, kind, choice->slot);
}

bool launches_match(const struct launch_report *report, struct launch *ret)
{
	pool_seal seal;
	struct launch_pool *pool = pool_lock(&seal);
	struct choice choice;
	bool is_found = false;

	if (!pool) {
		launches_miss();
		launch_clear(ret);
		return false;
	}
	choice = launch_choose(pool, report);
	if (choice.source) {
		is_found = is_sure(&choice) && is_settled();
		if (is_found)
			source_learn(pool, &choice, report);
		else
			sources_doubt(pool, report);
		launch_copy(ret, &pool->items[choice.slot].launch);
		launch_remove(pool, &choice, report->kind);
	} else if (pool->has_graphs) {
		launch_copy(ret, &pool->graph);
	} else {
		report_surprises(pool, report, ret);
	}
	pool_unlock(pool, &seal);
	return is_found;
}

static void drop_older(struct launch_pool *pool, struct source *source, enum launch_kind kind,
		       uint64_t since)
{
	while (source->oldest[kind] && pool->items[source->oldest[kind]].launch.asked < since)
		pool_drop(pool, source, kind, source->oldest[kind]);
}

void launches_settle(uint64_t since, uint32_t known)
{
	pool_seal seal;
	struct launch_pool *pool = is_settled() && pool_is_empty() ? NULL : pool_lock(&seal);

	if (!pool)
		return;
	for (uint32_t i = 0; i < pool->source_count; i++)
		for (unsigned kind = 0; kind < LAUNCH_KINDS; kind++)
			drop_older(pool, &pool->sources[i], kind, since);
	__atomic_store_n(&settled, known, __ATOMIC_RELEASE);
	pool_unlock(pool, &seal);
}

void launches_cancel(uint64_t cause)
{
	pool_seal seal;
	struct launch_pool *pool = pool_lock(&seal);

	if (!pool) {
		launches_miss();
		return;
	}
	for (uint32_t i = 0; i < pool->source_count; i++)
		for (unsigned kind = 0; kind < LAUNCH_KINDS; kind++) {
			struct source *source = &pool->sources[i];

			while (source->newest[kind] &&
			       pool->items[source->newest[kind]].launch.cause == cause)
				pool_drop(pool, source, kind, source->newest[kind]);
		}
	pool_unlock(pool, &seal);
}

void launches_expect_graph(const struct launch *launch)
{
	pool_seal seal;
	struct launch_pool *pool = pool_lock(&seal);

	if (!pool)
		return;
	pool->has_graphs = true;
	launch_copy(&pool->graph, launch);
	pool_unlock(pool, &seal);
}

void launches_graph(struct launch *ret)
{
	pool_seal seal;
	struct launch_pool *pool = pool_lock(&seal);

	launch_clear(ret);
	if (!pool)
		return;
	if (pool->has_graphs)
		launch_copy(ret, &pool->graph);
	pool_unlock(pool, &seal);
}

uint64_t launches_queue(const struct launch *launch)
{
	pool_seal seal;
	struct launch_pool *pool = pool_lock(&seal);
	const struct source *source;
	uint64_t queue = 0;

	if (!pool)
		return 0;
	source = pool_source(pool, key_of(launch), false);
	if (source && source->queue)
		queue = (source->queue >> 1) + 1;
	pool_unlock(pool, &seal);
	return queue;
}

void launches_forget_stream(uint64_t stream)
{
	pool_seal seal;
	struct launch_pool *pool = pool_lock(&seal);
	struct source *source;

	if (!pool)
		return;
	source = pool_source(pool, stream, false);
	if (source)
		source->queue = 0;
	pool_unlock(pool, &seal);
}

void launches_forget_functions(void)
{
	pool_seal seal;
	struct launch_pool *pool = pool_lock(&seal);

	if (!pool)
		return;
	pool_forget_names(pool);
	pool_unlock(pool, &seal);
}
