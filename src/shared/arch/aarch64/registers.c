/*
 * aarch64: the registers of a stopped thread.  Three things differ from x86-64:
 *  - at the stop the kernel has already wound an interrupted call back (pc on the svc, x0 its first
 *    argument) and does not show the reason; after a call of the injector's the reason and the
 *    first argument must be set again;
 *  - a call that returned EINTR has lost its first argument; the kernel still has it and can be
 *    made to show it;
 *  - a system call discards the scalable part of the vector registers, so that is written back.
 */
#include "shared/arch/registers.h"

#include <asm/ptrace.h>
#include <asm/sigcontext.h>
#include <elf.h>
#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#define ERESTARTSYS           512
#define ERESTARTNOINTR        513
#define ERESTARTNOHAND        514
#define ERESTART_RESTARTBLOCK 516

#define SVC_INSTRUCTION 0xd4000001u
#define SVC_LENGTH      4
#define FUTEX_COMMANDS  127
#define ABSOLUTE_TIME   1

#ifndef NT_ARM_SSVE
#define NT_ARM_SSVE 0x40b
#endif

/* struct rt_sigframe of the kernel. */
struct signal_frame {
	unsigned char info[128];
	uint64_t flags, link;
	uint64_t stack_base;
	uint64_t stack_flags; /* 32 bits and padding */
	uint64_t stack_size;
	uint64_t signal_mask;
	unsigned char unused[128];
	uint64_t fault_address, regs[31], sp, pc, pstate;
	uint64_t padding;
	unsigned char records[4096];
} __attribute__((aligned(16)));

_Static_assert(offsetof(struct signal_frame, fault_address) == 128 + 176,
	       "layout of the kernel's rt_sigframe");
_Static_assert(offsetof(struct signal_frame, records) == 128 + 176 + 288,
	       "layout of the kernel's sigcontext");

/* arch_state.vectors holds the FPSIMD set first, then the SVE set when it is live. */
#define SVE_OFFSET ALIGN_UP(sizeof(struct user_fpsimd_struct), 16)

uint64_t arch_stack_pointer(const struct user_regs_struct *regs)
{
	return regs->sp;
}

uint64_t arch_instruction_pointer(const struct user_regs_struct *regs)
{
	return regs->pc;
}

void arch_go_to(struct user_regs_struct *regs, uint64_t address)
{
	regs->pc = address;
}

uint64_t arch_link_register(const struct user_regs_struct *regs)
{
	return regs->regs[30];
}

long arch_syscall_number(const struct user_regs_struct *regs)
{
	return (long)regs->regs[8];
}

long arch_syscall_result(const struct user_regs_struct *regs)
{
	return (long)regs->regs[0];
}

static const struct user_sve_header *live_sve(const struct arch_state *state)
{
	const struct user_sve_header *sve = (const void *)(state->vectors + SVE_OFFSET);

	return state->vectors_size > SVE_OFFSET ? sve : NULL;
}

/* Reads the scalable registers when the thread uses them; -EAGAIN in streaming mode, which a call
 * would end. */
static int take_scalable(pid_t tid, struct arch_state *ret)
{
	struct user_sve_header *sve = (void *)(ret->vectors + SVE_OFFSET);
	struct user_sve_header streaming;
	struct iovec io = { sve, sizeof(ret->vectors) - SVE_OFFSET };
	struct iovec header = { &streaming, sizeof(streaming) };

	if (!ptrace(PTRACE_GETREGSET, tid, NT_ARM_SSVE, &header) &&
	    (streaming.flags & SVE_PT_REGS_MASK) == SVE_PT_REGS_SVE)
		return -EAGAIN;
	if (ptrace(PTRACE_GETREGSET, tid, NT_ARM_SVE, &io))
		return 0; /* no such registers on this machine */
	if ((sve->flags & SVE_PT_REGS_MASK) == SVE_PT_REGS_SVE)
		ret->vectors_size = SVE_OFFSET + io.iov_len;
	return 0;
}

