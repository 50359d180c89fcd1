/*
 * A job as home sees it: its nodes and ranks, and what became of each.  Filled in from what node
 * parts tell, none of which is believed.
 */
#pragma once

#include "host/core/table.h"
#include "host/fleet/message.h"
#include "host/fleet/rank_set.h"

#include <sys/types.h>

#define NODE_NONE         UINT32_MAX
#define NOTES_OF_NODE_MAX 16u

struct fleet_rank {
	uint32_t number; /* also where nothing told it: then given in the order of nodes and pids */
	bool is_told;    /* it has its number from a variable or a launcher */
	uint32_t node;   /* NODE_NONE: nobody has said where it is */
	pid_t top;       /* its topmost process, by which its node names it; 0: not known */
	pid_t pid;       /* what is looked at; 0: not known */
	uint32_t size, threads;
	char process_state; /* 0: not known */
	char *variable, *program, *command, *user, *through;
	char *sampler, *sampler_reasons, *refusal;
	enum rank_state state;
	bool is_settled; /* a state was told */
	char *reason;
	char *recording; /* name of its file in the folder; "": there is none */
};

enum node_phase {
	NODE_SILENT,  /* it has not said anything */
	NODE_GREETED, /* it speaks */
	NODE_ENDED,   /* it has said all it had to say */
	NODE_LOST,    /* it will say no more, and has not ended */
};

struct fleet_node {
	char *name;
	enum node_phase phase;
	char *version, *machine, *kernel;
	char *trouble; /* why it is silent or lost; "" */
	uint64_t real_ns, boot_ns, clock_error_ns;
	bool is_synchronized;
	uint32_t processors;
	uint64_t lost_lines;
	char *notes[NOTES_OF_NODE_MAX];
	size_t note_count;
	uint64_t rank_count;
};

struct fleet {
	char *title; /* "Slurm job 17" */
	struct fleet_node *nodes;
	size_t node_count, node_room;
	struct fleet_rank *ranks; /* after fleet_settle() by number */
	size_t rank_count, rank_room;
	struct table by_pid; /* (node, topmost pid): its index */
	uint64_t settled;    /* ranks that have a state */
	bool is_interrupted; /* a signal came before all had ended */
};

void fleet_done(struct fleet *fleet);

static inline void fleet_done_at_scope_end(struct fleet *fleet)
{
	fleet_done(fleet);
}

/* Its number; NODE_NONE: no memory. */
uint32_t fleet_add_node(struct fleet *fleet, const char *name);
/* By name; NODE_NONE: there is none. */
uint32_t fleet_find_node(const struct fleet *fleet, const char *name);

/* One that is known before its node says anything.  0 or -ENOMEM. */
int fleet_expect_rank(struct fleet *fleet, uint32_t node, uint32_t number, pid_t pid) MUST_CHECK;
/* By node and topmost process; NULL. */
struct fleet_rank *fleet_find_rank(const struct fleet *fleet, uint32_t node, pid_t top);

/* What a node part has told.  0 or -ENOMEM. */
int fleet_take_hello(struct fleet *fleet, uint32_t node,
		     const struct hello_message *hello) MUST_CHECK;
int fleet_take_rank(struct fleet *fleet, uint32_t node, const struct rank_message *rank) MUST_CHECK;
int fleet_take_state(struct fleet *fleet, uint32_t node,
		     const struct state_message *state) MUST_CHECK;
int fleet_take_note(struct fleet *fleet, uint32_t node, const struct note_message *note) MUST_CHECK;

/* Its state, where it has none yet, or a worse one.  0 or -ENOMEM. */
int fleet_set_state(struct fleet *fleet, struct fleet_rank *rank, enum rank_state state,
		    const char *reason) MUST_CHECK;

/* After the last message: numbers for those that have none, those that are missing, and a state
 * for each.  `wanted` may be NULL: all.  0 or -ENOMEM. */
int fleet_settle(struct fleet *fleet, const struct rank_set *wanted) MUST_CHECK;

/* All that was asked for is there, as its node says. */
static inline bool rank_is_good(const struct fleet_rank *rank)
{
	return rank->state == RANK_DONE || rank->state == RANK_IDLE;
}

/* How many are in this state. */
uint64_t fleet_count(const struct fleet *fleet, enum rank_state state);

/* The numbers of those that are. */
int fleet_ranks_in(const struct fleet *fleet, enum rank_state state,
		   struct rank_set *ret) MUST_CHECK;

/* Nodes that have not said all they had to say. */
uint64_t fleet_count_silent(const struct fleet *fleet);

/* What the whole of it came to: 0; or the error with its exit code, EXIT_PARTLY where some ranks
 * are there. */
int fleet_judge(const struct fleet *fleet, struct err *err) MUST_CHECK;
