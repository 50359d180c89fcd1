/*
 * Where an output goes: a folder, which is held open, and a name in it.  A user who may write in
 * that folder can change what the name refers to at any moment, so nothing is followed, emptied or
 * opened again by its name, and links are followed only where no stranger can have put them.
 */
#pragma once

#include "host/core/err.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

struct output_location {
	int folder;              /* -1: it is a stream */
	int stream;              /* a pipe, a device or a descriptor of limpet's; -1: a file */
	char name[NAME_MAX + 1]; /* in the folder */
	bool is_taken;           /* there is such a file */
	bool is_empty;           /* and nothing in it */
	mode_t mode;             /* for the new file: private, or as its owner has set it */
};

#define OUTPUT_LOCATION_NONE ((struct output_location){ .folder = -1, .stream = -1 })

/* Only limpet's user and root can change this folder or file. */
bool output_is_trusted(const struct stat *present);

/* Changes nothing.  "/dev/stdout", "/dev/fd/3" and the like are those descriptors. */
int output_location_find(struct output_location *ret, const char *path, struct err *err) MUST_CHECK;
void output_location_done(struct output_location *location);

static inline void output_location_done_at_scope_end(struct output_location *location)
{
	output_location_done(location);
}

/* A new private file of that name; -EEXIST if anything has it already, even a dangling link.  The
 * descriptor or -errno. */
int output_location_create(const struct output_location *location, const char *name) MUST_CHECK;

/* A name beside the location's own that no other user can guess. */
int output_location_draft(const struct output_location *location,
			  char ret_name[NAME_MAX + 1]) MUST_CHECK;

/* A private folder under such a name, open; -errno. */
int output_location_draft_folder(const struct output_location *location,
				 char ret_name[NAME_MAX + 1]) MUST_CHECK;

/* Does the existing file begin with these bytes?  false also where it cannot be read. */
bool output_location_begins_with(const struct output_location *location, const void *mark,
				 size_t size);

/* Refuses a non-empty file that does not begin with this pattern (fnmatch), in which '.' matches
 * bytes of 0: it is not limpet's own. */
int output_check_stranger(const struct output_location *location, const char *path,
			  const char *pattern, struct err *err) MUST_CHECK;

/* The same refusal: it "is not a recording". */
int output_refuse_stranger(const char *path, const char *difference, struct err *err);

/* "write 'x': Permission denied", and the fix; returns the code. */
int output_explain(int code, const char *path, struct err *err);
