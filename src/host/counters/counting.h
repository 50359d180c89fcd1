/*
 * Counts processes: from the present threads, through those that start and end, to the totals.
 * From outside; no process notices.
 */
#pragma once

#include "host/core/cleanup.h"
#include "host/counters/counter_set.h"

struct counting_options {
	const struct counter_events *events;
	const pid_t *pids;
	size_t pid_count;
	bool by_thread;    /* also each thread by itself */
	bool has_children; /* descendants count as their process */
};

struct counted_task {
	pid_t pid, tid;
};

/* An exec that changes one of these ends all counting, without any event from the kernel. */
struct counted_program {
	char path[256]; /* cut; "": it may not be known */
	uid_t euid;
	gid_t egid;
	uint64_t capabilities;
};

struct counted_process {
	pid_t pid;
	char name[32];
	int pidfd;
	bool has_ended;
	/* All of it, including later threads.  If threads are counted separately it has no events
	 * of the processor, whose counters are few. */
	struct counter_set whole;
	struct counter_set threads; /* empty where they are not */
	struct counted_task *seen;  /* at the last scan, ascending; for `threads` */
	size_t seen_count;
	struct counted_program program; /* at the beginning */
	size_t later_threads;           /* seen to begin while it was counted */
	size_t later_threads_before;    /* the interval */
	bool has_unseen_threads;        /* some could have no counters of their own */
	bool has_new_rights;            /* it executed another one, with other rights */
	bool has_doubt; /* threads began while counters were opened: inherited or not? */
	uint64_t cpu_begin_ns, cpu_end_ns; /* its own clock; 0 where it cannot be read */
};

struct counting {
	struct counting_options options;
	struct counted_process *processes;
	size_t count;
	bool counts_forks; /* of processes that were to be counted without their children */
	uint64_t begin_ns, interval_begin_ns;
	uint64_t now_ns; /* when counters were read last */
	uint64_t next_look_ns;
	uint64_t looked_ns;      /* when the last scan began */
	uint64_t look_apart_ns;  /* the longest time between two */
	uint64_t threads_unseen; /* of which no row could be had */
};

/* One line of a table: a process, one of its threads, or the rest. */
struct counted_subject {
	pid_t pid, tid; /* tid 0: a whole process */
	const char *name;
	bool is_rest; /* of threads between two scans, or before one, or that ended long ago */
	bool has_ended;
	size_t threads; /* of a process: at the beginning */
	struct count counts[COUNTER_EVENTS_MAX];
};

/* Opens all counters.  Exit codes: EXIT_NO_PROCESS, EXIT_NOT_PERMITTED; EXIT_NOTHING_CAPTURED where
 * none of the events can be had. */
int counting_open(struct counting *ret, const struct counting_options *options,
		  struct err *err) MUST_CHECK;
void counting_start(struct counting *self);
void counting_stop(struct counting *self);
void counting_close(struct counting *self);

/* Scans for threads that started or ended, if they are counted separately. */
void counting_look(struct counting *self);
/* How long that may be put off; UINT64_MAX: for ever. */
uint64_t counting_look_wait_ns(const struct counting *self);

/* Reads all counters, and sees which processes have ended; they keep theirs. */
void counting_read(struct counting *self);
/* The next interval begins. */
void counting_turn(struct counting *self);

/* The kernel's answer for an event. */
const struct counter_answer *counting_answer(const struct counting *self,
					     const struct counted_process *process, size_t event);

/* A process that has not ended yet; NULL: all have. */
struct counted_process *counting_find_alive(struct counting *self);

void counting_whole(const struct counting *self, const struct counted_process *process,
		    bool is_interval, struct counted_subject *ret);
void counting_thread(const struct counting *self, const struct counted_process *process,
		     size_t index, bool is_interval, struct counted_subject *ret);
/* False: the lines of its threads have all of it. */
bool counting_rest(const struct counting *self, const struct counted_process *process,
		   bool is_interval, struct counted_subject *ret);

enum counting_verdict {
	COUNTING_WHOLE,    /* there is no reason to doubt it, or the process's own clock agrees */
	COUNTING_OFF,      /* by the clock, a part was not counted, or counted twice */
	COUNTING_DOUBTFUL, /* there is a reason, and nothing to compare with */
};

/* Was all of it counted?  If not, the share of the used time that was. */
enum counting_verdict counting_check(const struct counting *self,
				     const struct counted_process *process, double *ret_share);

/* Is every count of it, as far as there is one, of all that it did? */
bool counting_is_complete(const struct counting *self, const struct counted_process *process);

DEFINE_STRUCT_CLEANUP(counting, counting_close)
