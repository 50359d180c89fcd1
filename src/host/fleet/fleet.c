/*
 * Handles the messages of nodes.  Runs at home.
 */
#include "host/fleet/fleet.h"

#include "host/core/room.h"
#include "host/core/text/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_MAX   (1u << 20)
#define OF_NODE_MAX 65536u
#define NODES_MAX   65536u

static void rank_free(struct fleet_rank *rank)
{
	free(rank->variable);
	free(rank->program);
	free(rank->command);
	free(rank->user);
	free(rank->through);
	free(rank->sampler);
	free(rank->sampler_reasons);
	free(rank->refusal);
	free(rank->reason);
	free(rank->recording);
}

static void node_free(struct fleet_node *node)
{
	free(node->name);
	free(node->version);
	free(node->machine);
	free(node->kernel);
	free(node->trouble);
	for (size_t i = 0; i < node->note_count; i++)
		free(node->notes[i]);
}

void fleet_done(struct fleet *self)
{
	for (size_t i = 0; i < self->rank_count; i++)
		rank_free(&self->ranks[i]);
	for (size_t i = 0; i < self->node_count; i++)
		node_free(&self->nodes[i]);
	free(self->ranks);
	free(self->nodes);
	free(self->title);
	table_done(&self->by_pid);
	*self = (struct fleet){ 0 };
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
	struct fleet_node node = { 0 };

	if (self->node_count >= NODES_MAX ||
	    make_room(&self->nodes, self->node_count, &self->node_room, sizeof(*self->nodes)) ||
	    text_set(&node.name, name) || text_set(&node.trouble, "") ||
	    text_set(&node.version, "") || text_set(&node.machine, "") ||
	    text_set(&node.kernel, "")) {
		node_free(&node);
		return NODE_NONE;
	}
	self->nodes[self->node_count] = node;
	return (uint32_t)self->node_count++;
}

struct fleet_rank *fleet_find_rank(const struct fleet *self, uint32_t node, pid_t top)
{
	const struct table_entry *entry = table_find(&self->by_pid, node, (uint64_t)top);

	return entry ? &self->ranks[entry->value] : NULL;
}

static int rank_fill(struct fleet_rank *rank, const struct rank_message *told)
{
	rank->threads = told->threads;
	rank->size = told->size;
	rank->process_state = (char)told->process_state;
	if (text_set(&rank->variable, told->variable) || text_set(&rank->program, told->program) ||
	    text_set(&rank->command, told->command) || text_set(&rank->user, told->user) ||
	    text_set(&rank->through, told->through) || text_set(&rank->sampler, told->sampler) ||
	    text_set(&rank->sampler_reasons, told->sampler_reasons) ||
	    text_set(&rank->refusal, told->refusal))
		return -ENOMEM;
	return 0;
}

/* With empty texts; NULL: no memory, or too many. */
static struct fleet_rank *rank_add(struct fleet *self, uint32_t node, pid_t top)
{
	static const struct rank_message nothing = { .variable = "",
						     .program = "",
						     .command = "",
						     .user = "",
						     .through = "",
						     .sampler = "",
						     .sampler_reasons = "",
						     .refusal = "" };
	struct fleet_rank rank = { .number = RANK_NONE, .node = node, .top = top, .pid = top };
	struct table_entry *entry;
	bool is_new;

	if (self->rank_count >= RANKS_MAX ||
	    make_room(&self->ranks, self->rank_count, &self->rank_room, sizeof(*self->ranks)) ||
	    rank_fill(&rank, &nothing) || text_set(&rank.reason, "") ||
	    text_set(&rank.recording, "")) {
		rank_free(&rank);
		return NULL;
	}
	if (top) {
		entry = table_make(&self->by_pid, node, (uint64_t)top, &is_new);
		if (!entry) {
			rank_free(&rank);
			return NULL;
		}
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
	if (text_set(&to->version, hello->version) || text_set(&to->machine, hello->machine) ||
	    text_set(&to->kernel, hello->kernel))
		return -ENOMEM;
	return 0;
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
	return rank_fill(rank, told);
}

int fleet_set_state(struct fleet *self, struct fleet_rank *rank, enum rank_state state,
		    const char *reason)
{
	if (rank->is_settled && !rank_is_good(rank))
		return 0;
	self->settled += !rank->is_settled;
	rank->is_settled = true;
	rank->state = state;
	return text_set(&rank->reason, reason);
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
	to->notes[to->note_count] = strdup(note->text);
	return to->notes[to->note_count] ? (to->note_count++, 0) : -ENOMEM;
}
