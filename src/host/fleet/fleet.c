/*
 * Handles the messages of nodes, and at the end of a job: which ranks are missing, and the overall
 * result.  Runs at home.
 */
#include "host/fleet/fleet.h"

#include "host/core/cleanup.h"
#include "host/core/room.h"
#include "host/core/rows.h"
#include "host/core/text/plural.h"
#include "host/core/text/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_MAX   (1u << 20)
#define OF_NODE_MAX 65536u
#define NODES_MAX   65536u

void fleet_done(struct fleet *self)
{
	free(self->ranks);
	free(self->nodes);
	free(self->title);
	table_done(&self->by_pid);
	pool_done(&self->texts);
	*self = (struct fleet){ 0 };
}

int fleet_set_text(struct fleet *self, const char **ret, const char *text)
{
	const char *kept = pool_keep(&self->texts, text);

	if (!kept)
		return -ENOMEM;
	*ret = kept;
	return 0;
}

uint32_t fleet_find_node(const struct fleet *self, const char *name)
{
	for (size_t i = 0; i < self->node_count; i++)
		if (!strcmp(self->nodes[i].name, name))
			return (uint32_t)i;
	return NODE_NONE;
}

uint32_t fleet_add_node(struct fleet *self, const char *name)
{
	struct fleet_node node = { .trouble = "", .version = "", .machine = "", .kernel = "" };

	if (self->node_count >= NODES_MAX || fleet_set_text(self, &node.name, name) ||
	    make_room(&self->nodes, self->node_count, &self->node_room, sizeof(*self->nodes)))
		return NODE_NONE;
	self->nodes[self->node_count] = node;
	return (uint32_t)self->node_count++;
}

struct fleet_rank *fleet_find_rank(const struct fleet *self, uint32_t node, pid_t top)
{
	const struct table_entry *entry = table_find(&self->by_pid, node, (uint64_t)top);

	return entry ? &self->ranks[entry->value] : NULL;
}

static int rank_index(struct fleet *self, size_t index)
{
	const struct fleet_rank *rank = &self->ranks[index];
	struct table_entry *entry;
	bool is_new;

	if (!rank->top)
		return 0;
	entry = table_make(&self->by_pid, rank->node, (uint64_t)rank->top, &is_new);
	if (!entry)
		return -ENOMEM;
	entry->value = index;
	return 0;
}

/* NULL: no memory, or too many. */
static struct fleet_rank *rank_add(struct fleet *self, uint32_t node, pid_t top)
{
	const struct fleet_rank rank = { .number = RANK_NONE,
					 .node = node,
					 .top = top,
					 .pid = top,
					 .variable = "",
					 .program = "",
					 .command = "",
					 .user = "",
					 .through = "",
					 .sampler = "",
					 .sampler_reasons = "",
					 .refusal = "",
					 .reason = "",
					 .recording = "" };

	if (self->rank_count >= RANKS_MAX ||
	    make_room(&self->ranks, self->rank_count, &self->rank_room, sizeof(*self->ranks)))
		return NULL;
	self->ranks[self->rank_count] = rank;
	if (rank_index(self, self->rank_count))
		return NULL;
	if (node != NODE_NONE)
		self->nodes[node].rank_count++;
	return &self->ranks[self->rank_count++];
}

int fleet_expect_rank(struct fleet *self, uint32_t node, uint32_t number, pid_t pid)
{
	struct fleet_rank *rank = rank_add(self, node, pid);

	if (!rank)
		return -ENOMEM;
	rank->number = number;
	rank->is_told = true;
	return 0;
}

int fleet_take_hello(struct fleet *self, uint32_t node, const struct hello_message *hello)
{
	struct fleet_node *to = &self->nodes[node];

	if (to->phase == NODE_SILENT)
		to->phase = NODE_GREETED;
	to->real_ns = hello->real_ns;
	to->boot_ns = hello->boot_ns;
	to->clock_error_ns = hello->clock_error_ns;
	to->is_synchronized = hello->is_synchronized;
	to->processors = hello->processors;
	return fleet_set_text(self, &to->version, hello->version) ||
			       fleet_set_text(self, &to->machine, hello->machine) ||
			       fleet_set_text(self, &to->kernel, hello->kernel)
		       ? -ENOMEM
		       : 0;
}

int fleet_take_rank(struct fleet *self, uint32_t node, const struct rank_message *told)
{
	struct fleet_rank *rank = fleet_find_rank(self, node, (pid_t)told->pid);

	if (!rank &&
	    (self->nodes[node].rank_count >= OF_NODE_MAX || !told->pid || told->pid > INT32_MAX))
		return 0;
	if (!rank)
		rank = rank_add(self, node, (pid_t)told->pid);
	if (!rank)
		return -ENOMEM;
	if (told->process && told->process <= INT32_MAX)
		rank->pid = (pid_t)told->process;
	if (told->rank <= RANK_MAX && !rank->is_told) {
		rank->number = told->rank;
		rank->is_told = true;
	}
	rank->threads = told->threads;
	rank->size = told->size;
	rank->process_state = (char)told->process_state;
	return fleet_set_text(self, &rank->variable, told->variable) ||
			       fleet_set_text(self, &rank->program, told->program) ||
			       fleet_set_text(self, &rank->command, told->command) ||
			       fleet_set_text(self, &rank->user, told->user) ||
			       fleet_set_text(self, &rank->through, told->through) ||
			       fleet_set_text(self, &rank->sampler, told->sampler) ||
			       fleet_set_text(self, &rank->sampler_reasons,
					      told->sampler_reasons) ||
			       fleet_set_text(self, &rank->refusal, told->refusal)
		       ? -ENOMEM
		       : 0;
}

int fleet_set_state(struct fleet *self, struct fleet_rank *rank, enum rank_state state,
		    const char *reason)
{
	if (rank->is_settled && !rank_is_good(rank))
		return 0;
	self->settled += !rank->is_settled;
	rank->is_settled = true;
	rank->state = state;
	return fleet_set_text(self, &rank->reason, reason);
}

int fleet_take_state(struct fleet *self, uint32_t node, const struct state_message *state)
{
	struct fleet_rank *rank = fleet_find_rank(self, node, (pid_t)state->pid);

	return rank ? fleet_set_state(self, rank, (enum rank_state)state->state, state->reason) : 0;
}

int fleet_take_note(struct fleet *self, uint32_t node, const struct note_message *note)
{
	struct fleet_node *to = &self->nodes[node];

	if (to->note_count >= NOTES_OF_NODE_MAX)
		return 0;
	return fleet_set_text(self, &to->notes[to->note_count++], note->text);
}

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

int fleet_settle(struct fleet *self, const struct rank_set *wanted)
{
	int r;

	rows_sort(self->ranks, self->rank_count, sizeof(*self->ranks), compare_by_place);
	r = numbers_assign(self);
	if (!r)
		r = missing_add(self, wanted);
	rows_sort(self->ranks, self->rank_count, sizeof(*self->ranks), compare_by_number);
	/* The ranks have moved. */
	table_done(&self->by_pid);
	self->by_pid = (struct table){ 0 };
	for (size_t i = 0; !r && i < self->rank_count; i++)
		r = rank_index(self, i);
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
