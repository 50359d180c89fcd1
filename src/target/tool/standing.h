/*
 * What threads of ours may do, as numbers: a call that leaves the program with the same changes
 * nothing that we would have to leave for.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum id_kind {
	ID_REAL,
	ID_EFFECTIVE,
	ID_SAVED,
	ID_FILES,
	ID_KINDS,
};

struct standing {
	uint32_t users[ID_KINDS], groups[ID_KINDS];
	bool has_other_groups;
	bool is_modest; /* no_new_privs is set */
	uint64_t bounding, ambient;
};

/* Reads it on a thread of ours.  False: it is not to be seen, and nothing is known. */
bool standing_read(struct standing *ret);
