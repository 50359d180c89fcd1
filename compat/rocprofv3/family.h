/*
 * The processes of a job, each with a recording of its own: one, or one and its descendants.
 */
#pragma once

#include "face.h"

#include <stdbool.h>
#include <sys/types.h>

struct family_options {
	pid_t root;
	uint64_t doorstep; /* where the root waits, if it was started for this; 0 */
	bool has_children;
	const char *const *tools; /* further ones, each a library */
	size_t tool_count;
	uint32_t domains;             /* bits of enum trace_domain */
	const char *const *variables; /* to be kept of their environments, up to NULL */
	const char *folder;           /* for the recordings */
	const struct face *face;
};

/* What came of one process. */
struct family_record {
	pid_t pid;
	const char *path; /* of the recording */
	uint64_t records;
};

struct family;

int family_open(struct family **ret, const struct family_options *options,
		struct err *err) MUST_CHECK;

/* Attaches; leaves; may be repeated.  Between: now and then family_check(). */
int family_begin(struct family *family, struct err *err) MUST_CHECK;
int family_pause(struct family *family, struct err *err) MUST_CHECK;

/* Ends the recordings of processes that have ended; an error when one cannot be written. */
int family_check(struct family *family, struct err *err) MUST_CHECK;

/* Ends all recordings. */
int family_end(struct family *family, struct err *err) MUST_CHECK;

/* After the end: by number, the root first where it was recorded; false when there are no more. */
bool family_record(const struct family *family, size_t number, struct family_record *ret);

/* Also the files of the recordings, unless they are to be kept. */
void family_free(struct family *family, bool keeps_files);
