/*
 * Where an output goes: a folder, which is held open, and a name in it.  Whoever may write in that
 * folder may change what the name stands for at any moment, so nothing is followed, emptied or
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
	int stream;              /* a pipe, a device, a descriptor of ours; -1: it is a file */
	char name[NAME_MAX + 1]; /* in the folder */
	bool is_taken;           /* there is such a file */
	bool is_empty;           /* and nothing in it */
	mode_t mode;             /* for the new file: ours alone, or what its owner made of it */
};

#define OUTPUT_LOCATION_NONE ((struct output_location){ .folder = -1, .stream = -1 })

/* Only we and the machine's own decide what is in this folder or file. */
bool output_is_trusted(const struct stat *present);

/* Looks, and changes nothing.  "/dev/stdout", "/dev/fd/3" and the like are those descriptors. */
int output_location_find(struct output_location *ret, const char *path, struct err *err) MUST_CHECK;
void output_location_done(struct output_location *location);

static inline void output_location_done_at_scope_end(struct output_location *location)
{
	output_location_done(location);
}

/* A new file of that name, ours alone; -EEXIST where there is anything already, be it a link that
 * leads nowhere.  The descriptor or -errno. */
int output_location_create(const struct output_location *location, const char *name) MUST_CHECK;

/* The same under a name that nobody can guess, beside the location's own. */
int output_location_draft(const struct output_location *location,
			  char ret_name[NAME_MAX + 1]) MUST_CHECK;

/* A folder under such a name that only we can enter, open; -errno. */
int output_location_draft_folder(const struct output_location *location,
				 char ret_name[NAME_MAX + 1]) MUST_CHECK;

/* Does the file that is there begin with these bytes?  false also where nobody can tell. */
bool output_location_begins_with(const struct output_location *location, const void *mark,
				 size_t size);

/* Refuses where a file is there that holds something and does not begin as this pattern (fnmatch)
 * says, in which '.' stands for bytes of 0: it is not limpet's own. */
int output_check_stranger(const struct output_location *location, const char *path,
			  const char *pattern, struct err *err) MUST_CHECK;

/* "write 'x': Permission denied", and what to do about it; returns the code. */
int output_explain(int code, const char *path, struct err *err);
