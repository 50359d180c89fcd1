/*
 * The only way in which limpet makes files.  Nothing that is there is emptied or written into: the
 * new file is another one, made with O_EXCL, for its owner alone (0600), and takes the name by a
 * rename.  Devices and pipes are written to as they are.
 *
 *   struct output_file       appears under its name when it is complete, as exports do
 *   output_begin()           has its name from the start, as recordings do
 */
#pragma once

#include "host/core/output_place.h"

#include <stdio.h>

/* Zero is none. */
struct output_file {
	char *path; /* as it was given */
	FILE *out;  /* nobody else may write to it: it takes no locks */
	struct output_place place;
	char draft[NAME_MAX + 1]; /* its name until it is complete; "" for a stream, and after it */
	/* A folder for ourselves alone that the draft is in, and its descriptor; "" for none. */
	char own_folder[NAME_MAX + 1];
	int own_fd;
	/* For libraries that open files by name: a path to the draft that nobody else can turn. */
	char reachable[NAME_MAX + 64];
};

int output_open(struct output_file *ret, const char *path, struct err *err) MUST_CHECK;

/* The same with a path to the draft, which is empty, in place of `out`.  A stream has none. */
int output_open_named(struct output_file *ret, const char *path, struct err *err) MUST_CHECK;

/* Closes it and gives it its name; fails when not everything could be written. */
int output_commit(struct output_file *file, struct err *err) MUST_CHECK;

/* Nothing stays.  Also after a commit, and for none. */
void output_discard(struct output_file *file);

static inline void output_discard_at_scope_end(struct output_file *file)
{
	output_discard(file);
}

/* Takes the name at once, in place of a file that is there.  The descriptor, or -errno. */
int output_begin(const char *path, struct err *err) MUST_CHECK;

/* Only where there is nothing of that name: -EEXIST else.  The descriptor, or -errno. */
int output_begin_new(const char *path) MUST_CHECK;

/* The folders that a file of this name would lie in, those that are missing made.  -ENOTDIR when
 * something else is in the way. */
int output_make_folders(const char *path, struct err *err) MUST_CHECK;
