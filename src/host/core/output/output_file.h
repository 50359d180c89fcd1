/*
 * The only way in which limpet makes files.  No existing file is truncated or written: a new file
 * is created with O_EXCL, for its owner alone (0600), and renamed.  Devices and pipes are written
 * to as they are.
 *
 *   struct output_file       appears under its name when it is complete, as exports do
 *   struct output_begun      has its name as soon as there is something in it, as recordings do
 */
#pragma once

#include "host/core/output/output_location.h"

#include <stdio.h>

/* Zero is none. */
struct output_file {
	char *path; /* as given */
	FILE *out;  /* used by one thread: stdio takes no locks */
	struct output_location location;
	char draft[NAME_MAX + 1]; /* its name until it is complete; "" for a stream, and after it */
	/* A private folder with the draft, and its descriptor; "" for none. */
	char own_folder[NAME_MAX + 1];
	int own_fd;
	/* For libraries that open files by name: a path to the draft that no other user can
	 * redirect. */
	char reachable[NAME_MAX + 64];
};

int output_open(struct output_file *ret, const char *path, struct err *err) MUST_CHECK;

/* The same with a path to the draft, which is empty, in place of `out`.  A stream has none. */
int output_open_named(struct output_file *ret, const char *path, struct err *err) MUST_CHECK;

/* Closes it and renames it; fails when not everything could be written. */
int output_commit(struct output_file *file, struct err *err) MUST_CHECK;

/* Removes the draft, if there is one.  Also after a commit. */
void output_discard(struct output_file *file);

static inline void output_discard_at_scope_end(struct output_file *file)
{
	output_discard(file);
}

/* A file that can be read while it grows. */
struct output_begun {
	int fd; /* -1: none */
	struct output_location location;
	char draft[NAME_MAX + 1]; /* its name until there is something in it; "": it has its own */
};

#define OUTPUT_BEGUN_NONE ((struct output_begun){ .fd = -1, .location = OUTPUT_LOCATION_NONE })

/* Gets its name at once, or, if a non-empty file has it, by output_publish().  Such a file must
 * begin with these bytes, which mark it as limpet's. */
int output_begin(struct output_begun *ret, const char *path, const void *mark, size_t size,
		 struct err *err) MUST_CHECK;

/* Replaces the existing file.  0 also if the file has its name already. */
int output_publish(struct output_begun *file) MUST_CHECK;

/* Closes it; without a name it is removed, and the existing file stays.  0, or why not everything
 * was written. */
int output_end(struct output_begun *file);

/* The same for a file that was never written: also removes it, unless it existed before. */
void output_abandon(struct output_begun *file);

/* Only where there is nothing of that name: -EEXIST else.  The descriptor, or -errno. */
int output_begin_new(const char *path) MUST_CHECK;

/* Makes the missing folders for a file of this name.  -ENOTDIR when another kind of file is in the
 * way. */
int output_make_folders(const char *path, struct err *err) MUST_CHECK;
/* A folder and those above it; a new one is private to its owner. */
int output_make_private_folder(const char *path, struct err *err) MUST_CHECK;
