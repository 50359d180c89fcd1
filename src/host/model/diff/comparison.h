/*
 * Two recordings side by side: which functions correspond, each one's share of the samples, and
 * whether a difference is significant.
 */
#pragma once

#include "host/core/cleanup.h"
#include "host/model/samples/call_tree.h"
#include "host/model/samples/profile.h"

enum side { SIDE_A, SIDE_B, SIDES };

/* The part of one recording. */
struct compared_part {
	uint64_t self_ns, total_ns, self_count, total_count;
};

/* The same name in code of the same name is the same function; the executables of both recordings
 * are the same code, however they are called. */
struct compared_function {
	const char *name, *module;
	bool is_named;
	struct compared_part parts[SIDES];
};

/* All threads of one name: their numbers are not comparable. */
struct compared_thread {
	const char *name;
	uint32_t threads[SIDES];
	struct compared_part parts[SIDES]; /* of it the totals */
};

struct compared_side {
	const char *path; /* of the recording */
	struct model *model;
	struct profile profile; /* threads are distinguished */
	double even_samples;    /* the equivalent number of equal weight */
	uint32_t *functions;    /* the index in the comparison of each function of the model */
	uint32_t *threads;      /* and of each thread */
};

struct comparison {
	unsigned kinds; /* KIND_BIT() of the kinds included */
	struct compared_side sides[SIDES];
	struct compared_function *functions;
	struct compared_thread *threads;
	size_t function_count, function_room, thread_count, thread_room;
};

/* One share beside the other, in percent. */
struct share_change {
	double shares[SIDES];
	double points; /* B less A */
	double error;  /* 95 % of random differences are smaller */
	bool is_noise; /* the difference is no larger than that */
};

/* Of the path and model of both sides, which stay the caller's and must live as long.  0 or
 * -ENOMEM. */
int comparison_make(struct comparison *ret, const struct compared_side sides[SIDES],
		    unsigned kinds) MUST_CHECK;
void comparison_done(struct comparison *comparison);

DEFINE_STRUCT_CLEANUP(comparison, comparison_done)

/* Of these weights in A and in B. */
struct share_change comparison_change(const struct comparison *comparison, uint64_t a_ns,
				      uint64_t b_ns);

/* "A", "B". */
const char *side_name(enum side side);

/* "A: before.limpet: app (4711)". */
void comparison_title(const struct comparison *comparison, enum side side, char *ret, size_t room);

/* "990 samples in 10.001 s at 99 Hz by bpf; 0 lost; 99.80 % complete". */
void comparison_describe(const struct comparison *comparison, enum side side, char *ret,
			 size_t room);

#define COMPARISON_WARNINGS_MAX 8u
#define COMPARISON_WARNING_SIZE 320u

/* Reasons why the two are hard to compare, one sentence each; returns their number. */
size_t comparison_warnings(const struct comparison *comparison,
			   char ret[COMPARISON_WARNINGS_MAX][COMPARISON_WARNING_SIZE]);

/* The default kinds to compare: running samples if both have them, else all. */
unsigned comparison_kinds(const struct model *a, const struct model *b);

/* Values of functions are indexes in the comparison; the tree has no model.  profiles: of A and of
 * B, as they are to be laid upon each other.  of_entry: gets the nodes of their entries, to be
 * freed; NULL.  0 or -ENOMEM. */
int diff_tree_build(struct call_tree *ret, const struct comparison *comparison,
		    const struct profile *const profiles[SIDES],
		    uint32_t *of_entry[SIDES]) MUST_CHECK;

/* The name of a node. */
const char *diff_tree_name(const struct comparison *comparison, const struct tree_node *node);
