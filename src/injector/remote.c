/*
 * Makes system calls on the stopped thread, only by syscall stops: no breakpoint, no change of
 * code, no signal. The emergency frame is written before the first register changes, and restores
 * the thread until the last register is restored: the mask is set after the registers on the way
 * in, and before the registers on the way out.
 *
 * Where the thread runs on a stack that the application has made, the frame lies in a window at the
 * far end of the stack that the thread was created with. The whole window is written, with a
 * checksum at its end, so that the next attach can verify that no code has used it since.
 */
#include "injector/injector.h"

#include "shared/base/hash.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define STOP_LIMIT_NS  5000000000ull
#define KERNEL_RESTART 513 /* ERESTARTNOINTR */
#define WINDOW_SIZE    (ARCH_FRAME_MAX + 4096)
#define FILLER         0x6c

/* The contents under the frame. Unused memory, unless the thread runs on a stack that the program
 * has carved out of the thread's own: then frames to which it will return. */
static unsigned char covered[ARCH_FRAME_MAX];
static size_t covered_size;
static unsigned char window[WINDOW_SIZE];

bool window_is_limpets(const struct stopped *self, uint64_t top)
{
	uint64_t sum;

	if (memory_read(self, top - WINDOW_SIZE, window, WINDOW_SIZE))
		return false;
	memcpy(&sum, window + WINDOW_SIZE - sizeof(sum), sizeof(sum));
	return sum == hash_bytes(window, WINDOW_SIZE - sizeof(sum));
}

static int window_write(const struct stopped *self, const unsigned char *frame, size_t size)
{
	uint64_t bottom = self->window_top - WINDOW_SIZE, sum;

	memset(window, FILLER, WINDOW_SIZE);
	memcpy(window + (self->escape.frame - bottom), frame, size);
	sum = hash_bytes(window, WINDOW_SIZE - sizeof(sum));
	memcpy(window + WINDOW_SIZE - sizeof(sum), &sum, sizeof(sum));
	return memory_write(self, bottom, window, WINDOW_SIZE);
}

static int frame_write(const struct stopped *self, const unsigned char *frame, size_t size)
{
	int r = memory_read(self, self->escape.frame, covered, size);

	if (r)
		return r;
	covered_size = size;
	return memory_write(self, self->escape.frame, frame, size);
}

/* Not before the registers are restored: until then the frame is the thread's escape. */
static void frame_remove(const struct stopped *self)
{
	if (covered_size && memory_write(self, self->escape.frame, covered, covered_size))
		self->job->error = EIO;
}

int remote_prepare(struct stopped *self)
{
	static unsigned char frame[ARCH_FRAME_MAX] __attribute__((aligned(64)));
	size_t size;

	self->escape.landing = self->job->facts.sigreturn;
	size = arch_build_frame(&self->state, &self->back, self->signal_mask, self->frame_top,
				frame, sizeof(frame), &self->escape);
	if (!size)
		return -E2BIG;
	if (self->window_top)
		return window_write(self, frame, size);
	return frame_write(self, frame, size);
}

/* Runs to the next syscall stop. With all signals blocked only SIGSTOP can come in between: it is
 * delivered, and the thread joins the group stop when it is released. */
int remote_next_stop(const struct stopped *self)
{
	uint64_t deadline_ns = wait_clock_ns() + STOP_LIMIT_NS;
	int status, r, signal = 0;

	do {
		if (ptrace(PTRACE_SYSCALL, self->job->tid, 0, signal))
			return -errno;
		r = wait_stop(self->job->tid, deadline_ns, &status);
		signal = status >> 16 ? 0 : WSTOPSIG(status);
	} while (!r && WSTOPSIG(status) != (SIGTRAP | 0x80));
	return r;
}

static int set_registers(struct stopped *self, const struct user_regs_struct *regs)
{
	uint64_t all_signals = ~0ull;
	int r = arch_set_regs(self->job->tid, regs);

	if (r || self->is_changed)
		return r;
	self->is_changed = true;
	return ptrace(PTRACE_SETSIGMASK, self->job->tid, sizeof(all_signals), &all_signals) ? -errno
											    : 0;
}

/* From a syscall entry stop to an exit stop, without running the call. */
static int leave_entry(const struct stopped *self)
{
	int r = arch_replace_syscall(self->job->tid, self->job->libc.syscall_return, &self->escape);

	return r ? r : remote_next_stop(self);
}

int remote_syscall(struct stopped *self, uint64_t code, long nr, const uint64_t args[6], long *ret)
{
	struct user_regs_struct regs = self->state.regs;
	int r;

	arch_set_syscall(&regs, code, nr, args, &self->escape);
	r = set_registers(self, &regs);
	if (!r)
		r = remote_next_stop(self);
	if (!r)
		r = arch_get_regs(self->job->tid, &regs);
	if (!r && arch_syscall_number(&regs) != nr) /* the kernel restarted another call */
		return leave_entry(self) ? -ESRCH : -EBADE;
	if (!r)
		r = remote_next_stop(self);
	if (!r)
		r = arch_get_regs(self->job->tid, &regs);
	if (!r)
		*ret = arch_syscall_result(&regs);
	return r;
}

int remote_do(struct stopped *self, uint64_t code, long nr, const uint64_t args[6], long *ret)
{
	int r = remote_syscall(self, code, nr, args, ret);

	if (r)
		return job_fail(self->job, r == -ESRCH ? JOB_GONE : JOB_BROKEN, -r);
	if (*ret == -KERNEL_RESTART) /* a group stop is pending: try later */
		return job_fail(self->job, JOB_LEAVE_ALONE, 0);
	if (*ret < 0 && *ret > -4096) {
		self->job->nr = nr;
		return job_fail(self->job, JOB_CALL_FAILED, (int)-*ret);
	}
	return 0;
}

/* The function ends in the emergency frame's sigreturn; the thread is stopped at that call's
 * entry. */
int remote_call(struct stopped *self, uint64_t function, uint64_t argument)
{
	struct user_regs_struct regs = self->state.regs;
	int r;

	arch_set_call(&regs, function, argument, &self->escape);
	r = set_registers(self, &regs);
	self->has_run_code = true;
	while (!r) {
		r = remote_next_stop(self); /* entry */
		if (!r)
			r = arch_get_regs(self->job->tid, &regs);
		if (!r && arch_syscall_number(&regs) == SYS_rt_sigreturn)
			return leave_entry(self);
		if (!r)
			r = remote_next_stop(self); /* exit */
	}
	return r;
}

/* aarch64: the kernel uses the first argument of the last call for a restarted call. */
static void repeat_argument(struct stopped *self)
{
	uint64_t args[6] = { self->back.first_argument };
	long ignored;

	if (self->back.needs_argument &&
	    remote_syscall(self, self->job->libc.syscall_return, SYS_getpid, args, &ignored))
		self->job->error = EIO; /* the thread has ended, or the frame restores it */
}

static bool registers_restore(struct stopped *self)
{
	pid_t tid = self->job->tid;

	if (!self->is_changed)
		return true;
	repeat_argument(self);
	ptrace(PTRACE_SETSIGMASK, tid, sizeof(self->signal_mask), &self->signal_mask);
	return !arch_restore(tid, &self->state, &self->back, self->has_run_code);
}

void remote_undo(struct stopped *self)
{
	if (registers_restore(self))
		frame_remove(self);
	else
		self->job->error = EIO;
	stop_release(self);
}
