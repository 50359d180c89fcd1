/*
 * The processes of a recording: their numbers, and what they use.  The tracer and the sampler each
 * notice when a process starts or executes another program; the first of them writes it into the
 * file.  Any thread.
 */
#pragma once

#include "host/collect/sockets.h"
#include "host/core/table.h"
#include "host/process/identity.h"
#include "host/recorder/base/stack_list.h"
#include "host/sampling/sampler.h"

#include <pthread.h>

#define PROGRAMS_VARIABLES_MAX 128u

struct known_program {
	struct identity identity;
	bool is_known; /* by its identity */
	bool is_gone;  /* it has ended */
	pid_t pid;
	uint32_t number;
};

struct programs {
	pthread_mutex_t lock; /* guards what follows */
	struct recording *recording;
	bool with_files;      /* traced calls refer to them by numbers */
	bool without_modules; /* of processes that the user did not name: samples carry theirs */
	/* Variables of their environments to keep; ends with NULL. */
	const char *variables[PROGRAMS_VARIABLES_MAX + 1];
	struct table indexes;        /* (pid, 0): in items */
	struct known_program *items; /* the latest of each process */
	size_t count, room;
	struct network network; /* names of sockets */

	struct stack_list stacks; /* of samples and calls; it has a lock of its own */
	struct {
		struct bytes bytes; /* readings that are not in the file yet */
		uint32_t count;
		uint64_t read_ns, written_ns;
		size_t cursor; /* in items */
	} usage;               /* for the recorder's thread only */
};

/* Keeps the variables that names of files are made from, and these (up to NULL, may be NULL).
 * -ENOMEM; programs_done() is due then, too. */
int programs_init(struct programs *programs, struct recording *recording, bool with_files,
		  const char *const *variables) MUST_CHECK;
void programs_done(struct programs *programs);

/* The number of the program that the process runs now. */
int programs_number(struct programs *programs, pid_t pid, uint32_t *ret,
		    struct err *err) MUST_CHECK;
/* The latest number; false: none was given. */
bool programs_find(struct programs *programs, pid_t pid, uint32_t *ret);

/* The same, also for a process that has ended already, or shall not be read: that is known by its
 * pid and its name only. */
int programs_number_any(struct programs *programs, const struct sampled_process *process,
			uint32_t *ret, struct err *err) MUST_CHECK;

/* To be called often, by the recorder's thread: reads processor time, memory and threads of each
 * process, five times a second; where there are more than eight, each less often. */
int programs_check_usage(struct programs *programs, struct err *err) MUST_CHECK;
/* Writes what was read and is not in the file yet. */
int programs_write_usage(struct programs *programs, struct err *err) MUST_CHECK;
