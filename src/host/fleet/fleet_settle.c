/*
 * The end of a job: which ranks are missing, and the overall result.
 */
#include "host/fleet/fleet.h"

#include "host/core/cleanup.h"
#include "host/core/text/plural.h"
#include "host/core/text/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPECTED_MAX (1u << 18) /* ranks known only by number */

static int compare_by_place(const void *a, const void *b)
{
	const struct fleet_rank *left = a, *right = b;

	if (left->is_told != right->is_told)
		return left->is_told ? -1 : 1;
	if (left->is_told && left->number != right->number)
		return left->number < right->number ? -1 : 1;
	if (left->node != right->node)
		return left->node < right->node ? -1 : 1;
	return (left->top > right->top) - (left->top < right->top);
}

static int compare_by_number(const void *a, const void *b)
{
	const struct fleet_rank *left = a, *right = b;

	if (left->number != right->number)
		return left->number < right->number ? -1 : 1;
	return compare_by_place(a, b);
}

/* Ranks without a number get free ones, in the order of nodes and pids. */
static int numbers_assign(struct fleet *self)
{
	CLEANUP(rank_set_done) struct rank_set taken = { 0 };
	uint32_t next = 0;
	int r = 0;

	for (size_t i = 0; !r && i < self->rank_count; i++)
		if (self->ranks[i].is_told)
			r = rank_set_add(&taken, self->ranks[i].number);
	for (size_t i = 0; !r && i < self->rank_count; i++)
		if (!self->ranks[i].is_told) {
			while (next < RANK_MAX && rank_set_has(&taken, next))
				next++;
			self->ranks[i].number = next++;
		}
	return r;
}

static int missing_add(struct fleet *self, const struct rank_set *wanted)
{
	CLEANUP(rank_set_done) struct rank_set there = { 0 };
	uint32_t size = 0; /* the number of ranks, as they say; 0: unknown */
	int r = 0;

	for (size_t i = 0; !r && i < self->rank_count; i++) {
		size = MAX(size, self->ranks[i].is_told ? self->ranks[i].size : 0);
		r = rank_set_add(&there, self->ranks[i].number);
	}
	size = MIN(size, EXPECTED_MAX);
	for (uint32_t i = 0; !r && i < size; i++)
		if ((!wanted || rank_set_has(wanted, i)) && !rank_set_has(&there, i))
			r = fleet_expect_rank(self, NODE_NONE, i, /* pid */ 0);
	/* Ranks that were requested by number are missing as well. */
	for (size_t i = 0; !r && wanted && i < wanted->count; i++)
		for (uint32_t k = wanted->items[i].first;
		     !r && k <= wanted->items[i].last && self->rank_count < EXPECTED_MAX; k++)
			if (k >= size && !rank_set_has(&there, k))
				r = fleet_expect_rank(self, NODE_NONE, k, /* pid */ 0);
	return r;
}

/* "no node tells of it; silent: n2, n7". */
static void missing_explain(const struct fleet *self, char *ret, size_t room)
{
	size_t used = (size_t)snprintf(ret, room, "no node tells of it");
	bool is_first = true;

	for (size_t i = 0; i < self->node_count && used < room; i++) {
		if (self->nodes[i].phase == NODE_ENDED)
			continue;
		used += (size_t)snprintf(ret + used, room - used, "%s%s",
					 is_first ? "; silent: " : ", ", self->nodes[i].name);
		is_first = false;
	}
	text_shorten(ret, room);
}

/* The reason why a rank has no state: its node's. */
static const char *silence_explain(const struct fleet *self, const struct fleet_rank *rank,
				   const char *missing, enum rank_state *ret_state)
{
	const struct fleet_node *node = rank->node == NODE_NONE ? NULL : &self->nodes[rank->node];

	*ret_state = RANK_NO_ANSWER;
	if (!node)
		return missing;
	if (node->phase == NODE_SILENT)
		return *node->trouble ? node->trouble : "its node does not answer";
	if (node->phase == NODE_ENDED) {
		*ret_state = RANK_CUT;
		return "what its node said of it was damaged on its way";
	}
	*ret_state = rank->process_state ? RANK_CUT : RANK_NO_ANSWER;
	return *node->trouble ? node->trouble : "its node stopped answering";
}

static int states_set(struct fleet *self)
{
	char missing[200];
	int r = 0;

	missing_explain(self, missing, sizeof(missing));
	for (size_t i = 0; !r && i < self->rank_count; i++) {
		struct fleet_rank *rank = &self->ranks[i];
		enum rank_state state;
		const char *reason = silence_explain(self, rank, missing, &state);

		if (!rank->is_settled)
			r = fleet_set_state(self, rank, state, reason);
	}
	return r;
}