int arch_take(pid_t tid, struct arch_state *ret)
{
	struct iovec fp = { ret->vectors, sizeof(struct user_fpsimd_struct) };
	struct iovec tls = { &ret->thread_pointer, sizeof(ret->thread_pointer) };
	int r = arch_get_regs(tid, &ret->regs);

	if (r)
		return r;
	if (ptrace(PTRACE_GETREGSET, tid, NT_ARM_TLS, &tls) ||
	    ptrace(PTRACE_GETREGSET, tid, NT_PRFPREG, &fp))
		return -errno;
	ret->vectors_size = sizeof(struct user_fpsimd_struct);
	return take_scalable(tid, ret);
}

static bool stands_on_svc(const struct arch_state *state)
{
	return state->code[1] == SVC_INSTRUCTION;
}

/* Waits with a relative time limit go on through restart_syscall; the same calls without one do
 * not. */
static bool has_time_left(const struct user_regs_struct *regs)
{
	switch (regs->regs[8]) {
	case SYS_nanosleep:
	case SYS_restart_syscall:
		return true;
	case SYS_clock_nanosleep:
		return !(regs->regs[1] & ABSOLUTE_TIME);
	case SYS_futex:
		return (regs->regs[1] & FUTEX_COMMANDS) == FUTEX_WAIT && regs->regs[3];
	default:
		return false;
	}
}

bool arch_must_look_again(const struct arch_state *state)
{
	return stands_on_svc(state) && has_time_left(&state->regs) &&
	       state->regs.regs[8] != SYS_restart_syscall;
}

bool arch_may_have_restart_block(const struct arch_state *state)
{
	const struct user_regs_struct *r = &state->regs;
	struct blocked_call call = { .nr = (long)r->regs[8] };

	memcpy(call.args, r->regs, sizeof(call.args));
	return stands_on_svc(state) && call_has_restart_block(&call);
}

/* Is the thread still in the wait in which it was seen just before the stop? */
static bool is_seen(const struct arch_state *state, const struct blocked_call *seen, uint64_t ip)
{
	const struct user_regs_struct *r = &state->regs;

	return seen->is_known && seen->nr == (long)r->regs[8] && seen->ip == ip &&
	       seen->stack == r->sp && !memcmp(&seen->args[1], &r->regs[1], 5 * sizeof(uint64_t));
}

/* A call that returns EINTR even after a debugger's stop. */
bool arch_must_ask_argument(const struct arch_state *state)
{
	enum syscall_kind kind = syscall_kind((long)state->regs.regs[8]);

	return (long)state->regs.regs[0] == -EINTR && state->code[0] == SVC_INSTRUCTION &&
	       (kind == CALL_RESTARTS || kind == CALL_NO_HANDLER || kind == CALL_EINTR);
}

/* The kernel keeps its own copy of the number: by it, it decides about restarting, and whether
 * /proc shows the arguments of a call. */
static int set_kernels_number(pid_t tid, int nr)
{
	struct iovec io = { &nr, sizeof(nr) };

	return ptrace(PTRACE_SETREGSET, tid, NT_ARM_SYSTEM_CALL, &io) ? -errno : 0;
}

int arch_show_call(pid_t tid, const struct arch_state *state)
{
	return set_kernels_number(tid, (int)state->regs.regs[8]);
}

int arch_hide_call(pid_t tid)
{
	return set_kernels_number(tid, -1);
}

/* The frame holds them in the order of user_regs_struct. */
bool arch_has_signal_frame(const struct arch_state *state, const void *below, size_t size)
{
	return memmem(below, size, &state->regs, offsetof(struct user_regs_struct, pstate));
}

/* FUTEX_WAIT_BITSET takes an absolute time, and the kernel returns ERESTART_RESTARTBLOCK from it.
 * ERESTARTNOHAND needs no restart block and has the same effect: the call waits until the same
 * time, and ends with EINTR after any handler. */
static long futex_code(const struct user_regs_struct *regs)
{
	switch (regs->regs[1] & FUTEX_COMMANDS) {
	case FUTEX_WAIT:
		return -ERESTARTSYS;
	case FUTEX_WAIT_BITSET:
		return regs->regs[3] ? -ERESTARTNOHAND : -ERESTARTSYS;
	default: /* those with priority inheritance */
		return -ERESTARTNOINTR;
	}
}

