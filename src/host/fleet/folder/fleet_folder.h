/*
 * The folder of a recorded fleet: one recording for each rank, and fleet.json, which says what each
 * is and what became of those that have none.  fleet.json is there from the beginning: a folder
 * without its end is one whose limpet has died, and what is in it counts.
 */
#pragma once

#include "host/fleet/fleet.h"

#define FLEET_MARK_MAX 33u

struct fleet_folder {
	char *path;                /* absolute */
	char mark[FLEET_MARK_MAX]; /* by chance: how nodes know that they see the same folder */
	uint64_t begin_ns;         /* CLOCK_REALTIME */
	const char *version;       /* of limpet */
	const char *options;       /* that it was recorded with, for people; "" */
};

/* Makes it, with a fleet.json that has no ranks yet.  A folder that is there must be empty.  Texts
 * stay the caller's. */
int fleet_folder_make(struct fleet_folder *ret, const char *path, const char *version,
		      const char *options, struct err *err) MUST_CHECK;
void fleet_folder_done(struct fleet_folder *folder);

static inline void fleet_folder_done_at_scope_end(struct fleet_folder *folder)
{
	fleet_folder_done(folder);
}

/* The same with everything that is known; `is_whole`: at the end. */
int fleet_folder_write(const struct fleet_folder *folder, const struct fleet *fleet, bool is_whole,
		       struct err *err) MUST_CHECK;

/* "DIR/NAME": the caller's to free; NULL: no memory. */
char *fleet_folder_path(const char *folder, const char *name);

/* What a folder has: nodes, ranks with their states and files.  One without a fleet.json is taken
 * for recordings of ranks: *ret_is_plain.  *ret is zero before. */
int fleet_folder_read(const char *path, struct fleet *ret, bool *ret_is_plain,
		      struct err *err) MUST_CHECK;

/* The text of a fleet.json; -EPROTO: it is none.  *ret is zero before. */
int fleet_json_read(const char *text, size_t size, struct fleet *ret) MUST_CHECK;
