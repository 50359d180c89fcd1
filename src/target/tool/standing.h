/*
 * The rights of limpet's threads, as numbers: a call that sets the same rights is no reason to
 * detach.
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

/* Reads the rights, on limpet's thread. False: unreadable, nothing is known. */
bool standing_read(struct standing *ret);
