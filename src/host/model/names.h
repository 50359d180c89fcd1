/*
 * Names that a process gave to numbers in its records: kernels, devices, queues, streams.
 */
#pragma once

#include "shared/wire/record.h"

struct name_entry {
	uint64_t id;
	char *text;  /* NULL: an empty slot */
	char *title; /* of a kernel: as people write it; NULL: the text */
	uint32_t space;
	uint32_t parts; /* received without a gap */
};

/* Zero is empty. */
struct names {
	struct name_entry *items; /* hashed by id, a power of two of them */
	size_t count, room;
};

/* Adds a name, or the next part of one; a part that does not follow the last is ignored.  The
 * record has passed record_check().  0 or -ENOMEM. */
int names_add(struct names *names, const struct record_name *record) MUST_CHECK;

/* After the last name: finds titles.  0 or -ENOMEM. */
int names_finish(struct names *names) MUST_CHECK;

/* "" when it has none. */
const char *names_title(const struct names *names, enum name_space space, uint64_t id);

/* As it was written down; "" when it has none. */
const char *names_find(const struct names *names, enum name_space space, uint64_t id);

void names_done(struct names *names);
