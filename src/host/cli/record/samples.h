/*
 * The part of `limpet record` about samples: its options and messages.
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

/* Whether the user requested samples by an option. */
bool samples_are_asked_for(const struct sample_words *words);

/* All but the process. */
int samples_options(const struct sample_words *words, struct sampling_options *ret,
		    struct err *err) MUST_CHECK;

/* An option that conflicts with -a, and why. */
struct all_conflict {
	bool is_asked;
	const char *what, *why, *fix;
};

/* With -a: refuses the verb's own conflicting options, and those of samples. */
int samples_check_all(const struct sample_words *words, const struct all_conflict *more,
		      size_t count, struct err *err) MUST_CHECK;

/* "at 99 Hz by bpf": the present sampling. */
void samples_describe(struct sampling *sampling, const struct sampling_options *options, char *ret,
		      size_t room);

/* Enables requests for debug files.  Fails where that is not possible. */
int samples_ask(struct debuginfod *debuginfod, struct err *err) MUST_CHECK;
/* Prints the result of the requests, on stderr. */
void samples_tell_asked(const struct debuginfod *debuginfod);

/* Why no better way could be had, on stderr. */
void samples_explain(struct sampling *sampling, char told[SAMPLING_REASONS_MAX]);

/* One line for people; members of an object for programs. */
void samples_print(const struct sampling_totals *totals, bool is_system_wide, const char *path,
		   const struct recorded_contents *written);
void samples_print_json(struct json *json, const struct sampling_totals *totals,
			bool is_system_wide, const struct recorded_contents *written,
			const char *reasons);

/* Prints the warnings about them; -ENODATA with the reason when there are none. */
int samples_judge(const struct sampling_totals *totals, const struct sampling_options *options,
		  bool has_ended, struct err *err) MUST_CHECK;
