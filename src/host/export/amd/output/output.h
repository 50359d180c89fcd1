/*
 * All files of rocprofv3, from a model: of each requested format, for each process, under names
 * made by its rules, and the summary.
 */
#pragma once

#include "host/export/amd/output/summary.h"
#include "host/export/amd/view/agents.h"
#include "host/export/amd/view/amd.h"

enum amd_format {
	AMD_FORMAT_ROCPD = 1,
	AMD_FORMAT_CSV = 2,
	AMD_FORMAT_JSON = 4,
	AMD_FORMAT_PFTRACE = 8,
	AMD_FORMAT_LIMPET = 16, /* the recording itself, without any filter */
};

/* Names in use, if several models are written after each other.  Begins as all 0. */
struct amd_output_names {
	char **items;
	size_t count;
};
void amd_output_names_done(struct amd_output_names *names);

struct amd_output_options {
	unsigned formats;      /* enum amd_format, or'ed */
	const char *directory; /* -d, a pattern; NULL or "": the present one */
	const char *file;      /* -o, a pattern; NULL or "": "%hostname%/%pid%" */
	bool has_stats;        /* --stats: files of statistics with csv */
	enum kernel_form form; /* -M, -T */
	bool is_renamed;       /* --kernel-rename */
	struct kernel_filter_options filter;
	struct region_options regions; /* --selected-regions */
	enum agent_index agent_index;  /* -A */
	bool is_by_queue;              /* --group-by-queue: else by stream, where HIP is used */
	struct amd_summary_options summary; /* is_indented is found out */
	const char
		*summary_output; /* "stdout", "stderr", or a name for NAME_it.txt; NULL: stderr */
	/* Finds variables that the recording lacks; may be NULL. */
	const char *(*variable)(void *context, const char *name);
	/* Called for each complete file, and for notes to the user; may be NULL. */
	void (*tell_file)(void *context, const char *path);
	void (*tell_note)(void *context, const char *note);
	void *context;
	struct amd_output_names *names; /* that earlier models have, and this one adds to; NULL */
};

/* The results. */
struct amd_output_result {
	uint64_t events;  /* that the filters let through, of all processes */
	uint64_t counted; /* kernels, with or without values */
	uint32_t files;
};

/* Checks the options by themselves: -EINVAL with the reason.  Before anything is recorded. */
int amd_output_check(const struct amd_output_options *options, struct err *err) MUST_CHECK;

/*
 * Replaces existing files, as AMD's tool does; another kind of file in place of a folder is an
 * error.  Processes with equal names, here and in `names`, get "_PID" appended, all but the first.
 * Databases are written also without any data, other files are not.
 */
int amd_output_write(struct model *model, const struct amd_output_options *options,
		     struct amd_output_result *ret, struct err *err) MUST_CHECK;
