/*
 * Which process of the recording a process is now.  The recorder and the sampler notice by
 * themselves that it executes another program; whoever comes first writes that into the file.  Any
 * thread.
 */
#pragma once

#include "host/process/identity.h"
#include "host/recording/recording.h"

#include <pthread.h>

struct programs {
	pthread_mutex_t lock; /* of what follows */
	struct recording *recording;
	pid_t pid;
	bool with_files;          /* calls that are traced name them by numbers */
	struct identity identity; /* of the program with this number */
	bool is_known;
	uint32_t number;
};

void programs_init(struct programs *programs, pid_t pid, bool with_files);
void programs_done(struct programs *programs);

/* The number of what it runs now. */
int programs_number(struct programs *programs, uint32_t *ret, struct err *err) MUST_CHECK;
