/*
 * What the user wants of rocprofv3, by options, by a file or by variables, and all texts of it.
 */
#pragma once

#include "host/export/amd/output/output.h"
#include "host/recorder/record_job.h"

#include <sys/types.h>

#define PROFILE_LIST_MAX     64u
#define PROFILE_SETTINGS_MAX 96u

struct profile_list {
	const char *items[PROFILE_LIST_MAX];
	size_t count;
};

/* Traces are named one by one, by groups (--hip-trace) and by sets (--sys-trace): the narrower
 * option decides, in any order. */
enum trace_rank { RANK_SET, RANK_GROUP, RANK_ONE, TRACE_RANKS };

struct traces {
	uint32_t wanted, unwanted; /* bits of enum trace_domain */
};

struct profile {
	const char *pid, *duration_ms; /* as given; NULL: not given */
	bool has_children, all_descendants;
	struct traces traces[TRACE_RANKS];
	uint32_t domains; /* the resulting ones */
	bool is_wide;     /* a set was named that AMD's tool makes larger: see settings.c */
	bool is_mangled, is_truncated;
	struct amd_output_options output;
	struct profile_list groups; /* of the summary */
	struct profile_list counters;
	unsigned counter_passes;                 /* so many times they were named */
	const char *extra_counters, *extra_text; /* a file of definitions, and its text */
	struct profile_list period_texts;
	const char *period_unit;
	struct period *periods;
	size_t period_count;
	const char *log_level, *input;
	const char *config_folder; /* of definitions of counters; NULL: as installed */
	unsigned job;              /* of the input file, from 0 */
	unsigned job_count;        /* that it has; 0: there is no file */
	char **command;            /* of a program to start, with its arguments; NULL: attach */
	bool lists, shows_help, shows_version;
	bool is_by_variables; /* not by a command line */

	/* The settings made, with their sources: an input file must not differ. */
	const char *given[PROFILE_SETTINGS_MAX];
	char **kept; /* texts owned here */
	size_t kept_count;
};

/* Nothing selected, AMD's defaults. */
static inline void profile_init(struct profile *ret)
{
	*ret = (struct profile){ 0 };
}

void profile_done(struct profile *profile);

/* A copy of the text that lives as long as the profile; NULL: no memory. */
const char *profile_keep(struct profile *profile, const char *text, size_t length);

/* Whether any trace is selected. */
bool profile_asks(const struct profile *profile);

/* Counters are named more than once: refused, in AMD's words. */
int profile_refuse_passes(const struct profile *profile, struct err *err);

/* After all settings: -EINVAL for settings that conflict, or if nothing is selected. */
int profile_finish(struct profile *profile, struct err *err) MUST_CHECK;

/* The process and the time, where they were named. */
int profile_pid(const struct profile *profile, pid_t *ret, struct err *err) MUST_CHECK;
int profile_duration(const struct profile *profile, uint64_t *ret_ns, struct err *err) MUST_CHECK;
