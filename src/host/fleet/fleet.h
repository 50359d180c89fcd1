/*
 * A job as home knows it: its nodes and ranks, and the state of each.  Filled in from the messages
 * of node parts, which are not trusted.
 */
#pragma once

#include "host/core/cleanup.h"
#include "host/core/pool.h"
#include "host/core/table.h"
#include "host/fleet/message.h"
#include "host/fleet/rank.h"

#include <sys/types.h>

#define NODE_NONE         UINT32_MAX
#define NOTES_OF_NODE_MAX 16u

struct fleet_rank {
	uint32_t number; /* if nothing gave it, assigned in the order of nodes and pids */
	bool is_told;    /* its number is from a variable or a launcher */
	uint32_t node;   /* NODE_NONE: not known */
	pid_t top;       /* its topmost process, which identifies it on its node; 0: not known */
	pid_t pid;       /* the profiled process; 0: not known */
	uint32_t size, threads;
	char process_state; /* 0: not known */
	const char *variable, *program, *command, *user, *through;
	const char *sampler, *sampler_reasons, *refusal;
	enum rank_state state;
	bool is_settled; /* its state is known */
	const char *reason;
	const char *recording; /* name of its file in the folder; "": there is none */
};

enum node_phase {
	NODE_SILENT,  /* no message yet */
	NODE_GREETED, /* its greeting has come */
	NODE_ENDED,   /* its end mark has come */
	NODE_LOST,    /* it has stopped sending without an end mark */
};

struct fleet_node {
	const char *name;
	enum node_phase phase;
	const char *version, *machine, *kernel;
	const char *trouble; /* why it is silent or lost; "" */
	uint64_t real_ns, boot_ns, clock_error_ns;
	bool is_synchronized;
	uint32_t processors;
	uint64_t lost_lines;
	const char *notes[NOTES_OF_NODE_MAX];
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
	struct pool texts;   /* of nodes and ranks */
	uint64_t settled;    /* ranks with a state */
	bool is_interrupted; /* a signal came before all had ended */
};

void fleet_done(struct fleet *fleet);
DEFINE_STRUCT_CLEANUP(fleet, fleet_done)

/* Sets one of its texts to a copy.  0 or -ENOMEM. */
int fleet_set_text(struct fleet *fleet, const char **ret, const char *text) MUST_CHECK;

/* Its number; NODE_NONE: no memory. */
uint32_t fleet_add_node(struct fleet *fleet, const char *name);
/* By name; NODE_NONE: unknown. */
uint32_t fleet_find_node(const struct fleet *fleet, const char *name);

/* Adds a rank that is known before its node sends anything.  0 or -ENOMEM. */
int fleet_expect_rank(struct fleet *fleet, uint32_t node, uint32_t number, pid_t pid) MUST_CHECK;
/* By node and topmost process; NULL. */
struct fleet_rank *fleet_find_rank(const struct fleet *fleet, uint32_t node, pid_t top);

/* Take a message of a node part.  0 or -ENOMEM. */
int fleet_take_hello(struct fleet *fleet, uint32_t node,
		     const struct hello_message *hello) MUST_CHECK;
int fleet_take_rank(struct fleet *fleet, uint32_t node, const struct rank_message *rank) MUST_CHECK;
int fleet_take_state(struct fleet *fleet, uint32_t node,
		     const struct state_message *state) MUST_CHECK;
int fleet_take_note(struct fleet *fleet, uint32_t node, const struct note_message *note) MUST_CHECK;

/* Sets its state, if it has none yet, or a better one.  0 or -ENOMEM. */
int fleet_set_state(struct fleet *fleet, struct fleet_rank *rank, enum rank_state state,
		    const char *reason) MUST_CHECK;

/* After the last message: assigns missing numbers, adds missing ranks, and gives each a state.
 * `wanted` may be NULL: all.  0 or -ENOMEM. */
int fleet_settle(struct fleet *fleet, const struct rank_set *wanted) MUST_CHECK;

/* The request was fulfilled, by its node's message. */
static inline bool rank_is_good(const struct fleet_rank *rank)
{
	return rank->state == RANK_DONE || rank->state == RANK_IDLE;
}

/* The number of ranks in this state. */
uint64_t fleet_count(const struct fleet *fleet, enum rank_state state);

/* The numbers of these ranks. */
int fleet_ranks_in(const struct fleet *fleet, enum rank_state state,
		   struct rank_set *ret) MUST_CHECK;

/* Nodes without an end mark. */
uint64_t fleet_count_silent(const struct fleet *fleet);

/* The result of the whole job: 0; or the error with its exit code, EXIT_PARTLY if some ranks were
 * reached. */
int fleet_judge(const struct fleet *fleet, struct err *err) MUST_CHECK;
