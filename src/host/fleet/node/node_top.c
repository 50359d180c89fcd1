/*
 * Samples all ranks of this node, and sends their recent activity once a second.  A thread of its
 * own does that, so that a hanging call cannot block the node part.
 */
#include "host/core/cleanup.h"
#include "host/fleet/node/node_ticker.h"
#include "host/model/samples/profile.h"
#include "host/process/stat.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#define TICK_NS        1000000000ull
#define LOOK_NS        100000000ull
#define WARM_UP_NS     5000000000ull /* names are resolved at the beginning */
#define SHARE_MAX      100u          /* one in so many: 1 % of a processor */
#define PARENTS_MAX    64u
#define RANK_NOT_ASKED (UINT32_MAX - 1)

/* The rank of a process: itself, or its nearest ancestor.  RANK_NONE: none. */
static uint32_t rank_find(const struct node_ticker *self, pid_t pid)
{
	struct process_stat stat;
	struct err ignored = { 0 };

	for (unsigned i = 0; i < PARENTS_MAX && pid > 1; i++) {
		const struct table_entry *entry = table_find(&self->by_pid, (uint64_t)pid, 0);

		if (entry)
			return (uint32_t)entry->value;
		if (stat_read(pid, 0, &stat, &ignored))
			break;
		pid = stat.parent;
	}
	return RANK_NONE;
}

/* RANK_NONE also for samples outside of the window, or not running. */
static uint32_t sample_rank(struct node_ticker *self, const struct model *model,
			    const struct recorded_sample *sample)
{
	const struct model_process *process = model->threads[sample->thread]->process;
	uint32_t *rank = &self->rank_of[process->number];

	if (sample->kind != SAMPLE_RUNNING || sample->time_ns < self->from_ns ||
	    sample->time_ns - self->from_ns > self->window_ns)
		return RANK_NONE;
	if (*rank == RANK_NOT_ASKED)
		*rank = rank_find(self, process->pid);
	return *rank;
}

static int processes_grow(struct node_ticker *self, size_t count)
{
	uint32_t *longer;

	if (count <= self->process_count)
		return 0;
	longer = reallocarray(self->rank_of, count, sizeof(*longer));
	if (!longer)
		return -ENOMEM;
	self->rank_of = longer;
	while (self->process_count < count)
		self->rank_of[self->process_count++] = RANK_NOT_ASKED;
	return 0;
}

static int sorted_grow(struct node_ticker *self, size_t count)
{
	struct recorded_sample *longer;

	if (count <= self->sorted_room)
		return 0;
	longer = reallocarray(self->sorted, count, sizeof(*longer));
	if (!longer)
		return -ENOMEM;
	self->sorted = longer;
	self->sorted_room = count;
	return 0;
}

/* Sorts samples by ranks; drops those of none. */
static void samples_sort(struct node_ticker *self, const struct model *model)
{
	const struct samples *samples = model->samples;
	size_t ranks = self->source.node->ranks.count, at = 0;
	uint32_t rank;

	memset(self->times, 0, ranks * sizeof(*self->times));
	for (size_t i = 0; i < samples->kept_count; i++) {
		rank = sample_rank(self, model, &samples->kept[i]);
		if (rank != RANK_NONE) {
			self->times[rank].running_ns += samples->kept[i].weight_ns;
			self->times[rank].samples++;
		}
	}
	for (size_t i = 0; i < ranks; i++) {
		self->times[i].first = at;
		at += self->times[i].samples;
	}
	for (size_t i = 0; i < samples->kept_count; i++) {
		rank = sample_rank(self, model, &samples->kept[i]);
		if (rank != RANK_NONE)
			self->sorted[self->times[rank].first + self->times[rank].count++] =
				samples->kept[i];
	}
}

static int functions_add(struct node_ticker *self, const struct samples *samples,
			 const struct hot_functions *hot, uint32_t rank)
{
	struct rank_time *time = &self->times[rank];
	int r = 0;

	for (size_t i = 0; !r && i < hot->count; i++) {
		const struct hot_function *row = &hot->rows[i];
		const struct spread_part part = { row->function->name,
						  samples->codes[row->function->code].name,
						  rank,
						  row->self_ns,
						  row->total_ns,
						  row->self_count };

		if (row->self_ns > time->function_ns) {
			time->function_ns = row->self_ns;
			snprintf(time->function, sizeof(time->function), "%s", part.name);
		}
		r = spreads_add(&self->spreads, &part);
	}
	return r;
}