/* As x86-64 shows them in rax. */
static long sleep_code(const struct user_regs_struct *regs)
{
	switch (regs->regs[8]) {
	case SYS_futex:
		return futex_code(regs);
	case SYS_clock_nanosleep:
		return regs->regs[1] & ABSOLUTE_TIME ? -ERESTARTNOHAND : -ERESTARTSYS;
	default:
		return -ERESTARTSYS;
	}
}

/* The code that the kernel would have had in x0 before it wound the call back; 0: not a call to
 * restart. */
static long restart_code(const struct arch_state *state, const struct blocked_call *seen,
			 bool has_entered)
{
	long nr = (long)state->regs.regs[8];

	if (nr == SYS_restart_syscall || (has_entered && has_time_left(&state->regs)))
		return -ERESTART_RESTARTBLOCK;
	switch (syscall_kind(nr)) {
	case CALL_RESTARTS:
		return -ERESTARTSYS;
	case CALL_SLEEPS:
		return sleep_code(&state->regs);
	case CALL_NO_HANDLER:
		return -ERESTARTNOHAND;
	default: /* unknown, but the thread was seen waiting in it */
		return is_seen(state, seen, state->regs.pc + SVC_LENGTH) ? -ERESTARTSYS : 0;
	}
}

static void resume_in_call(struct arch_return *ret, long code, uint64_t svc, uint64_t argument)
{
	ret->was_in_call = ret->needs_argument = true;
	ret->first_argument = argument;
	ret->regs.pc = svc + SVC_LENGTH;
	ret->regs.regs[0] = (unsigned long)code;
	ret->rescue.pc = svc;
	ret->rescue.regs[0] = argument;
}

/* sigreturn drops what restart_syscall would restart: the frame issues the original call, if it is
 * known, and else ends with EINTR (a second stop in one sleep). */
static void plan_rescue(struct arch_return *ret, long entered_nr)
{
	if (ret->nr != SYS_restart_syscall)
		return;
	if (entered_nr >= 0) {
		ret->rescue.regs[8] = (unsigned long)entered_nr;
	} else {
		ret->rescue.pc += SVC_LENGTH;
		ret->rescue.regs[0] = (unsigned long)-EINTR;
	}
}

void arch_plan_return(const struct arch_state *state, const struct blocked_call *seen,
		      const struct blocked_call *cut, long entered_nr, struct arch_return *ret)
{
	bool has_entered = entered_nr >= 0;
	uint64_t pc = state->regs.pc;

	memset(ret, 0, sizeof(*ret));
	ret->regs = ret->rescue = state->regs;
	ret->nr = (long)state->regs.regs[8];
	if (stands_on_svc(state) && restart_code(state, seen, has_entered)) {
		resume_in_call(ret, restart_code(state, seen, has_entered), pc,
			       state->regs.regs[0]);
		plan_rescue(ret, entered_nr);
	} else if (cut->is_known && is_seen(state, seen, pc) && seen->args[0] == cut->args[0]) {
		/* Not so right after an application's handler: then the EINTR is real. */
		resume_in_call(ret, -ERESTARTNOHAND, pc - SVC_LENGTH, cut->args[0]);
	}
}

static void set_escape(struct user_regs_struct *regs, uint64_t code,
		       const struct arch_escape *escape)
{
	regs->pc = code;
	regs->sp = escape->frame;
	regs->regs[30] = escape->landing;
	regs->pstate &= ~(3ull << 10); /* no branch type: the landing need not expect one */
}

void arch_set_syscall(struct user_regs_struct *regs, uint64_t code, long nr, const uint64_t args[6],
		      const struct arch_escape *escape)
{
	set_escape(regs, code, escape);
	for (unsigned i = 0; i < 6; i++)
		regs->regs[i] = args[i];
	regs->regs[8] = (unsigned long)nr;
}

void arch_set_call(struct user_regs_struct *regs, uint64_t function, uint64_t argument,
		   const struct arch_escape *escape)
{
	set_escape(regs, function, escape);
	regs->regs[0] = argument;
}

