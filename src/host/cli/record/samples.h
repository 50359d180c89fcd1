/*
 * The part of `limpet record` that is about samples: what was asked for, and what is told.
 */
#pragma once

#include "host/core/text/json.h"
#include "host/recorder/samples/sampling.h"
#include "host/symbols/symbol_file.h"

#define HZ_NOT_GIVEN UINT64_MAX

/* As typed. */
struct sample_words {
	uint64_t hz; /* HZ_NOT_GIVEN */
	bool off_cpu, children, is_system_wide;
	const char *sampler, *event;
	bool java_names, debuginfod;
};

/* Whether samples are asked for by name. */
bool samples_are_asked_for(const struct sample_words *words);

/* All but the process. */
int samples_options(const struct sample_words *words, struct sampling_options *ret,
		    struct err *err) MUST_CHECK;

/* What cannot be had together with -a, and why. */
struct all_conflict {
	bool is_asked;
	const char *what, *why, *fix;
};

/* With -a: refuses what is asked of the verb's own conflicts, and of those that samples have. */
int samples_check_all(const struct sample_words *words, const struct all_conflict *more,
		      size_t count, struct err *err) MUST_CHECK;

/* "at 99 Hz by bpf": what is done now. */
void samples_describe(struct sampling *sampling, const struct sampling_options *options, char *ret,
		      size_t room);

/* From now on debug files are asked for.  Fails where that cannot be. */
int samples_ask(struct debuginfod *debuginfod, struct err *err) MUST_CHECK;
/* What came of it, on stderr. */
void samples_tell_asked(const struct debuginfod *debuginfod);

/* Why no better way could be had, on stderr. */
void samples_explain(struct sampling *sampling, char told[SAMPLING_REASONS_MAX]);

/* One line for people; members of an object for programs. */
void samples_print(const struct sampling_totals *totals, bool is_system_wide, const char *path,
		   const struct recorded_contents *written);
void samples_print_json(struct json *json, const struct sampling_totals *totals,
			bool is_system_wide, const struct recorded_contents *written,
			const char *reasons);

/* What is to be said about them; -ENODATA with the reason when there are none. */
int samples_judge(const struct sampling_totals *totals, const struct sampling_options *options,
		  bool has_ended, struct err *err) MUST_CHECK;
