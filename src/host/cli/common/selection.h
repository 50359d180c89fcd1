/*
 * Options that select a part of a recording.  --from, --to: its times; --view: which samples;
 * --only: which of their frames; --full-paths: how files are called.
 */
#pragma once

#include "host/core/options.h"
#include "host/model/samples/profile.h"

struct shown_values {
	const char *only;
	bool full_paths;
};

/* A part of a recording, in time since its beginning. */
struct range_values {
	uint64_t from_ns, to_ns; /* UINT64_MAX: to its end */
};

#define RANGE_VALUES_ALL      \
	{                     \
		0, UINT64_MAX \
	}

/* "use only frames of python, ruby, ..., or native" */
extern const char only_help[];

/* Lines of a table of options, for such a struct at this offset. */
/* clang-format off */
#define ONLY_OPTION(field) \
	{ 0, "only", "LANGUAGE", only_help, (field) + offsetof(struct shown_values, only), OPTION_TEXT }
#define FULL_PATHS_OPTION(field) \
	{ 0, "full-paths", NULL, "show files and modules with their folders", (field) + offsetof(struct shown_values, full_paths) }
#define FROM_OPTION(field) \
	{ 0, "from", "TIME", "use only what is later than TIME after the beginning", \
	  (field) + offsetof(struct range_values, from_ns), OPTION_DURATION }
#define TO_OPTION(field) \
	{ 0, "to", "TIME", "use only what is earlier than TIME after the beginning", \
	  (field) + offsetof(struct range_values, to_ns), OPTION_DURATION }
/* clang-format on */

/* From now on the model has only that part. */
int range_apply(struct model *model, const char *path, const struct range_values *range,
		struct err *err) MUST_CHECK;

/* *ret_kinds is 0 without a name.  Exit code EXIT_USAGE when there is no such view; those of traced
 * calls (model/calls/call_view.h) must be allowed. */
int view_find(const char *name, bool allows_calls, unsigned *ret_kinds, struct err *err) MUST_CHECK;

/* A recording of samples that has none of these is no success: -ENODATA with the exit code for it.
 */
int view_check(const struct samples *samples, const char *path, unsigned kinds,
	       struct err *err) MUST_CHECK;

/* The language of --only: LANGUAGE_ALL where none is named; exit code EXIT_USAGE when there is no
 * such one. */
int only_find(const struct shown_values *values, unsigned *ret, struct err *err) MUST_CHECK;

/* Limits the model to the shown part.  -ENODATA, with its exit code: that is empty. */
int only_apply(struct model *model, const char *path, const struct shown_values *values,
	       struct err *err) MUST_CHECK;
