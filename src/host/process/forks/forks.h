/*
 * Forks and execs of any process: its parent, and the program it executed.  Three sources, best
 * first; none of them touches a process or needs its cooperation.
 */
#pragma once

#include "host/process/forks/descendants.h"
#include "host/process/forks/process_numbers.h"

enum forks_source {
	FORKS_EVENTS,  /* kernel events, immediate and complete */
	FORKS_NUMBERS, /* the counter of process numbers, read each millisecond */
	FORKS_WALK,    /* the list of all processes, read each ten milliseconds */
};

struct forks {
	enum forks_source source;
	int events; /* descriptor to wait for; -1 with the other sources */
	struct process_numbers numbers;
	uint64_t next_walk_ns;   /* the next scan of all processes */
	uint64_t next_glance_ns; /* the next comparison of process numbers */
	pid_t *seen;             /* numbers at the last comparison, ascending */
	size_t seen_count;
};

struct fork_event {
	bool is_exec; /* an exec: it runs another program now; only lineage.pid is set */
	struct lineage lineage;
};

/* May be called several times for the same fork, and for irrelevant processes and threads. */
typedef void forks_visitor(const struct fork_event *fork_event, void *context);

/* Opens the best source that this machine allows. */
void forks_open(struct forks *ret);

/* Reports events since the last poll; the first time, every existing process. */
void forks_poll(struct forks *forks, forks_visitor *visit, void *context);

/* How long forks_poll() may be put off; -1 for as long as forks->events is silent. */
int forks_wait_ms(const struct forks *forks);

void forks_close(struct forks *forks);

/* "events", "numbers", "walk" */
const char *forks_source_name(enum forks_source source);
