/*
 * The injector: a small process of its own that stops one thread of the target once, starts a
 * thread of limpet's there and detaches. No allocation, no output; the job contains its answer. If
 * it is killed at any point, the emergency frame restores the target.
 */
#pragma once

#include "shared/wire/job.h"

/* The stopped thread, and what is needed to restore it. */
struct stopped {
	struct job *job;
	int memory; /* /proc/PID/mem */
	uint64_t signal_mask;
	struct arch_state state;
	struct arch_return back;
	struct arch_escape escape;
	uint64_t frame_top;  /* the emergency frame lies below this */
	uint64_t window_top; /* end of the frame's own window; 0: the frame is on the thread's stack
			      */
	bool is_understood;  /* state and back are filled in */
	bool is_changed;     /* registers were changed: undo is due */
	bool must_switch;    /* libc still works without locks, as for one thread */
	bool has_run_code;   /* more than system calls ran on the thread */
	bool forbids_restart; /* its filters were read, and forbid restart_syscall */
	uint64_t stopped_at_ns;
};

/* target.c.  Ends the job with this status; returns a negative number for the caller to return. */
int job_fail(struct job *job, enum job_status status, int error);

/* Reads a file of the thread in /proc, with a 0 at its end; empty if it is unreadable. */
void job_read_proc(const struct job *job, const char *name, char *text, size_t room);
void job_read_proc_of(const struct job *job, int tid, const char *name, char *text, size_t room);

/* Reads from /proc the call that the thread waits in, if any. */
void job_read_call(const struct job *job, struct blocked_call *ret);

/* The memory of the thread to be stopped: a hardened kernel lets only its tracer write to it. */
int memory_open(struct stopped *self) MUST_CHECK;
int memory_read(const struct stopped *self, uint64_t address, void *into, size_t size) MUST_CHECK;
int memory_write(const struct stopped *self, uint64_t address, const void *bytes,
		 size_t size) MUST_CHECK;

/* Counts threads of the process that pass the test, even the kernel's for io_uring. */
typedef bool thread_test(const struct job *job, int tid);
long threads_count(const struct job *job, thread_test *test);
bool thread_is_other_runnable(const struct job *job, int tid); /* not the stopped one */
/* A number of the thread's stat, counted from the name's closing parenthesis. */
long thread_stat(const struct job *job, int tid, unsigned field);

/* wait.c: waits for the thread; this thread makes all ptrace and wait calls. */
void wait_init(void);
uint64_t wait_clock_ns(void);
/* Waits for a stop of the thread, and reports it again until the thread continues; if the injector
 * is killed, a signal in that stop is not lost. -ETIMEDOUT at the deadline (clock ns), -ESRCH. */
int wait_stop(pid_t tid, uint64_t deadline_ns, int *ret_status) MUST_CHECK;

/* stop.c: seizes and interrupts, delivering all earlier signals; then checks whether the thread may
 * be used. On failure it is released unchanged. */
int stop_thread(struct stopped *self) MUST_CHECK;
void stop_release(struct stopped *self);

/* restart.c: waits until a stop of the thread cannot cause restart_syscall, or its filters are
 * known to allow that call; releases a thread whose filters forbid it. */
int restart_await_harmless(struct job *job) MUST_CHECK;
void restart_release(const struct stopped *self);

/* cut_short.c: the kernel's state of the call that returned EINTR at the stop; sets job->seen if
 * evidence shows that the thread has entered it since the last check. */
int cut_short_check(struct stopped *self, struct blocked_call *ret) MUST_CHECK;

/* gate.c: same program, libc initialized, filters allow attaching, memory for the frame. */
int gate_check(struct stopped *self) MUST_CHECK;
bool same_program(const struct stopped *self);
/* True if the thread pointer leads to glibc's block of this thread. */
bool block_is_understood(const struct stopped *self);
/* The writable memory around an address, or NULL. */
const struct job_stack *stack_at(const struct job *job, uint64_t address);

/* inside.c: searches `bytes` of the stopped thread's stack for a return address into this code. */
bool thread_may_be_inside(const struct stopped *self, struct job_code code, uint64_t bytes);

/* kernel_watch.c: true if the kernel would restart a restartable sequence of the thread; if the
 * thread's system calls are redirected to its own handler. */
bool sequence_is_running(const struct stopped *self);
bool calls_are_dispatched(const struct stopped *self);

/* newborn.c: checks that it has returned from fork, and begun its program. */
int newborn_check(struct stopped *self) MUST_CHECK;
bool thread_may_be_in_fork(const struct stopped *self);

/* switch.c: a single-threaded process becomes multi-threaded. */
int switch_check(struct stopped *self) MUST_CHECK; /* whether it may happen now */
int switch_begin(struct stopped *self) MUST_CHECK; /* before limpet's thread starts */
void switch_hold(struct stopped *self);            /* after; until libc knows */
uint64_t flag_address(const struct stopped *self); /* the thread's own flag, if it has one */
uint32_t single_due(const struct job *job);        /* enum single_due */
/* System calls of an allocator; a thread that waits in another call is not inside it. */
bool is_allocators_call(long nr);

/* heap.c: limpet's threads share the main arena, unless the thread may be in it without a lock. */
bool heap_may_be_entered(const struct stopped *self);
int heap_check(struct stopped *self) MUST_CHECK;
int heap_lend(const struct stopped *self) MUST_CHECK; /* for limpet's first thread */

/* single.c: makes a single-threaded process single-threaded for libc again. */
void single_restore(struct stopped *self);

/* seccomp.c: checks whether the stopped thread's filters allow attaching. */
bool seccomp_forbids_restart(const struct stopped *self);
int seccomp_check(struct stopped *self) MUST_CHECK;

/* remote.c: calls on the stopped thread. */
bool window_is_limpets(const struct stopped *self, uint64_t top); /* no code has used it since */
int remote_prepare(struct stopped *self) MUST_CHECK;              /* writes the emergency frame */
int remote_syscall(struct stopped *self, uint64_t code, long nr, const uint64_t args[6],
		   long *ret) MUST_CHECK;
int remote_call(struct stopped *self, uint64_t function, uint64_t argument) MUST_CHECK;
void remote_undo(struct stopped *self); /* restores the thread and releases it */

/* Makes one system call on the thread; if it fails, the job ends cleanly. */
int remote_do(struct stopped *self, uint64_t code, long nr, const uint64_t args[6],
	      long *ret) MUST_CHECK;
/* Runs to the next syscall stop. */
int remote_next_stop(const struct stopped *self) MUST_CHECK;

/* launch.c: runs limpet's child up to the program's first instruction. */
void launch(struct stopped *self);