static int rank_add_up(struct node_ticker *self, struct model *model, uint32_t rank)
{
	CLEANUP(sample_profile_done) struct profile profile = { 0 };
	CLEANUP(hot_functions_done) struct hot_functions hot = { 0 };
	const struct rank_time *time = &self->times[rank];
	int r;

	model->samples->kept = self->sorted + time->first;
	model->samples->kept_count = time->count;
	r = sample_profile_gather(&profile, model,
				  &(struct profile_filter){ .kinds = KINDS_ON_CPU });
	if (!r)
		r = hot_functions_find(&hot, &profile);
	return r ? r : functions_add(self, model->samples, &hot, rank);
}

static int tick_read(struct model *model, void *context)
{
	struct node_ticker *self = context;
	int r = processes_grow(self, model->process_count);

	if (!r)
		r = sorted_grow(self, model->samples->kept_count);
	if (r)
		return r;
	samples_sort(self, model);
	for (uint32_t i = 0; !r && i < self->source.node->ranks.count; i++)
		if (self->times[i].count)
			r = rank_add_up(self, model, i);
	return r;
}

/* One second: adds up the samples of the window and sends the totals. */
static int tick_make(struct node_ticker *self)
{
	uint64_t now = now_ns();
	int r;

	top_source_look(&self->source);
	self->window_ns = MIN(now - self->opened_ns, TOP_WINDOW_NS);
	self->from_ns = now - self->window_ns;
	r = live_read_around(self->source.live, self->from_ns, tick_read, self);
	spreads_sort(&self->spreads);
	if (!r) {
		node_ticker_tell(self);
		self->is_second_told |= self->window_ns >= TICK_NS;
	}
	spreads_done(&self->spreads);
	return r;
}

static void cost_mark(struct node_ticker *self, uint64_t now)
{
	self->mark_ns = now;
	self->mark_cpu_ns = own_cpu_ns();
}

/* If it cannot be changed, the rate stays. */
static void rate_lower(struct node_ticker *self, unsigned hz)
{
	struct err err = { 0 };

	if (top_source_set_rate(&self->source, hz, &err)) {
		if (!self->is_rate_kept)
			node_note(self->source.node,
				  "sampling costs more than 1 %% of a CPU, and goes on so: %s",
				  err.what);
		self->is_rate_kept = true;
		cost_mark(self, now_ns());
		return;
	}
	/* Processes are numbered anew. */
	self->process_count = 0;
	self->opened_ns = now_ns();
	self->mark_ns = 0;
}

/* Limits the cost to one percent of a processor: fewer samples if they cost more. */
static void cost_judge(struct node_ticker *self)
{
	uint64_t now = now_ns(), passed_ns, used_ns;
	unsigned hz = self->source.hz;

	if (!self->mark_ns) {
		if (now - self->opened_ns > WARM_UP_NS)
			cost_mark(self, now);
		return;
	}
	passed_ns = now - self->mark_ns;
	used_ns = own_cpu_ns() - self->mark_cpu_ns;
	if (passed_ns < TOP_WINDOW_NS)
		return;
	if (used_ns <= passed_ns / SHARE_MAX || hz == 1) {
		if (passed_ns > 4 * TOP_WINDOW_NS)
			cost_mark(self, now);
		return;
	}
	hz = MAX((unsigned)((uint64_t)hz * passed_ns / (used_ns * SHARE_MAX) * 3 / 4), 1u);
	rate_lower(self, hz);
}

/* False: nothing is left to sample. */
static bool tick_work(struct node_ticker *self)
{
	struct source_facts facts;
	struct err *err = &self->source.err;
	int r;

	*err = (struct err){ 0 };
	r = tick_make(self);
	if (r) {
		err_set(err, r, "top: no memory");
		return false;
	}
	source_query(self->source.source, &facts);
	if (facts.error.code && !facts.has_ended) {
		*err = facts.error;
		return false;
	}
	cost_judge(self);
	return self->source.sampled_count && !facts.has_ended;
}

static bool tick_try(struct node_ticker *self)
{
	bool goes_on;

	atomic_store(&self->busy_ns, now_ns());
	goes_on = tick_work(self);
	atomic_store(&self->busy_ns, 0);
	return goes_on;
}

