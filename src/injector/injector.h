/*
 * The injector: a small process of its own that stops one thread of the target once, starts a
 * thread of ours there and lets go.  No allocation, no output; it answers through the job. Whatever
 * kills it, the target heals itself by the emergency frame.
 */
#pragma once

#include "shared/wire/job.h"

/* The stopped thread, and what is needed to put it back. */
struct elf_image;
struct epilogue;

struct stopped {
	struct job *job;
	int memory; /* /proc/PID/mem */
	uint64_t signal_mask;
	struct arch_state state;
	struct arch_return back;
	struct arch_escape escape;
	uint64_t frame_top;   /* the emergency frame lies below */
	uint64_t window_top;  /* where it lies in a window of its own; 0: on the thread's stack */
	bool is_understood;   /* state and back are filled in */
	bool is_changed;      /* registers are ours now: undo is due */
	bool must_switch;     /* libc still believes that it is alone */
	bool has_run_code;    /* more than system calls ran on it */
	bool forbids_restart; /* its filters were read, and restart_syscall is not allowed */
	uint64_t stopped_at_ns;
};

/* Ends the job with this status; returns a negative number for the caller to pass on. */
int job_fail(struct job *job, enum job_status status, int error);

/* A file of the thread in /proc, as a text that ends; empty when it cannot be read. */
void job_read_proc(const struct job *job, const char *name, char *text, size_t room);
void job_read_proc_of(const struct job *job, int tid, const char *name, char *text, size_t room);

/* What /proc shows of the thread: the call that it waits in, if it does. */
void job_read_call(const struct job *job, struct blocked_call *ret);

/* wait.c: waits for the thread; all ptrace and wait calls come from this one thread. */
void wait_init(void);
uint64_t wait_clock_ns(void);
/* The stop of the thread, again and again until it is told to go on; a signal in it is not lost
 * with us.  -ETIMEDOUT at the deadline (clock ns), -ESRCH when the thread has ended. */
int wait_stop(pid_t tid, uint64_t deadline_ns, int *ret_status) MUST_CHECK;

/* stop.c: seizes and interrupts, delivering every signal that comes first; then checks that the
 * thread may be used.  On failure the thread is released untouched. */
int stop_thread(struct stopped *self) MUST_CHECK;
void stop_release(struct stopped *self);

/* restart.c: waits until a stop of the thread cannot need restart_syscall, or its filters are known
 * to allow that call; and lets a thread go whose filters forbid it. */
int restart_await_harmless(struct job *job) MUST_CHECK;
void restart_release(const struct stopped *self);

/* cut_short.c: what the kernel knows of the call that returned EINTR at our stop; sets job->seen
 * where evidence shows that the thread has entered it since the last look. */
int cut_short_ask(struct stopped *self, struct blocked_call *ret) MUST_CHECK;

/* held_back.c: would stopping the thread bring it a signal that its call holds back? */
bool signal_is_held_back(const struct job *job);

/* gate.c: still the same program, libc ready, filters friendly, stack usable? */
int gate_check(struct stopped *self) MUST_CHECK;
bool same_program(const struct stopped *self);
/* Does the thread pointer lead to glibc's block of this thread? */
bool block_is_understood(const struct stopped *self);
/* The writable memory around an address, NULL: none. */
const struct job_stack *stack_at(const struct job *job, uint64_t address);

/* altstack.c: is the thread in a handler whose own stack is a part of this one? */
bool is_on_signal_stack(const struct stopped *self, const struct job_stack *stack);

/* inside.c: searches so many bytes of the stopped thread's stack for a return address into this
 * code.
 */
bool thread_may_be_inside(const struct stopped *self, struct job_code code, uint64_t bytes);

/* sequence.c: would the kernel send the thread back to the beginning of a restartable sequence? */
bool sequence_is_running(const struct stopped *self);

/* dispatch.c: are system calls of the thread handed to its program, instead of the kernel? */
bool calls_are_dispatched(const struct stopped *self);

/* newborn.c: has it left fork, and begun to run its program? */
int newborn_check(struct stopped *self) MUST_CHECK;
bool thread_may_be_in_fork(const struct stopped *self);

/* switch.c: a process with one thread becomes one with two. */
int switch_check(struct stopped *self) MUST_CHECK; /* may it happen now? */
int switch_begin(struct stopped *self) MUST_CHECK; /* before our thread starts */
void switch_hold(struct stopped *self);            /* after; until libc knows */
uint64_t flag_address(const struct stopped *self); /* of the thread's own, where it has one */
uint32_t single_due(const struct job *job);        /* enum single_due */
/* Calls that an allocator makes; in any other wait the thread is not inside one. */
bool is_allocators_call(long nr);

/* heap.c: threads of ours share the program's heap arena, unless the thread may be in the middle of
 * it without a lock. */
bool heap_may_be_entered(const struct stopped *self);
int heap_check(struct stopped *self) MUST_CHECK;
int heap_lend(const struct stopped *self) MUST_CHECK; /* to our first thread */

/* threads.c: those of the process that pass the test; the kernel's for io_uring are listed, too. */
typedef bool thread_test(const struct job *job, int tid);
long threads_count(const struct job *job, thread_test *test);
bool thread_is_other_runnable(const struct job *job, int tid); /* not the one that is stopped */
/* A number of the thread's stat, counted from the name's closing parenthesis. */
long thread_stat(const struct job *job, int tid, unsigned field);

/* single.c: a process with one thread is that for libc again. */
void single_give_back(struct stopped *self);

/* seccomp.c: would the filters of the stopped thread let us work? */
bool seccomp_forbids_restart(const struct stopped *self);
int seccomp_check(struct stopped *self) MUST_CHECK;

/* window.c: the emergency frame of a thread that stands on a stack of its program's making. */
bool window_is_ours(const struct stopped *self, uint64_t top);
int window_write(const struct stopped *self, const unsigned char *frame, size_t size) MUST_CHECK;

/* remote.c: work on the stopped thread. */
int remote_prepare(struct stopped *self) MUST_CHECK; /* lays the emergency frame */
int remote_syscall(struct stopped *self, uint64_t code, long nr, const uint64_t args[6],
		   long *ret) MUST_CHECK;
int remote_call(struct stopped *self, uint64_t function, uint64_t argument) MUST_CHECK;
void remote_undo(struct stopped *self); /* puts the thread back and releases it */

/* One system call on the thread; a failure of the call itself ends the job cleanly. */
int remote_do(struct stopped *self, uint64_t code, long nr, const uint64_t args[6],
	      long *ret) MUST_CHECK;
/* Runs to the next system call stop. */
int remote_next_stop(const struct stopped *self) MUST_CHECK;

/* epilogue.c: the end of some function in a library, see shared/arch/epilogue.h. */
bool epilogue_find(const struct stopped *self, const struct elf_image *image, uint64_t *ret,
		   struct epilogue *ret_epilogue);

/* launch.c: the child of limpet's up to its first instruction. */
void launch(struct stopped *self);

/* Descriptor of the memory of the thread that will be stopped: a hardened kernel lets only its
 * tracer write to it. */
int memory_open(struct stopped *self) MUST_CHECK;
int memory_read(const struct stopped *self, uint64_t address, void *into, size_t size) MUST_CHECK;
int memory_write(const struct stopped *self, uint64_t address, const void *bytes,
		 size_t size) MUST_CHECK;
