/*
 * The samples of all ranks in one recording, for any reader: processes are named after their ranks,
 * times are the time of day of each rank's node, and numbers of processes and threads that occur on
 * two nodes are changed.  Calls and windows are not included.
 */
#pragma once

#include "host/core/pool.h"
#include "host/core/table.h"
#include "host/fleet/fleet.h"
#include "host/model/model.h"
#include "host/recording/pack_samples.h"
#include "host/recording/recording.h"

/* Variables of each process in the recording. */
#define VARIABLE_OF_RANK "LIMPET_RANK"
#define VARIABLE_OF_NODE "LIMPET_NODE"
#define VARIABLE_OF_JOB  "LIMPET_JOB"

struct merged_rank {
	uint32_t number;
	const char *node;
};

struct merged_recording {
	struct recording *file;
	const char *job;
	uint32_t processes, threads, frames, stacks;
	struct pool codes;  /* keys of codes, by number */
	struct table taken; /* (number of a process or thread, 0): in use */
	int32_t spare;      /* the next number that no real process can have */
	struct recorded_sampling sampling;
	char sampler[32];
	uint64_t begin_ns, end_ns; /* CLOCK_REALTIME, of all samples */
};

/* With a descriptor of an empty file, which this owns, the path is for messages; with -1 the file
 * is created, and an earlier recording of that name replaced.  The caller owns both texts. */
int merged_recording_begin(struct merged_recording *ret, int file, const char *path,
			   const char *job, const char *version, struct err *err) MUST_CHECK;
/* A model without samples adds its processes only. */
int merged_recording_add(struct merged_recording *merged, struct model *model,
			 const struct merged_rank *rank, struct err *err) MUST_CHECK;
/* Ends the file.  Must be called after an error, too: the file then stays without an end. */
int merged_recording_end(struct merged_recording *merged, bool is_whole,
			 struct err *err) MUST_CHECK;