static unsigned char *add_fpsimd(unsigned char *at, const struct arch_state *state)
{
	const struct user_fpsimd_struct *fp = (const void *)state->vectors;
	struct fpsimd_context record = { .head = { FPSIMD_MAGIC, sizeof(record) } };

	record.fpsr = fp->fpsr;
	record.fpcr = fp->fpcr;
	memcpy(record.vregs, fp->vregs, sizeof(record.vregs));
	memcpy(at, &record, sizeof(record));
	return at + sizeof(record);
}

static unsigned char *add_sve(unsigned char *at, const unsigned char *end,
			      const struct arch_state *state)
{
	const struct user_sve_header *sve = live_sve(state);
	unsigned quads = sve->vl / 16u;
	size_t payload = SVE_SIG_REGS_SIZE(quads),
	       size = ALIGN_UP(SVE_SIG_REGS_OFFSET + payload, 16);
	struct sve_context record = { .head = { SVE_MAGIC, (uint32_t)size }, .vl = sve->vl };

	if (size + sizeof(struct _aarch64_ctx) > (size_t)(end - at))
		return NULL;
	memcpy(at, &record, sizeof(record));
	memcpy(at + SVE_SIG_REGS_OFFSET, (const unsigned char *)sve + SVE_PT_SVE_OFFSET, payload);
	return at + size;
}

size_t arch_build_frame(const struct arch_state *state, const struct arch_return *back,
			uint64_t signal_mask, uint64_t top, unsigned char *buffer, size_t room,
			struct arch_escape *escape)
{
	struct signal_frame frame;
	unsigned char *at = frame.records;

	if (room < sizeof(frame))
		return 0;
	memset(&frame, 0, sizeof(frame));
	frame.stack_flags = 0x55; /* nonsense: the kernel then leaves the alternate stack alone */
	frame.signal_mask = signal_mask;
	memcpy(frame.regs, back->rescue.regs, sizeof(frame.regs));
	frame.sp = back->rescue.sp;
	frame.pc = back->rescue.pc;
	frame.pstate = back->rescue.pstate;
	at = add_fpsimd(at, state);
	if (live_sve(state) && !add_sve(at, frame.records + sizeof(frame.records), state))
		return 0;
	memcpy(buffer, &frame, sizeof(frame));
	escape->frame = ALIGN_DOWN(top - sizeof(frame), 16);
	return sizeof(frame);
}

int arch_restore(pid_t tid, const struct arch_state *state, const struct arch_return *back,
		 bool has_run_code)
{
	const struct user_sve_header *sve = live_sve(state);
	struct iovec io = { (void *)(uintptr_t)sve, state->vectors_size - SVE_OFFSET };
	struct iovec fp = { (void *)(uintptr_t)state->vectors, sizeof(struct user_fpsimd_struct) };
	int r = set_kernels_number(tid, back->was_in_call ? (int)back->nr : -1);

	if (r)
		return r;
	if (has_run_code && ptrace(PTRACE_SETREGSET, tid, NT_PRFPREG, &fp))
		return -errno;
	if (sve && ptrace(PTRACE_SETREGSET, tid, NT_ARM_SVE, &io))
		return -errno;
	return arch_set_regs(tid, &back->regs);
}

/* In this order: with the registers alone the thread would still run its sigreturn. */
int arch_replace_syscall(pid_t tid, uint64_t syscall_return, const struct arch_escape *escape)
{
	struct user_regs_struct regs;
	int r = arch_get_regs(tid, &regs);

	if (r)
		return r;
	regs.pc = syscall_return + SVC_LENGTH;
	regs.regs[30] = escape->landing;
	regs.sp = escape->frame;
	r = arch_set_regs(tid, &regs);
	return r ? r : set_kernels_number(tid, SYS_getpid);
}

void arch_clone_args(uint64_t args[6], uint64_t flags, uint64_t stack, uint64_t thread_pointer,
		     uint64_t tid_word)
{
	args[0] = flags;
	args[1] = stack;
	args[2] = tid_word;
	args[3] = thread_pointer;
	args[4] = tid_word;
	args[5] = 0;
}

/* A call that the kernel has wound back restarts by itself. */
int arch_let_go(pid_t tid, const struct arch_state *state, const struct arch_return *back)
{
	if (!back->was_in_call || stands_on_svc(state))
		return 0;
	return arch_set_regs(tid, &back->rescue);
}
