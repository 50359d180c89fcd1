/*
 * What a site has for starting programs on its nodes.  An engine is a file that ends in one of
 * these, and a line in the table of engines.c.  It says which nodes a job is on, and which command
 * starts a node part there; limpet has no daemon, no port and no protocol of its own.
 */
#pragma once

#include "host/fleet/request.h"
#include "host/fleet/words.h"

/* Whom, as typed; NULL or false where it was not. */
struct fleet_who {
	const char *slurm, *mpirun, *hosts, *launcher;
	const char *k8s, *namespace;
	bool is_local;
	const char *match, *ranks, *variable;
	bool top_level, descendants;
	bool trusts_foreign; /* the table of another user's launcher */
};

struct planned_node {
	char *name;
	bool is_local;            /* it is this machine */
	char *trouble;            /* why it is not even asked; NULL: it is */
	struct known_rank *known; /* ranks that the launcher itself tells */
	size_t known_count, known_room;
};

struct engine;

/* The nodes of a job.  Zero is none. */
struct fleet_plan {
	const struct engine *engine;
	char *title; /* "Slurm job 17" */
	struct planned_node *nodes;
	size_t node_count, node_room;
	bool is_one_start; /* one command starts the node parts of all nodes */
	bool is_open;      /* more nodes than these may answer */
	bool is_foreign;   /* the list of ranks is of another user's launcher */
	struct find_options
		find; /* but for what each node knows; its texts lie in `who` and here: */
	char *job, *step, *key;
	const char *launcher, *namespace;
};

void plan_done(struct fleet_plan *plan);

static inline void plan_done_at_scope_end(struct fleet_plan *plan)
{
	plan_done(plan);
}

/* NULL: no memory. */
struct planned_node *plan_add_node(struct fleet_plan *plan, const char *name);

/* How limpet gets to a node where it is not. */
enum copy_way {
	COPY_NEVER, /* it is there, or has to be put there by hand */
	COPY_INPUT, /* a shell takes it from its input: see node_script() */
	/* The engine itself copies, to all at once; the copy removes itself.  It is asked to when
	 * no node part could be started without. */
	COPY_BROADCAST,
};

/* A command that starts node parts. */
struct node_command {
	size_t node;         /* which one; with is_one_start: any */
	const char *request; /* one word of letters that no shell changes */
	const char *limpet;  /* its path there */
	uint64_t size_bytes; /* of limpet, for who copies it */
	bool is_copied;      /* copy it even if it is there: it was of another version */
};

struct engine {
	const char *name;
	enum copy_way copy;
	/* Is it this one that was asked for? */
	bool (*is_meant)(const struct fleet_who *who);
	/* Fills in title, nodes, and how ranks are found there. */
	int (*plan)(struct fleet_plan *ret, const struct fleet_who *who, struct err *err);
	void (*command)(struct words *ret, const struct fleet_plan *plan,
			const struct node_command *command);
	/* Of COPY_BROADCAST: removes copies that were never started, and so could not themselves.
	 */
	void (*remove)(struct words *ret, const struct fleet_plan *plan);
};

/* Ends with NULL. */
extern const struct engine *const engines[];

/* By what was asked for.  Exit code EXIT_USAGE where that is nothing, or two things at once.  The
 * texts of `who` must outlive the plan. */
int plan_make(struct fleet_plan *ret, const struct fleet_who *who, struct err *err) MUST_CHECK;

/* `limpet fleet-node REQUEST` here. */
void engine_command_local(struct words *ret, const struct node_command *command);
/* What a shell on the node runs: limpet where it is, else a copy that it takes from its input after
 * it has said SCRIPT_SENDS.  The caller's to free; NULL: no memory. */
#define SCRIPT_SENDS "limpet-copy-wanted"
char *node_script(const struct node_command *command);
