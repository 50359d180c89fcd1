/*
 * Opens the sampler.  Tries all ranks together, which costs least; if that fails, each alone, so
 * that ranks which refuse, end or hang cost only themselves.
 */
#include "host/fleet/node/node_ticker.h"

#include "host/core/text/print.h"
#include "host/process/stat.h"
#include "host/process/status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The needs of a few seconds: 32 bytes a sample, about 110 a stack and 190 a frame. */
static const struct live_limits limits = {
	.samples = 1u << 16,
	.stacks = 1u << 15,
	.frames = 1u << 15,
	.threads = 1u << 13,
};

/* Never freed: a thread may be stuck in it. */
struct opening {
	struct top_source *owner;
	pid_t *pids;
	size_t count;
	unsigned hz;
};

/* Opened while others still run, and stored or closed as a whole. */
struct opened {
	struct live *live;
	struct source *source;
};

static void opened_close(struct opened *opened)
{
	source_free(opened->source);
	live_free(opened->live);
	*opened = (struct opened){ 0 };
}

static int sampler_start(const struct opening *opening, struct opened *ret, struct err *err)
{
	const struct node_request *request = &opening->owner->node->request;
	const struct sampling_options options = {
		.sampler = { .pid = opening->pids[0],
			     .hz = opening->hz,
			     .on_cpu = true,
			     .kernel_frames = true,
			     .children = request->find.family == FAMILY_DESCENDANTS,
			     .further = opening->pids + 1,
			     .further_count = opening->count - 1 },
		.is_python_unwatched = true,
		.name = *request->top.sampler ? request->top.sampler : NULL,
	};
	int r = live_new(&ret->live, opening->pids[0], &limits, err);

	if (!r)
		r = source_start(&ret->source, ret->live, &options, err);
	if (r)
		opened_close(ret);
	return r;
}

static struct opening *opening_new(struct top_source *self, unsigned hz)
{
	struct opening *opening = calloc(1, sizeof(*opening));
	const struct found_ranks *ranks = &self->node->ranks;

	if (!opening)
		return NULL;
	*opening = (struct opening){ .owner = self, .hz = hz };
	opening->pids = calloc(ranks->count + 1, sizeof(*opening->pids));
	for (size_t i = 0; opening->pids && i < ranks->count; i++)
		if (self->is_sampled[i])
			opening->pids[opening->count++] = ranks->items[i].pid;
	return opening->pids ? opening : NULL;
}

static void open_work(void *context, struct rank_queue *queue, size_t index)
{
	struct opening *opening = context;
	struct top_source *self = opening->owner;
	struct opened opened = { 0 };
	struct err err = { 0 };
	int r = sampler_start(opening, &opened, &err);

	if (!rank_queue_finish(queue, index)) {
		opened_close(&opened);
		return;
	}
	self->err = err;
	if (!r) {
		self->live = opened.live;
		self->source = opened.source;
	}
	rank_queue_release(queue);
}

/* True if it was opened; else self->err has the reason, or nothing if it hangs. */
static bool open_together(struct top_source *self)
{
	struct opening *opening = opening_new(self, self->hz);

	self->err = (struct err){ 0 };
	if (!opening || !opening->count)
		return false;
	node_visit(self->node, 1, self->node->request.rank_limit_ns / 2, open_work, opening);
	return self->source;
}

/* Other samplers see only states, of processes that may not be read. */
static bool source_sees_stacks(struct source *source, struct source_facts *ret)
{
	source_query(source, ret);
	return !strcmp(ret->sampler, sampler_bpf.name) || !strcmp(ret->sampler, sampler_copy.name);
}

/* The result of trying one rank alone. */
static void trial_fill(struct rank_trial *trial, struct source *source)
{
	struct source_facts facts;

	trial->sees_stacks = source_sees_stacks(source, &facts);
	print_into(trial->reason, sizeof(trial->reason), "no sampler sees its stacks%s%.*s",
		   *facts.reasons ? ": " : "", (int)strcspn(facts.reasons, "\n"), facts.reasons);
}

static void try_work(void *context, struct rank_queue *queue, size_t index)
{
	struct top_source *self = context;
	pid_t pid = self->node->ranks.items[index].pid;
	const struct opening alone = { self, &pid, 1, self->hz };
	struct opened opened = { 0 };
	struct rank_trial trial = { 0 };
	struct err err = { 0 };
	int r = self->is_sampled[index] ? sampler_start(&alone, &opened, &err) : 0;

	if (opened.source)
		trial_fill(&trial, opened.source);
	opened_close(&opened);
	if (!rank_queue_finish(queue, index))
		return;
	self->trials[index] = trial;
	if (r) {
		self->is_sampled[index] = false;
		node_tell_error(self->node, index, &err);
	}
	rank_queue_release(queue);
}

/* One rank with states only would reduce all to that: if others have stacks, it is left out. */
static void ranks_choose(struct top_source *self)
{
	bool are_stacks_seen = false;

	for (size_t i = 0; i < self->node->ranks.count; i++)
		are_stacks_seen |= self->is_sampled[i] && self->trials[i].sees_stacks;
	for (size_t i = 0; are_stacks_seen && i < self->node->ranks.count; i++) {
		if (!self->is_sampled[i] || self->trials[i].sees_stacks)
			continue;
		self->is_sampled[i] = false;
		node_tell_state(self->node, i, RANK_REFUSED, self->trials[i].reason);
	}
}

