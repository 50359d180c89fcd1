/*
 * What the attach libraries need of liblimpet beside its public API: a thread in the caller records
 * what AMD's variables select, and writes the files at the end.  Only for these libraries: it may
 * change with each release, and all three are of the same one.
 */
#pragma once

#include <limpet/limpet.h>

#include <stdbool.h>

struct limpet_rocprofv3_options {
	size_t struct_size;
	int pid;
	bool has_children;
	const char *const *tools; /* further ones, each a library */
	size_t tool_count;
	/* Messages, of one or several lines; levels as in host/rocprofv3/listener.h. */
	void (*say)(int level, const char *text);
};

struct limpet_rocprofv3;

/* Returns when it is attached, or waits for its first collection period; NULL: it failed. */
struct limpet_rocprofv3 *
limpet_private_rocprofv3_begin(const struct limpet_rocprofv3_options *options,
			       struct limpet_error *error);

/* 0 when the descendants of a process may be followed without asking the user; else 1 with the
 * beginning of the question in `text`: "process 1 has 212 descendants of 6 users, which ...". */
int limpet_private_scope(int pid, char *text, size_t room);

/* Detaches, writes the files, and frees.  The end of the process is no failure. */
int limpet_private_rocprofv3_end(struct limpet_rocprofv3 *attached, struct limpet_error *error);
