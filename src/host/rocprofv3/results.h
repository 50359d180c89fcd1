/*
 * From recordings to the requested files.
 */
#pragma once

#include "host/rocprofv3/listener.h"
#include "host/rocprofv3/profile.h"

struct recorder;

struct results {
	uint64_t events;
	uint32_t files, counted_processes;
	bool has_ended; /* the process, before limpet detached from it */
};

/* Of every process that did something; where none did, of the first. */
int results_write(const struct recorder *recorder, const struct profile *profile,
		  const struct job_listener *listener, struct results *ret,
		  struct err *err) MUST_CHECK;

/* The variables for names of files, beside the usual ones: up to NULL, for the recorder; `room`
 * holds their texts. */
#define RESULTS_VARIABLES_MAX 32u
struct results_variables {
	const char *names[RESULTS_VARIABLES_MAX + 1];
	char room[RESULTS_VARIABLES_MAX][128];
};
void results_find_variables(const struct profile *profile, struct results_variables *ret);
