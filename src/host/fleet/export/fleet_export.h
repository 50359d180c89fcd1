/*
 * A recorded fleet as files for other programs.  The format decides how a rank appears; here ranks
 * get their numbers and nodes, and times of one clock.
 */
#pragma once

#include "host/fleet/fleet.h"
#include "host/model/model.h"

struct fleet_export {
	const char *folder;
	const struct fleet *fleet;
	const char *version; /* of limpet */
	unsigned view;       /* kinds of samples, as in profile.h; 0: the default */
	const char *output;  /* a file, or a folder with a file for each rank */
	/* The results. */
	uint64_t ranks, samples, calls;
	uint64_t unread;   /* recordings that could not be read */
	uint64_t cut;      /* incomplete recordings */
	uint64_t absent;   /* ranks without a recording */
	char trouble[256]; /* the problem of the first of these */
};

struct fleet_format {
	const char *name, *help;
	const char *extension; /* of a file, or of the files in a folder */
	bool is_folder;
	int (*write)(struct fleet_export *self, const struct fleet_format *format, struct err *err);
};

/* All of limpet export's formats for samples are written for all ranks together, of those for calls
 * some; others are a file for each rank.  NULL: unknown. */
const struct fleet_format *fleet_format_find(const char *name);
/* Visits each, in the order of the help. */
typedef void fleet_format_visitor(const struct fleet_format *format, void *context);
void fleet_formats_each(fleet_format_visitor *visit, void *context);

/* Writes to the named output.  -ENODATA: no rank has data for this format. */
int fleet_export_write(struct fleet_export *self, const struct fleet_format *format,
		       struct err *err) MUST_CHECK;

/* Visits one rank after the other: opened, named after its rank, with the time of day in place of
 * its node's clock.  Returns the visitor's first result other than 0. */
typedef int rank_visitor(struct fleet_export *self, struct model *model,
			 const struct fleet_rank *rank, void *context, struct err *err);
int fleet_export_each(struct fleet_export *self, rank_visitor *visit, void *context,
		      struct err *err) MUST_CHECK;

/* How many ranks are missing in it, or incomplete. */
static inline uint64_t fleet_export_lacks(const struct fleet_export *self)
{
	return self->unread + self->cut + self->absent;
}

/* The samples of all ranks as one recording: written to an empty file, whose descriptor this owns,
 * or with -1 to a new one. */
int fleet_export_merge(struct fleet_export *self, int file, const char *path,
		       struct err *err) MUST_CHECK;
