/*
 * Options about samples, which several verbs have, and whether what was sampled suffices.
 */
#pragma once

#include "host/recorder/samples/sampling.h"
#include "host/symbols/symbol_file.h"

#define HZ_NOT_GIVEN UINT64_MAX

/* The options as typed. */
struct sample_words {
	uint64_t hz; /* HZ_NOT_GIVEN */
	bool off_cpu, children, is_system_wide;
	const char *sampler, *event;
	bool java_names, debuginfod;
};

/* All but the process. */
int samples_options(const struct sample_words *words, struct sampling_options *ret,
		    struct err *err) MUST_CHECK;

/* An option that conflicts with -a, and why. */
struct all_conflict {
	bool is_given;
	const char *what, *why, *fix;
};

/* With -a: refuses the verb's own conflicting options, and those of samples. */
int samples_check_all(const struct sample_words *words, const struct all_conflict *more,
		      size_t count, struct err *err) MUST_CHECK;

/* Enables requests for debug files.  Fails where that is not possible. */
int debuginfod_enable(struct debuginfod *debuginfod, struct err *err) MUST_CHECK;
/* Prints the result of the requests, on stderr. */
void debuginfod_report(const struct debuginfod *debuginfod);

/* The stacks of these samples. */
struct stack_ends sampling_ends(const struct sampling_totals *totals, bool is_system_wide);

/* Prints the warnings about them; -ENODATA with the reason when there are none. */
int samples_judge(const struct sampling_totals *totals, const struct sampling_options *options,
		  bool has_ended, struct err *err) MUST_CHECK;
