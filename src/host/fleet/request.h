/*
 * Home's request to a node part: one argument of its command line, of characters that no shell
 * changes.
 */
#pragma once

#include "host/core/err.h"
#include "host/fleet/rank.h"

#include <sys/types.h>

enum fleet_action {
	FLEET_PS,
	FLEET_DUMP,
	FLEET_RECORD,
	FLEET_TOP,
	FLEET_ACTIONS,
};

/* How a node part finds its ranks. */
enum find_way {
	FIND_VARIABLES, /* processes whose variables have a rank */
	FIND_NAME,      /* processes of that name */
	FIND_PIDS,      /* these */
	FIND_SLURM,     /* those of a Slurm job */
	FIND_HYDRA,     /* descendants of the proxy of that control port */
	FIND_WAYS,
};

/* Which processes of a rank are profiled. */
enum rank_family {
	FAMILY_WORKER,      /* one process: the rank's own, or the one run by wrappers */
	FAMILY_TOP_LEVEL,   /* the topmost one, even a wrapper */
	FAMILY_DESCENDANTS, /* that one and all its descendants */
	FAMILIES,
};

struct known_rank {
	uint32_t rank;
	pid_t pid;
};

struct find_options {
	enum find_way way;
	enum rank_family family;
	bool has_ranks; /* only these: */
	struct rank_set ranks;
	const char *name;       /* of FIND_NAME */
	const char *variable;   /* with the rank; "": the best one found */
	const char *job, *step; /* of FIND_SLURM; step "": any */
	const char *key;        /* of FIND_HYDRA */
	bool has_owner;         /* only processes of this user: */
	uint32_t owner;
	struct known_rank *known; /* of FIND_PIDS */
	size_t known_count;
};

#define DUMP_TIMES_MAX 100u

struct dump_wish {
	uint32_t times;
	uint64_t interval_ns;
	bool kernel_frames, all_threads, no_lines;
	const char *sampler; /* "": the best */
};

#define RECORD_WORDS_MAX 256u

struct record_wish {
	/* Home's folder for recordings, and the mark in its fleet.json: a node part that finds both
	 * writes there.  "": recordings are sent. */
	const char *folder, *mark;
	uint64_t duration_ns; /* UINT64_MAX: until it is stopped */
	const char **words;   /* options of limpet record */
	size_t word_count;
};

struct top_wish {
	uint32_t hz;
	const char *sampler;  /* "" or NULL: the best */
	uint64_t duration_ns; /* UINT64_MAX: until it is stopped */
};

struct node_request {
	enum fleet_action action;
	const char *node;       /* home's name for it; "": its own */
	bool is_copy;           /* limpet there was copied for this, and removes itself */
	uint64_t limit_ns;      /* then the node part ends by itself */
	uint64_t rank_limit_ns; /* for reading one rank, which is then given up */
	struct find_options find;
	struct dump_wish dump;
	struct record_wish record;
	struct top_wish top;
	void *bytes; /* of a request that was read: the memory of its texts */
};

/* The caller frees it; NULL: no memory. */
char *request_write(const struct node_request *request);

/* -EPROTO: invalid, or of another version. */
int request_read(struct node_request *ret, const char *text, struct err *err) MUST_CHECK;
/* For one that was read; zero is allowed. */
void request_done(struct node_request *request);
