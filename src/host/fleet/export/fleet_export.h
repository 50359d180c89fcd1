/*
 * A recorded fleet as files that other programs read.  What each rank becomes is the format's own
 * matter; that ranks keep their numbers and nodes, and that their times are of one clock, is ours.
 */
#pragma once

#include "host/fleet/fleet.h"
#include "host/model/model.h"

struct fleet_export {
	const char *folder;
	const struct fleet *fleet;
	const char *version; /* of limpet */
	unsigned view;       /* kinds of samples, as in profile.h; 0: the usual ones */
	const char *output;  /* a file, or a folder of a file for each rank */
	/* What it came to. */
	uint64_t ranks, samples, calls;
	uint64_t unread;   /* recordings that could not be read */
	uint64_t cut;      /* that are not complete */
	uint64_t absent;   /* ranks without one */
	char trouble[256]; /* what is wrong with the first of these */
};

struct fleet_format {
	const char *name, *help;
	const char *extension; /* of a file, or of the files in a folder */
	bool is_folder;
	int (*write)(struct fleet_export *self, const struct fleet_format *format, struct err *err);
};

/* Every format of samples that limpet export has is written of all ranks together, of calls some;
 * others are a file for each rank.  NULL: there is none. */
const struct fleet_format *fleet_format_find(const char *name);
/* Each, in the order in which people are told. */
typedef void fleet_format_visitor(const struct fleet_format *format, void *context);
void fleet_formats_each(fleet_format_visitor *visit, void *context);

/* With the output that it names.  -ENODATA: no rank has anything for this format. */
int fleet_export_write(struct fleet_export *self, const struct fleet_format *format,
		       struct err *err) MUST_CHECK;

/* One rank after the other: opened, named after its rank, with the time of day in place of its
 * node's own clock.  What the visitor answered when that was not 0. */
typedef int rank_visitor(struct fleet_export *self, struct model *model,
			 const struct fleet_rank *rank, void *context, struct err *err);
int fleet_export_each(struct fleet_export *self, rank_visitor *visit, void *context,
		      struct err *err) MUST_CHECK;

/* How many ranks are missing in it, or not complete. */
static inline uint64_t fleet_export_lacks(const struct fleet_export *self)
{
	return self->unread + self->cut + self->absent;
}

/* The samples of all as one recording: in an empty file, whose descriptor is taken, or, with -1, in
 * one that is made. */
int fleet_export_merge(struct fleet_export *self, int file, const char *path,
		       struct err *err) MUST_CHECK;
