/*
 * A file that appears under its name when it is complete.  Until then it is beside it, called
 * ".name.XXXXXX".
 */
#pragma once

#include "host/core/err.h"

#include <stdio.h>

/* Zero is none. */
struct output_file {
	char *path, *temporary;
	FILE *out; /* nobody else may write to it: it takes no locks */
};

int output_open(struct output_file *ret, const char *path, struct err *err) MUST_CHECK;

/* Closes it and gives it its name; fails when not everything could be written. */
int output_commit(struct output_file *file, struct err *err) MUST_CHECK;

/* Nothing stays.  Also after a commit, and for none. */
void output_discard(struct output_file *file);

static inline void output_discard_at_scope_end(struct output_file *file)
{
	output_discard(file);
}

/* The folders that a file of this name would lie in, those that are missing made.  -ENOTDIR when
 * something else is in the way. */
int output_make_folders(const char *path, struct err *err) MUST_CHECK;

/* Why it could not be written, and what to do about it; returns the code. */
int output_explain(int code, const char *path, struct err *err);