static void ticks_work(void *context, struct rank_queue *queue, size_t index)
{
	struct node_ticker *self = context;
	uint64_t next_ns = self->begin_ns + TICK_NS, now;
	bool goes_on = true;

	while (goes_on && !atomic_load(&self->shall_stop) && (now = now_ns()) < self->until_ns) {
		uint64_t due_ns = MIN(next_ns, self->until_ns);

		if (now < due_ns) {
			struct pollfd wake = { self->wake, POLLIN, 0 };

			poll(&wake, 1, (int)((due_ns - now) / 1000000 + 1));
			continue;
		}
		goes_on = tick_try(self);
		/* Missed seconds are skipped. */
		next_ns = MAX(MAX(next_ns + TICK_NS, now), self->opened_ns + TICK_NS);
	}
	/* The samples after the last whole second; not of a sampler that has just begun. */
	if (goes_on && !atomic_load(&self->shall_stop) &&
	    (!self->is_second_told || now_ns() - self->opened_ns >= TICK_NS))
		tick_try(self);
	if (rank_queue_finish(queue, index))
		rank_queue_release(queue);
}

/* False: the thread hangs. */
static bool ticks_watch(struct node_ticker *self)
{
	struct node *node = self->source.node;
	struct rank_queue *queue;
	eventfd_t ignored;
	int r = rank_queue_start(&queue, 1, UINT64_MAX, ticks_work, self);

	if (r) {
		err_set(&self->source.err, r, "top: no thread: %s", strerror(-r));
		return true;
	}
	while (rank_queue_look(queue)) {
		uint64_t busy_ns = atomic_load(&self->busy_ns);

		if (lifeline_wait(&node->lifeline, queue->changed, now_ns() + LOOK_NS))
			eventfd_read(queue->changed, &ignored);
		if (busy_ns && now_ns() - busy_ns > node->request.rank_limit_ns / 2)
			return false;
		if (node_shall_stop(node) && !atomic_exchange(&self->shall_stop, true))
			eventfd_write(self->wake, 1);
	}
	return true;
}

static bool ticker_init(struct node_ticker *self, struct node *node)
{
	size_t count = node->ranks.count;
	uint64_t duration_ns = node->request.top.duration_ns;
	bool is_new;

	self->begin_ns = self->opened_ns = now_ns();
	self->until_ns = duration_ns > UINT64_MAX - self->begin_ns ? UINT64_MAX
								   : self->begin_ns + duration_ns;
	self->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	self->times = calloc(count + 1, sizeof(*self->times));
	self->seen = calloc(count + 1, sizeof(*self->seen));
	for (size_t i = 0; i < count; i++) {
		struct table_entry *entry =
			table_make(&self->by_pid, (uint64_t)node->ranks.items[i].pid, 0, &is_new);

		if (!entry)
			return false;
		entry->value = i;
	}
	return self->times && self->seen && self->wake >= 0;
}

/* A rank that was never sampled is not idle. */
static void rank_tell(struct node_ticker *self, size_t index)
{
	struct node *node = self->source.node;

	if (self->seen[index])
		node_tell_state(node, index, RANK_DONE, "");
	else if (self->is_second_told)
		node_tell_state(node, index, RANK_IDLE, "");
	else
		node_tell_state(node, index, RANK_NO_ANSWER,
				"stopped before the first second was over");
}

/* A rank without an error was sampled to the end. */
static void ranks_tell(struct node_ticker *self, bool has_come_back)
{
	struct node *node = self->source.node;

	if (has_come_back)
		top_source_look(&self->source);
	for (size_t i = 0; i < node->ranks.count; i++) {
		if (!self->source.is_sampled[i])
			continue;
		if (!has_come_back)
			node_tell_state(node, i, RANK_NO_ANSWER,
					"adding up what it did took too long: something hangs");
		else if (self->source.err.code)
			node_tell_error(node, i, &self->source.err);
		else
			rank_tell(self, i);
	}
}

void node_top(struct node *node)
{
	/* Never freed: a thread may be stuck in it. */
	struct node_ticker *self = calloc(1, sizeof(*self));
	bool has_come_back;

	if (!self || !top_source_open(&self->source, node))
		return;
	if (!ticker_init(self, node)) {
		node_note(node, "top: no memory");
		return;
	}
	has_come_back = ticks_watch(self);
	ranks_tell(self, has_come_back);
}
