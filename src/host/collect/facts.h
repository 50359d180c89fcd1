/*
 * Facts about a target from /proc, for the recording and for the collector.
 */
#pragma once

#include "host/collect/sockets.h"
#include "host/recording/recording.h"

#include <sys/types.h>

/* This machine, and how this program was called. */
int facts_session(struct recording *recording, const char *limpet_version, const char *options,
		  struct err *err) MUST_CHECK;

/* The process; the number that it has in the recording. */
int facts_process(struct recording *recording, pid_t pid, uint32_t *ret_number,
		  struct err *err) MUST_CHECK;

/* Its modules, once or again: more may have been loaded. */
int facts_modules(struct recording *recording, pid_t pid, uint32_t number,
		  struct err *err) MUST_CHECK;

/* Its open descriptors; sockets by their peers. */
int facts_files(struct recording *recording, pid_t pid, uint32_t number, struct network *network,
		struct err *err) MUST_CHECK;

/* Those of these variables (a list that ends with NULL) that were in its environment at its start.
 * An unreadable environment counts as empty. */
int facts_variables(struct recording *recording, pid_t pid, uint32_t number,
		    const char *const *names, struct err *err) MUST_CHECK;

/* Threads by the target's numbers, which in a container differ from limpet's. */
struct target_threads {
	pid_t pid;
	struct thread_pair {
		int32_t inner;
		pid_t outer;
	} * pairs;
	size_t count;
};

/* Starts as { .pid = PID }. */
void target_threads_done(struct target_threads *threads);

/* For struct collect_source; context is a struct target_threads. */
bool target_thread_is_alive(void *context, int32_t tid);
bool target_thread_name(void *context, int32_t tid, char name[16]);
