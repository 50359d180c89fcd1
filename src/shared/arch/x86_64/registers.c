/*
 * x86-64: the registers of a stopped thread.  The kernel keeps the whole story of an interrupted
 * call in them (orig_rax and a -ERESTART code in rax) and acts on it when the tracer lets go, so
 * they are put back as found.
 */
#include "shared/arch/registers.h"

#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

/* The kernel's own codes; user space never sees them. */
#define ERESTARTSYS           512
#define ERESTARTNOINTR        513
#define ERESTARTNOHAND        514
#define ERESTART_RESTARTBLOCK 516

#define SYSCALL_LENGTH  2
#define FLAG_TRAP       0x100ul
#define FLAG_DIRECTION  0x400ul
#define XFEATURES_AMX   (3ull << 17)
#define FP_MAGIC1       0x46505853u
#define FP_MAGIC2       0x46505845u
#define SOFTWARE_OFFSET 464 /* of the bytes that FXSAVE leaves to software */
#define HEADER_OFFSET   512 /* of the XSAVE header: which features are live */

/* struct ucontext as the kernel lays it for rt_sigreturn, behind the return address. */
struct signal_frame {
	uint64_t return_address;
	uint64_t flags, link;
	uint64_t stack_base;
	uint64_t stack_flags; /* 32 bits and padding */
	uint64_t stack_size;
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip,
		eflags;
	uint16_t cs, gs, fs, ss;
	uint64_t error, trap, old_mask, cr2, fpstate, reserved[8];
	uint64_t signal_mask;
};

_Static_assert(sizeof(struct signal_frame) == 8 + 40 + 256 + 8,
	       "layout of the kernel's rt_sigframe");

uint64_t arch_stack_pointer(const struct user_regs_struct *regs)
{
	return regs->rsp;
}

uint64_t arch_instruction_pointer(const struct user_regs_struct *regs)
{
	return regs->rip;
}

void arch_go_to(struct user_regs_struct *regs, uint64_t address)
{
	regs->rip = address;
}

uint64_t arch_link_register(const struct user_regs_struct *regs)
{
	(void)regs; /* return addresses are on the stack */
	return 0;
}

long arch_syscall_number(const struct user_regs_struct *regs)
{
	return (long)regs->orig_rax;
}

long arch_syscall_result(const struct user_regs_struct *regs)
{
	return (long)regs->rax;
}

int arch_take(pid_t tid, struct arch_state *ret)
{
	struct iovec io = { ret->vectors, sizeof(ret->vectors) - 8 };
	int r = arch_get_regs(tid, &ret->regs);

	if (r)
		return r;
	if (ret->regs.cs != 0x33)
		return -ENOEXEC;
	if (ptrace(PTRACE_GETREGSET, tid, NT_X86_XSTATE, &io))
		return -errno;
	ret->vectors_size = io.iov_len;
	ret->thread_pointer = ret->regs.fs_base;
	return 0;
}

bool arch_must_look_again(const struct arch_state *state)
{
	(void)state;
	return false;
}

bool arch_must_ask_argument(const struct arch_state *state)
{
	(void)state;
	return false;
}

int arch_show_call(pid_t tid, const struct arch_state *state)
{
	(void)tid;
	(void)state;
	return 0;
}

int arch_hide_call(pid_t tid)
{
	(void)tid;
	return 0;
}

bool arch_has_signal_frame(const struct arch_state *state, const void *below, size_t size)
{
	(void)state, (void)below, (void)size;
	return false;
}

bool arch_may_have_restart_block(const struct arch_state *state)
{
	return (long)state->regs.orig_rax >= 0 && (long)state->regs.rax == -ERESTART_RESTARTBLOCK;
}

/* EINTR only because of the stop: the kernel shall restart the call unless a handler runs. */
static bool must_reissue(long nr, long result)
{
	enum syscall_kind kind = syscall_kind(nr);

	return result == -EINTR &&
	       (kind == CALL_RESTARTS || kind == CALL_NO_HANDLER || kind == CALL_EINTR);
}

static bool is_restart_code(long result)
{
	return result == -ERESTARTSYS || result == -ERESTARTNOINTR || result == -ERESTARTNOHAND ||
	       result == -ERESTART_RESTARTBLOCK;
}

/* The emergency frame ends in sigreturn, which forgets restart blocks: the call is issued anew
 * there, and where its number is lost (second stop of one sleep) it ends with EINTR. */
static void plan_rescue(struct arch_return *ret)
{
	if (ret->nr == SYS_restart_syscall) {
		ret->rescue.rax = (unsigned long)-EINTR;
	} else {
		ret->rescue.rax = (unsigned long)ret->nr;
		ret->rescue.rip -= SYSCALL_LENGTH;
	}
	ret->rescue.orig_rax = -1ul;
}

void arch_plan_return(const struct arch_state *state, const struct blocked_call *seen,
		      const struct blocked_call *cut, long entered_nr, struct arch_return *ret)
{
	long nr = (long)state->regs.orig_rax, result = (long)state->regs.rax;

	(void)seen;
	(void)cut;
	(void)entered_nr;
	memset(ret, 0, sizeof(*ret));
	ret->regs = ret->rescue = state->regs;
	ret->nr = nr;
	if (nr < 0 || (!is_restart_code(result) && !must_reissue(nr, result))) {
		/* Not in a call, or the call is over: nothing may be restarted. */
		ret->regs.orig_rax = ret->rescue.orig_rax = -1ul;
		return;
	}
	ret->was_in_call = true;
	if (must_reissue(nr, result))
		ret->regs.rax = (unsigned long)-ERESTARTNOHAND;
	plan_rescue(ret);
}

