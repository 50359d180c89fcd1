/*
 * The injector's interface to a machine's registers: reading a stopped thread's state, running a
 * system call on it, describing that state as a signal frame, and restoring it so that an
 * interrupted system call goes on as if there had been no stop.  One implementation per machine
 * folder; used by the injector only.
 */
#pragma once

#include "shared/arch/blocked_call.h"
#include "shared/arch/calls.h"
#include "shared/base/macros.h"

#include <stdbool.h>
#include <sys/types.h>
#include <sys/user.h>

#define ARCH_VECTORS_MAX \
	16384 /* XSAVE area with AMX: 11008 bytes; SVE with 512-bit registers: 2208 */
#define ARCH_FRAME_MAX 20480
#define ARCH_RED_ZONE  128 /* below the stack pointer, in use without notice (x86-64) */

/* A stopped thread. */
struct arch_state {
	struct user_regs_struct regs;
	uint64_t thread_pointer;
	uint32_t code[2]; /* the four bytes before the instruction pointer and the four at it */
	size_t vectors_size;
	unsigned char vectors[ARCH_VECTORS_MAX] __attribute__((aligned(64)));
};

/* How the thread is to go on. */
struct arch_return {
	struct user_regs_struct
		regs; /* set at the end; the kernel then restarts the call or delivers signals */
	struct user_regs_struct
		rescue; /* in the emergency frame: issues the call again by itself */
	bool was_in_call;
	long nr;             /* of that call */
	bool needs_argument; /* the call's first argument must be set again in the kernel */
	uint64_t first_argument;
};

/* How a thread recovers whose tracer died: a frame on its stack and code that makes the kernel
 * restore it. */
struct arch_escape {
	uint64_t frame;   /* value of the stack pointer */
	uint64_t landing; /* address of a sigreturn trampoline */
};

/* Reads all registers of a stopped thread except code[].  0 or -errno; -EAGAIN: in a state that
 * limpet does not touch. */
int arch_take(pid_t tid, struct arch_state *ret) MUST_CHECK;

uint64_t arch_stack_pointer(const struct user_regs_struct *regs);
uint64_t arch_instruction_pointer(const struct user_regs_struct *regs);
void arch_go_to(struct user_regs_struct *regs, uint64_t address);
uint64_t arch_link_register(const struct user_regs_struct *regs); /* 0 where there is none */

/* True when registers alone do not show whether the thread sleeps in a call with a time limit or
 * stands before it: the injector then lets it enter the call once more (aarch64). */
bool arch_must_look_again(const struct arch_state *state);

/* True when a call was cut short with EINTR and its first argument must be read from the kernel
 * (aarch64).  Between arch_show_call(tid, state) and arch_hide_call(tid) /proc/PID/task/TID/syscall
 * shows it. */
bool arch_must_ask_argument(const struct arch_state *state);
int arch_show_call(pid_t tid, const struct arch_state *state) MUST_CHECK;
int arch_hide_call(pid_t tid) MUST_CHECK;

/* Has a signal handler returned to just these registers?  Its frame is then still in the bytes
 * below the stack pointer (aarch64). */
bool arch_has_signal_frame(const struct arch_state *state, const void *below, size_t size);

/* True when the kernel may resume the thread through restart_syscall.  aarch64 does not show
 * whether the thread has entered the call that it stands before: such a call counts. */
bool arch_may_have_restart_block(const struct arch_state *state);

/* seen: the wait just before the stop.  cut: the kernel's record of a call that was cut short.
 * entered_nr: the call that it has entered during the stop and was interrupted in; -1: none. */
void arch_plan_return(const struct arch_state *state, const struct blocked_call *seen,
		      const struct blocked_call *cut, long entered_nr, struct arch_return *ret);

/* Registers that make the thread run one system call at `code` and, unless stopped, escape
 * afterwards. */
void arch_set_syscall(struct user_regs_struct *regs, uint64_t code, long nr, const uint64_t args[6],
		      const struct arch_escape *escape);
/* The same for a function with one argument. */
void arch_set_call(struct user_regs_struct *regs, uint64_t function, uint64_t argument,
		   const struct arch_escape *escape);
long arch_syscall_number(const struct user_regs_struct *regs);
long arch_syscall_result(const struct user_regs_struct *regs);

/* Builds the emergency frame for the memory below the address `top`; returns its size, 0 if it does
 * not fit in `room`.  The caller writes the bytes to escape->frame, which is filled in. */
size_t arch_build_frame(const struct arch_state *state, const struct arch_return *back,
			uint64_t signal_mask, uint64_t top, unsigned char *frame, size_t room,
			struct arch_escape *escape);

/* At a system call entry stop: has getpid run instead, with the escape behind it. */
int arch_replace_syscall(pid_t tid, uint64_t syscall_return,
			 const struct arch_escape *escape) MUST_CHECK;

/* The arguments of clone in this machine's order; the word serves parent and child. */
void arch_clone_args(uint64_t args[6], uint64_t flags, uint64_t stack, uint64_t thread_pointer,
		     uint64_t tid_word);

/* For a thread that was stopped but not changed: re-issues a call that only the stop cut short. */
int arch_let_go(pid_t tid, const struct arch_state *state,
		const struct arch_return *back) MUST_CHECK;

/* Puts everything back but the signal mask.  The thread must be in a system call exit stop.
 * has_run_code: more than system calls ran on it, so the vector registers are put back too. */
int arch_restore(pid_t tid, const struct arch_state *state, const struct arch_return *back,
		 bool has_run_code) MUST_CHECK;

int arch_get_regs(pid_t tid, struct user_regs_struct *ret) MUST_CHECK;
int arch_set_regs(pid_t tid, const struct user_regs_struct *regs) MUST_CHECK;