/* The ranks have moved. */
static int index_rebuild(struct fleet *self)
{
	table_done(&self->by_pid);
	self->by_pid = (struct table){ 0 };
	for (size_t i = 0; i < self->rank_count; i++) {
		const struct fleet_rank *rank = &self->ranks[i];
		struct table_entry *entry;
		bool is_new;

		if (!rank->top)
			continue;
		entry = table_make(&self->by_pid, rank->node, (uint64_t)rank->top, &is_new);
		if (!entry)
			return -ENOMEM;
		entry->value = i;
	}
	return 0;
}

int fleet_settle(struct fleet *self, const struct rank_set *wanted)
{
	int r;

	if (self->rank_count)
		qsort(self->ranks, self->rank_count, sizeof(*self->ranks), compare_by_place);
	r = numbers_assign(self);
	if (!r)
		r = missing_add(self, wanted);
	if (self->rank_count)
		qsort(self->ranks, self->rank_count, sizeof(*self->ranks), compare_by_number);
	if (!r)
		r = index_rebuild(self);
	/* A number on two nodes means that these are two jobs. */
	for (size_t i = 1; !r && i < self->rank_count; i++)
		if (self->ranks[i].number == self->ranks[i - 1].number)
			r = fleet_set_state(self, &self->ranks[i], RANK_REFUSED,
					    "another process has the same rank: several jobs or "
					    "steps run there; choose one");
	return r ? r : states_set(self);
}

uint64_t fleet_count(const struct fleet *self, enum rank_state state)
{
	uint64_t count = 0;

	for (size_t i = 0; i < self->rank_count; i++)
		count += self->ranks[i].state == state;
	return count;
}

int fleet_ranks_in(const struct fleet *self, enum rank_state state, struct rank_set *ret)
{
	int r = 0;

	for (size_t i = 0; !r && i < self->rank_count; i++)
		if (self->ranks[i].state == state)
			r = rank_set_add(ret, self->ranks[i].number);
	return r;
}

/* The first note or trouble of a node: if there are no ranks at all, it is the reason. */
static void nodes_explain(const struct fleet *self, struct err *err)
{
	for (size_t i = 0; i < self->node_count; i++) {
		const struct fleet_node *node = &self->nodes[i];
		const char *reason = node->note_count ? node->notes[0] : node->trouble;

		if (*reason) {
			err_why(err, "%s: %s", node->name, reason);
			return;
		}
	}
}

static int nothing_refuse(const struct fleet *self, struct err *err)
{
	enum exit_code exit = EXIT_FAILED;

	err_set(err, -ESRCH, "%s: %s", self->title,
		self->rank_count ? "no rank could be looked at" : "no rank was found");
	if (self->rank_count && *self->ranks[0].reason)
		err_why(err, "rank %u: %s", self->ranks[0].number, self->ranks[0].reason);
	else
		nodes_explain(self, err);
	if (fleet_count(self, RANK_ENDED) == self->rank_count)
		exit = EXIT_NO_PROCESS;
	else if (fleet_count(self, RANK_REFUSED) == self->rank_count)
		exit = EXIT_NOT_PERMITTED;
	return err_exit(err, exit);
}

uint64_t fleet_count_silent(const struct fleet *self)
{
	uint64_t count = 0;

	for (size_t i = 0; i < self->node_count; i++)
		count += self->nodes[i].phase != NODE_ENDED;
	return count;
}

int fleet_judge(const struct fleet *self, struct err *err)
{
	uint64_t good = fleet_count(self, RANK_DONE) + fleet_count(self, RANK_IDLE);
	uint64_t left = self->rank_count - good, silent = fleet_count_silent(self), damaged = 0;

	for (size_t i = 0; i < self->node_count; i++)
		damaged += self->nodes[i].lost_lines > 0;
	if (!good)
		return nothing_refuse(self, err);
	if (!left && !silent && !damaged)
		return 0;
	if (left)
		err_set(err, -EIO, "%" PRIu64 " of %zu ranks %s missing or not complete", left,
			self->rank_count, is_are(left));
	else if (silent)
		err_set(err, -EIO, "%" PRIu64 " of %zu nodes did not answer to the end", silent,
			self->node_count);
	else
		err_set(err, -EIO, "what %" PRIu64 " of %zu nodes said was damaged on its way",
			damaged, self->node_count);
	return err_exit(err, EXIT_PARTLY);
}
