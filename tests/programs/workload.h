/*
 * What every workload program shares: the statistics page that a driver reads from outside, the
 * table of workloads of one family, and small helpers.  Runs in test targets only, before and while
 * limpet is inside them.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define WORKLOAD_MAGIC 0x31306574706d696cULL
#define WORKLOAD_SKIP  77 /* exit code: this machine cannot run the workload */

#define NS_PER_MS 1000000ULL
#define NS_PER_S  1000000000ULL

/* A MAP_SHARED file: a driver reads it while the target runs.  tests/attach/harness.py knows it
 * too. */
struct workload_stats {
	_Atomic uint64_t magic;
	_Atomic uint64_t pid; /* of the process to attach, in the pid namespace of the driver */
	_Atomic uint64_t ready;
	_Atomic uint64_t turns;
	_Atomic uint64_t eintr;       /* calls that failed with EINTR and should not have */
	_Atomic uint64_t corruptions; /* wrong values found in registers, memory or results */
	_Atomic uint64_t errors;      /* any other failure; the first one is in detail */
	_Atomic uint64_t signals_sent;
	_Atomic uint64_t signals_received;
	_Atomic uint64_t signals_lost; /* gaps in the sequence numbers of queued signals */
	_Atomic uint64_t early;        /* timed waits that ended before their time */
	_Atomic uint64_t max_late_ns;  /* the most that a timed wait took too long */
	_Atomic uint64_t max_gap_ns;   /* the longest time between two turns of the main loop */
	char detail[152];
};

struct workload {
	const char *name;
	/* Sets itself up, calls workload_ready() and never returns. */
	void (*run)(const void *data);
	const void *data;
};

/* The family of this program, ended by a zero entry; each program defines its own. */
extern const struct workload workloads[];

/* The page of this process; valid before run() is called. */
extern struct workload_stats *stats;

/* The arguments of main, for a workload that executes itself again. */
extern char **workload_argv;

uint64_t now_ns(void);
void sleep_ns(uint64_t time_ns);

/* Tells the driver that the workload is set up.  A second call, after exec, prints nothing. */
void workload_ready(void);
/* One turn of the main loop; only one thread calls it. */
void workload_turn(void);
/* Counts an error and keeps the words of the first. */
void workload_fail(const char *what);
/* Counts wrong data and keeps the words of the first. */
void workload_corrupt(const char *what);
/* Ends a program that cannot set itself up here: the driver counts it as skipped. */
_Noreturn void workload_skip(const char *what);

/* Sleeps 1 ms a turn for ever and counts EINTR. */
_Noreturn void workload_idle(void);

/* A thread that never ends; skips the workload when it cannot be made. */
void thread_start(void *(*run)(void *), void *argument, size_t stack_bytes);

/*
 * Forks a helper process that calls step() every period until this process is gone, then end() when
 * it is not NULL.  A process and not a thread, so that the target stays single-threaded.
 */
void companion_start(void (*step)(void), uint64_t period_ns, void (*end)(void));
/* In a companion: the process that started it. */
pid_t companion_owner(void);