static void set_escape(struct user_regs_struct *regs, uint64_t code,
		       const struct arch_escape *escape)
{
	regs->rip = code;
	regs->rsp = escape->frame;
	regs->orig_rax = -1ul;
	regs->eflags &= ~(FLAG_TRAP | FLAG_DIRECTION);
}

void arch_set_syscall(struct user_regs_struct *regs, uint64_t code, long nr, const uint64_t args[6],
		      const struct arch_escape *escape)
{
	set_escape(regs, code, escape);
	regs->rax = (unsigned long)nr;
	regs->rdi = args[0];
	regs->rsi = args[1];
	regs->rdx = args[2];
	regs->r10 = args[3];
	regs->r8 = args[4];
	regs->r9 = args[5];
}

void arch_set_call(struct user_regs_struct *regs, uint64_t function, uint64_t argument,
		   const struct arch_escape *escape)
{
	set_escape(regs, function, escape);
	regs->rax = 0;
	regs->rdi = argument;
}

/* The kernel restores the extended state only when the frame claims exactly the task's features:
 * without AMX unless it is in use. */
static uint32_t fit_vectors(unsigned char *area, size_t size)
{
	uint64_t features, live;
	uint32_t used = 576, software[12] = { 0 };

	memcpy(&features, area + SOFTWARE_OFFSET, 8);
	memcpy(&live, area + HEADER_OFFSET, 8);
	if (!(live & XFEATURES_AMX))
		features &= ~XFEATURES_AMX;
	for (unsigned i = 2; i < 63; i++) {
		unsigned a, b, c, d;

		if (!(features >> i & 1))
			continue;
		__cpuid_count(0xd, i, a, b, c, d);
		used = MAX(used, a + b);
	}
	used = (uint32_t)MIN((size_t)used, size);
	software[0] = FP_MAGIC1;
	software[1] = used + 4;
	memcpy(&software[2], &features, 8);
	software[4] = used;
	memcpy(area + SOFTWARE_OFFSET, software, sizeof(software));
	memcpy(area + used, &(uint32_t){ FP_MAGIC2 }, 4);
	return used + 4;
}

static void fill_frame(struct signal_frame *frame, const struct user_regs_struct *r, uint64_t mask)
{
	memset(frame, 0, sizeof(*frame));
	frame->flags = 7;          /* extended state, ss is valid, restore it strictly */
	frame->stack_flags = 0x55; /* nonsense: the kernel then leaves the alternate stack alone */
	frame->r8 = r->r8, frame->r9 = r->r9, frame->r10 = r->r10, frame->r11 = r->r11;
	frame->r12 = r->r12, frame->r13 = r->r13, frame->r14 = r->r14, frame->r15 = r->r15;
	frame->rdi = r->rdi, frame->rsi = r->rsi, frame->rbp = r->rbp, frame->rbx = r->rbx;
	frame->rdx = r->rdx, frame->rax = r->rax, frame->rcx = r->rcx, frame->rsp = r->rsp;
	frame->rip = r->rip, frame->eflags = r->eflags;
	frame->cs = (uint16_t)r->cs, frame->ss = (uint16_t)r->ss;
	frame->signal_mask = mask;
}

size_t arch_build_frame(const struct arch_state *state, const struct arch_return *back,
			uint64_t signal_mask, uint64_t top, unsigned char *buffer, size_t room,
			struct arch_escape *escape)
{
	unsigned char area[ARCH_VECTORS_MAX];
	struct signal_frame frame;
	uint32_t size;
	uint64_t vectors, address;

	memcpy(area, state->vectors, state->vectors_size);
	size = fit_vectors(area, state->vectors_size);
	vectors = ALIGN_DOWN(top - size, 64);
	/* As after a call instruction: the return address is 8 below a multiple of 16. */
	address = ALIGN_DOWN(vectors - sizeof(frame), 16) - 8;
	if (vectors + size - address > room)
		return 0;
	fill_frame(&frame, &back->rescue, signal_mask);
	frame.return_address = escape->landing;
	frame.fpstate = vectors;
	memset(buffer, 0, room);
	memcpy(buffer, &frame, sizeof(frame));
	memcpy(buffer + (vectors - address), area, size);
	escape->frame = address;
	return vectors + size - address;
}

/* mmap and clone touch no vector register. */
int arch_restore(pid_t tid, const struct arch_state *state, const struct arch_return *back,
		 bool has_run_code)
{
	struct iovec io = { (void *)(uintptr_t)state->vectors, state->vectors_size };

	if (has_run_code && ptrace(PTRACE_SETREGSET, tid, NT_X86_XSTATE, &io))
		return -errno;
	return arch_set_regs(tid, &back->regs);
}

int arch_replace_syscall(pid_t tid, uint64_t syscall_return, const struct arch_escape *escape)
{
	struct user_regs_struct regs;
	int r = arch_get_regs(tid, &regs);

	if (r)
		return r;
	regs.orig_rax = SYS_getpid;
	regs.rip = syscall_return + SYSCALL_LENGTH;
	regs.rsp = escape->frame;
	return arch_set_regs(tid, &regs);
}

void arch_clone_args(uint64_t args[6], uint64_t flags, uint64_t stack, uint64_t thread_pointer,
		     uint64_t tid_word)
{
	args[0] = flags;
	args[1] = stack;
	args[2] = tid_word;
	args[3] = tid_word;
	args[4] = thread_pointer;
	args[5] = 0;
}

int arch_let_go(pid_t tid, const struct arch_state *state, const struct arch_return *back)
{
	if (!back->was_in_call || back->regs.rax == state->regs.rax)
		return 0;
	return arch_set_regs(tid, &back->regs);
}
