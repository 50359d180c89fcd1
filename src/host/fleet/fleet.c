/*
 * Handles the messages of nodes.  Runs at home.
 */
#include "host/fleet/fleet.h"

#include "host/core/room.h"

#include <errno.h>
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
	struct table_entry *entry;
	bool is_new;

	if (self->rank_count >= RANKS_MAX ||
	    make_room(&self->ranks, self->rank_count, &self->rank_room, sizeof(*self->ranks)))
		return NULL;
	if (top) {
		entry = table_make(&self->by_pid, node, (uint64_t)top, &is_new);
		if (!entry)
			return NULL;
		entry->value = self->rank_count;
	}
	if (node != NODE_NONE)
		self->nodes[node].rank_count++;
	self->ranks[self->rank_count] = rank;
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
