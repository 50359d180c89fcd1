/*
 * A site's means of starting programs on its nodes.  An engine is a file that ends in one of these,
 * and a line in the table of engines.c.  It lists the nodes of a job, and makes the command that
 * starts a node part there; limpet has no daemon, no port and no protocol of its own.
 */
#pragma once

#include "host/core/cleanup.h"
#include "host/fleet/child.h"
#include "host/fleet/request.h"

/* The options that select ranks, as typed; NULL or false where not given. */
struct fleet_who {
	const char *slurm, *mpirun, *hosts, *launcher;
	const char *k8s, *namespace;
	bool is_local;
	const char *match, *ranks, *variable;
	bool top_level, descendants;
	bool trusts_foreign; /* accept the table of another user's launcher */
};

struct planned_node {
	char *name;
	bool is_local;            /* it is this machine */
	char *trouble;            /* why it is not contacted; NULL: it is */
	struct known_rank *known; /* ranks that the launcher itself lists */
	size_t known_count, known_room;
};

/* The nodes of a job.  Zero is none. */
struct fleet_plan {
	const struct engine *engine; /* below */
	char *title;                 /* "Slurm job 17" */
	struct planned_node *nodes;
	size_t node_count, node_room;
	bool is_one_start; /* one command starts the node parts of all nodes */
	bool is_open;      /* further nodes may answer */
	bool is_foreign;   /* the list of ranks is another user's launcher's */
	struct find_options
		find; /* without what only a node knows; its texts are in `who` and here: */
	char *job, *step, *key;
	const char *launcher, *namespace;
};

void plan_done(struct fleet_plan *plan);
DEFINE_STRUCT_CLEANUP(fleet_plan, plan_done)

/* NULL: no memory. */
struct planned_node *plan_add_node(struct fleet_plan *plan, const char *name);
/* The hosts of a list. */
int plan_add_hosts(struct fleet_plan *ret, const char *list, struct err *err) MUST_CHECK;

/* How limpet is copied to a node. */
enum copy_way {
	COPY_NEVER, /* it is there, or the user installs it */
	COPY_INPUT, /* a shell reads it from its input: see node_script() */
	/* The engine itself copies, to all nodes at once; the copy removes itself.  Used when no
	 * node part could be started without. */
	COPY_BROADCAST,
};

/* A command that starts node parts. */
struct node_command {
	size_t node;         /* its index; with is_one_start: any */
	const char *request; /* one word of characters that no shell changes */
	const char *limpet;  /* its path there */
	uint64_t size_bytes; /* of limpet, for the copy */
	bool is_copied;      /* copy it even if it is there: the version differs */
};

struct engine {
	const char *name;
	enum copy_way copy;
	/* Fills in title, nodes, and how ranks are found there. */
	int (*plan)(struct fleet_plan *ret, const struct fleet_who *who, struct err *err);
	void (*command)(struct words *ret, const struct fleet_plan *plan,
			const struct node_command *command);
	/* For COPY_BROADCAST: removes copies that were never started, and so did not remove
	 * themselves. */
	void (*remove)(struct words *ret, const struct fleet_plan *plan);
};

/* Makes the plan for the options.  Exit code EXIT_USAGE if they select no engine, or two.  The
 * texts of `who` must outlive the plan. */
int plan_make(struct fleet_plan *ret, const struct fleet_who *who, struct err *err) MUST_CHECK;

/* `limpet fleet-node REQUEST` on this machine. */
void engine_command_local(struct words *ret, const struct node_command *command);
/* The script for a shell on the node: runs limpet if it is there, else a copy that it reads from
 * its input after it has printed SCRIPT_SENDS.  The caller frees it; NULL: no memory. */
#define SCRIPT_SENDS "limpet-copy-wanted"
char *node_script(const struct node_command *command);

/* ssh, also for engines that only determine the hosts themselves. */
void ssh_command(struct words *ret, const struct fleet_plan *plan,
		 const struct node_command *command);

struct slurm_job {
	char id[32], state[32];
	char nodes[65536]; /* a list in Slurm's syntax */
	uid_t user;        /* (uid_t)-1: not known */
};

/* From `squeue --format=%A|%T|%U|%N`.  -ESRCH: no job; -EEXIST: more than one; -E2BIG; -EPROTO. */
int slurm_job_parse(const char *text, struct slurm_job *ret) MUST_CHECK;
/* Marks dead nodes, from lines "NODE STATE".  0 or -ENOMEM. */
int slurm_states_apply(struct fleet_plan *plan, const char *states) MUST_CHECK;
/* Adds a node for each pod, from lines "POD PHASE".  0 or -ENOMEM. */
int kubernetes_pods_apply(struct fleet_plan *plan, const char *pods) MUST_CHECK;
