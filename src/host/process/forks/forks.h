/*
 * Forks and execs of any process: who was born of whom, who executed another program.  Three
 * sources, best first; none of them touches a process or needs its cooperation.
 */
#pragma once

#include "host/process/forks/descendants.h"
#include "host/process/forks/process_numbers.h"

enum forks_source {
	FORKS_EVENTS,  /* the kernel tells, at once and without a gap */
	FORKS_NUMBERS, /* the counter of process numbers, looked at each millisecond */
	FORKS_WALK,    /* the list of all processes, looked at each ten milliseconds */
};

struct forks {
	enum forks_source source;
	int events; /* descriptor to wait for; -1 with the other sources */
	struct process_numbers numbers;
	uint64_t next_walk_ns;   /* when all processes are looked at again */
	uint64_t next_glance_ns; /* when their numbers are compared with those of the last time */
	pid_t *seen;             /* those numbers, ascending */
	size_t seen_count;
};

struct fork_event {
	bool is_exec; /* not born: it runs another program now; only lineage.pid is set */
	struct lineage lineage;
};

/* May be told of the same fork several times, and of processes and threads of no interest. */
typedef void forks_visitor(const struct fork_event *fork_event, void *context);

/* Takes the best source that this machine allows. */
void forks_open(struct forks *ret);

/* Tells what has happened since; the first time, of every process there is. */
void forks_poll(struct forks *forks, forks_visitor *visit, void *context);

/* How long forks_poll() may be put off; -1 for as long as forks->events is silent. */
int forks_wait_ms(const struct forks *forks);

void forks_close(struct forks *forks);

/* "events", "numbers", "walk" */
const char *forks_source_name(enum forks_source source);