/* Ranks that cannot be sampled are reported, and left out. */
static void ranks_try(struct top_source *self)
{
	struct node *node = self->node;
	struct rank_queue *queue = node_visit(node, node->ranks.count,
					      node->request.rank_limit_ns / 2, try_work, self);

	for (size_t i = 0; queue && i < node->ranks.count; i++) {
		if (!self->is_sampled[i] || !rank_queue_is_missing(queue, i))
			continue;
		self->is_sampled[i] = false;
		node_tell_missing(node, i);
	}
	ranks_choose(self);
}

static bool ranks_begin(struct top_source *self, struct node *node)
{
	size_t count = node->ranks.count;
	struct process_stat stat;
	struct err ignored = { 0 };

	*self = (struct top_source){ .node = node,
				     .hz = node->request.top.hz,
				     .is_sampled = calloc(count + 1, sizeof(bool)),
				     .start_ticks = calloc(count + 1, sizeof(uint64_t)),
				     .trials = calloc(count + 1, sizeof(struct rank_trial)) };
	if (!self->is_sampled || !self->start_ticks || !self->trials)
		return false;
	for (size_t i = 0; i < count; i++) {
		self->is_sampled[i] = node->ranks.items[i].left_out == RANK_IS_TAKEN;
		if (self->is_sampled[i] && !stat_read(node->ranks.items[i].pid, 0, &stat, &ignored))
			self->start_ticks[i] = stat.start_tick;
	}
	return true;
}

static size_t ranks_count(const struct top_source *self)
{
	size_t count = 0;

	for (size_t i = 0; i < self->node->ranks.count; i++)
		count += self->is_sampled[i];
	return count;
}

/* For each remaining rank: why no sampler works. */
static void ranks_refuse(struct top_source *self)
{
	for (size_t i = 0; i < self->node->ranks.count; i++) {
		if (!self->is_sampled[i])
			continue;
		self->is_sampled[i] = false;
		if (self->err.code)
			node_tell_error(self->node, i, &self->err);
		else
			node_tell_missing(self->node, i);
	}
}

/* Nothing better is available, or wanted. */
static bool is_open_well(struct top_source *self)
{
	struct source_facts facts;

	return ranks_count(self) == 1 || *self->node->request.top.sampler ||
	       source_sees_stacks(self->source, &facts);
}

static void source_close(struct top_source *self)
{
	struct opened opened = { self->live, self->source };

	self->live = NULL;
	self->source = NULL;
	opened_close(&opened);
}

bool top_source_open(struct top_source *self, struct node *node)
{
	struct source_facts facts;

	if (!ranks_begin(self, node)) {
		node_note(node, "top: no memory");
		return false;
	}
	if (!open_together(self) || !is_open_well(self)) {
		source_close(self);
		ranks_try(self);
		if (ranks_count(self) && !open_together(self))
			ranks_refuse(self);
	}
	self->sampled_count = ranks_count(self);
	if (self->source && !source_sees_stacks(self->source, &facts))
		node_note(node, "only states of threads can be seen, no functions%s%.*s",
			  *facts.reasons ? ": " : "", (int)strcspn(facts.reasons, "\n"),
			  facts.reasons);
	return self->sampled_count;
}

/* A sampler that sees as much as the present one. */
static int replacement_start(struct top_source *self, unsigned hz, struct opened *ret,
			     struct err *err)
{
	/* Not freed if it is used: the sampler keeps the list. */
	struct opening *opening = opening_new(self, hz);
	struct source_facts facts;
	int r;

	if (!opening)
		return err_set(err, -ENOMEM, "top: no memory");
	r = opening->count ? sampler_start(opening, ret, err)
			   : err_set(err, -ESRCH, "top: all ranks have ended");
	if (!r && source_sees_stacks(self->source, &facts) &&
	    !source_sees_stacks(ret->source, &facts)) {
		opened_close(ret);
		r = err_set(err, -EIO, "a second sampler beside the first sees no stacks");
	}
	if (r) {
		free(opening->pids);
		free(opening);
	}
	return r;
}

int top_source_set_rate(struct top_source *self, unsigned hz, struct err *err)
{
	struct opened opened = { 0 };
	struct source_facts facts;
	int r = replacement_start(self, hz, &opened, err);

	if (r)
		return r;
	source_stop(self->source);
	source_query(self->source, &facts);
	self->lost_before += facts.lost;
	source_close(self);
	self->live = opened.live;
	self->source = opened.source;
	self->hz = hz;
	return 0;
}

/* If only its first thread has ended, the others go on. */
static bool process_is_over(pid_t pid, char state)
{
	struct process_status status;
	struct err ignored = { 0 };

	if (state != 'Z' && state != 'X')
		return false;
	return status_read(pid, pid, &status, &ignored) || status.threads < 2;
}

/* Ended, or its number was reused. */
static bool rank_has_ended(const struct top_source *self, size_t index)
{
	pid_t pid = self->node->ranks.items[index].pid;
	struct process_stat stat;
	struct err ignored = { 0 };

	return stat_read(pid, 0, &stat, &ignored) || process_is_over(pid, stat.state) ||
	       stat.start_tick != self->start_ticks[index];
}

void top_source_look(struct top_source *self)
{
	for (size_t i = 0; i < self->node->ranks.count; i++) {
		if (!self->is_sampled[i] || !rank_has_ended(self, i))
			continue;
		self->is_sampled[i] = false;
		self->sampled_count--;
		node_tell_state(self->node, i, RANK_ENDED, "it ended meanwhile");
	}
}
