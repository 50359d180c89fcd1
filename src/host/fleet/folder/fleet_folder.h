/*
 * The folder of a recorded fleet: one recording for each rank, and fleet.json, which describes each
 * rank and the state of those without one.  fleet.json exists from the beginning: if it has no end,
 * limpet was killed, and the recordings present count.
 */
#pragma once

#include "host/core/cleanup.h"
#include "host/fleet/fleet.h"

#define FLEET_MARK_MAX 33u

struct fleet_folder {
	char *path;                /* absolute */
	char mark[FLEET_MARK_MAX]; /* random: how nodes recognise the same folder */
	uint64_t begin_ns;         /* CLOCK_REALTIME */
	const char *version;       /* of limpet */
	const char *options;       /* of the recording, for people; "" */
};

/* Makes it, with a fleet.json without ranks.  An existing folder must be empty.  The caller owns
 * the texts. */
int fleet_folder_make(struct fleet_folder *ret, const char *path, const char *version,
		      const char *options, struct err *err) MUST_CHECK;
void fleet_folder_done(struct fleet_folder *folder);
DEFINE_STRUCT_CLEANUP(fleet_folder, fleet_folder_done)

/* Writes it again with everything known; `is_whole`: at the end. */
int fleet_folder_write(const struct fleet_folder *folder, const struct fleet *fleet, bool is_whole,
		       struct err *err) MUST_CHECK;

/* "DIR/NAME": the caller frees it; NULL: no memory. */
char *fleet_folder_path(const char *folder, const char *name);

/* The contents of a folder: nodes, ranks with their states and files.  Without a fleet.json, its
 * recordings count as ranks: *ret_is_plain.  *ret is zero before. */
int fleet_folder_read(const char *path, struct fleet *ret, bool *ret_is_plain,
		      struct err *err) MUST_CHECK;

/* Parses a fleet.json; -EPROTO: invalid.  *ret is zero before. */
int fleet_json_read(const char *text, size_t size, struct fleet *ret) MUST_CHECK;
