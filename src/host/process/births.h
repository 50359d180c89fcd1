/*
 * News of processes: who was born of whom, who executed another program.  Three ways, best first;
 * none of them touches a process or needs its cooperation.
 */
#pragma once

#include "host/process/kin.h"
#include "host/process/process_numbers.h"

enum births_rung {
	BIRTHS_EVENTS,  /* the kernel tells, at once and without a gap */
	BIRTHS_NUMBERS, /* the counter of process numbers, looked at each millisecond */
	BIRTHS_WALK,    /* the list of all processes, looked at each ten milliseconds */
};

struct births {
	enum births_rung rung;
	int events; /* descriptor to wait for; -1 on the other rungs */
	struct process_numbers numbers;
	uint64_t next_walk_ns;   /* when all processes are looked at again */
	uint64_t next_glance_ns; /* when their numbers are compared with those of the last time */
	pid_t *seen;             /* those numbers, ascending */
	size_t seen_count;
};

struct birth {
	bool is_exec; /* not born: it runs another program now; only kin.pid is set */
	struct kin kin;
};

/* May be told of the same birth several times, and of processes and threads of no interest. */
typedef void births_visitor(const struct birth *birth, void *context);

/* Takes the best rung that this machine allows. */
void births_open(struct births *ret);

/* Tells what has happened since; the first time, of every process there is. */
void births_look(struct births *births, births_visitor *visit, void *context);

/* How long births_look() may be put off; -1 for as long as births->events is silent. */
int births_wait_ms(const struct births *births);

void births_close(struct births *births);

/* "events", "numbers", "walk" */
const char *births_rung_name(enum births_rung rung);
