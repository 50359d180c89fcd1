/*
 * The emergency frame: where it lies, and the real thing: a child whose registers were all replaced
 * comes back by it with every one as before.
 */
#include "unit.h"

#include <dlfcn.h>
#include <elf.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/process/memory.h"
#include "shared/arch/elf.h"
#include "shared/arch/registers.h"
#include "shared/elf/image.h"

#define TOP 0x7ffff0000000ull

/* What differs between machines: which registers may hold anything, and where vectors begin. */
#if defined(__aarch64__)
#define VECTORS_OFFSET  0
#define VECTORS_SIZE    512
#define FRAME_REMAINDER 0
#define SPIN            "b spin_here"

static void fill_registers(struct user_regs_struct *regs)
{
	for (unsigned i = 0; i < 31; i++)
		regs->regs[i] = 0x0123456789abcdef * (i + 1);
	regs->pstate = (regs->pstate & ~0xf0000000ull) | 0xa0000000;
}
#else
#define VECTORS_OFFSET  160 /* of the SSE registers in an FXSAVE area */
#define VECTORS_SIZE    256
#define FRAME_REMAINDER 8 /* as after a call instruction */
#define SPIN            "jmp spin_here"

static void fill_registers(struct user_regs_struct *regs)
{
	unsigned long long *const all[] = { &regs->r8,  &regs->r9,  &regs->r10, &regs->r11,
					    &regs->r12, &regs->r13, &regs->r14, &regs->r15,
					    &regs->rdi, &regs->rsi, &regs->rbp, &regs->rbx,
					    &regs->rdx, &regs->rax, &regs->rcx };

	for (unsigned i = 0; i < ARRAY_SIZE(all); i++)
		*all[i] = 0x0123456789abcdef * (i + 1);
	regs->eflags |= 0x8d5 & ~0x100ul; /* all arithmetic flags */
}
#endif

static struct arch_state before, after;
static struct arch_return back;
static unsigned char frame[ARCH_FRAME_MAX];

static void plan(struct arch_state *state)
{
	static const struct blocked_call none;

	state->code[0] = state->code[1] = 0;
	arch_plan_return(state, &none, &none, -1, &back);
}

static void stop(pid_t child)
{
	int status;

	assert_int_equal(ptrace(PTRACE_INTERRUPT, child, 0, 0), 0);
	assert_int_equal(waitpid(child, &status, __WALL), child);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(status >> 16, PTRACE_EVENT_STOP);
}

static void take(pid_t child, struct arch_state *ret)
{
	memset(ret, 0, sizeof(*ret));
	assert_int_equal(arch_take(child, ret), 0);
}

/* Lets a stopped child run until it stands in its loop. */
static void let_it_come_to(pid_t child, uint64_t address, struct arch_state *ret)
{
	for (unsigned tries = 0; tries < PATIENCE_MS; tries++) {
		assert_int_equal(ptrace(PTRACE_CONT, child, 0, 0), 0);
		usleep(1000);
		stop(child);
		take(child, ret);
		if (arch_instruction_pointer(&ret->regs) == address)
			return;
	}
	fail_msg("the child did not come to its loop");
}

/* One instruction, for ever. */
void spin_here(void);
__asm__(".pushsection .text\n"
	".globl spin_here\n"
	"spin_here: " SPIN "\n"
	".popsection");

/* A child in that loop, stopped; its tracer is this process. */
static pid_t start_spinning(void)
{
	pid_t child = fork();

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* also where a test fails */
		spin_here();
	}
	if (ptrace(PTRACE_SEIZE, child, 0, 0)) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		skip(); /* not allowed here */
	}
	stop(child);
	let_it_come_to(child, (uintptr_t)spin_here, &before);
	return child;
}

static void end(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, __WALL);
}

static void fill_vectors(pid_t child, unsigned char factor)
{
	static unsigned char set[1024];
	struct iovec io = { set, sizeof(set) };

	assert_int_equal(ptrace(PTRACE_GETREGSET, child, NT_PRFPREG, &io), 0);
	assert_true(io.iov_len >= VECTORS_OFFSET + VECTORS_SIZE);
	for (unsigned i = 0; i < VECTORS_SIZE; i++)
		set[VECTORS_OFFSET + i] = (unsigned char)(factor * (i + 1));
	assert_int_equal(ptrace(PTRACE_SETREGSET, child, NT_PRFPREG, &io), 0);
}

static int read_ourselves(void *context, uint64_t address, void *into, size_t size)
{
	(void)context;
	memcpy(into, (void *)(uintptr_t)address, size);
	return 0;
}

/* The child has the same libc and vdso at the same addresses. */
static uint64_t find_code(const char *bytes, size_t size)
{
	static const struct memory_reader reader = { read_ourselves, NULL };
	struct elf_image image;
	uint64_t ret = 0;
	Dl_info info;

	dladdr(dlsym(RTLD_NEXT, "gnu_get_libc_version"), &info);
	assert_int_equal(elf_image_open(&image, &reader, (uintptr_t)info.dli_fbase), 0);
	if (!elf_image_find(&image, bytes, size, &ret))
		return ret;
	assert_int_equal(elf_image_open(&image, &reader, getauxval(AT_SYSINFO_EHDR)), 0);
	assert_int_equal(elf_image_find(&image, bytes, size, &ret), 0);
	return ret;
}

/* Lays the frame and sends the child through a call of ours, with nobody there to put it back. */
static void abandon(pid_t child, uint64_t mask)
{
	struct arch_escape escape = { .landing = find_code(ARCH_SIGRETURN,
							   sizeof(ARCH_SIGRETURN) - 1) };
	uint64_t top = arch_stack_pointer(&before.regs) - ARCH_RED_ZONE, args[6] = { 0 };
	struct user_regs_struct regs = before.regs;
	int memory = memory_open(child);
	size_t size = arch_build_frame(&before, &back, mask, top, frame, sizeof(frame), &escape);

	assert_true(size > 0);
	assert_int_equal(pwrite(memory, frame, size, (off_t)escape.frame), size);
	close(memory);
	memset(frame, 0, sizeof(frame));
	arch_set_syscall(&regs, find_code(ARCH_SYSCALL_RETURN, sizeof(ARCH_SYSCALL_RETURN) - 1),
			 SYS_getpid, args, &escape);
	assert_int_equal(arch_set_regs(child, &regs), 0);
	fill_vectors(child, 0);
}

static void brings_back_every_register(void **state)
{
	uint64_t mask = 1ull << (SIGUSR1 - 1) | 1ull << (SIGUSR2 - 1), seen = 0;
	pid_t child = start_spinning();

	(void)state;
	fill_registers(&before.regs);
	assert_int_equal(arch_set_regs(child, &before.regs), 0);
	fill_vectors(child, 37);
	take(child, &before);
	plan(&before);
	abandon(child, mask);
	let_it_come_to(child, arch_instruction_pointer(&before.regs), &after);
	assert_int_equal(ptrace(PTRACE_GETSIGMASK, child, sizeof(seen), &seen), 0);
	end(child);
	assert_memory_equal(&before.regs, &after.regs, sizeof(before.regs));
	assert_int_equal(before.thread_pointer, after.thread_pointer);
	assert_int_equal(before.vectors_size, after.vectors_size);
	assert_memory_equal(before.vectors + VECTORS_OFFSET, after.vectors + VECTORS_OFFSET,
			    VECTORS_SIZE);
	assert_int_equal(seen, mask);
}

/* A thread that was never changed goes on by itself. */
static void takes_without_changing(void **state)
{
	pid_t child = start_spinning();

	(void)state;
	plan(&before);
	assert_false(back.was_in_call);
	assert_int_equal(arch_let_go(child, &before, &back), 0);
	let_it_come_to(child, (uintptr_t)spin_here, &after);
	end(child);
	assert_memory_equal(&before.regs, &after.regs, sizeof(before.regs));
}

/* Registers and vectors as a real thread has them. */
static void take_any_state(void)
{
	end(start_spinning());
	plan(&before);
}

static void lies_below_the_top(void **state)
{
	(void)state;
	take_any_state();
	for (uint64_t top = TOP; top < TOP + 200; top++) {
		struct arch_escape escape = { .landing = 0x1234 };
		size_t size =
			arch_build_frame(&before, &back, 0, top, frame, sizeof(frame), &escape);

		assert_true(size > 0);
		assert_true(escape.frame + size <= top);
		assert_true(escape.frame + size + 256 > top);
		assert_int_equal(escape.frame % 16, FRAME_REMAINDER);
		assert_int_equal(escape.landing, 0x1234);
	}
}

static void does_not_leave_its_room(void **state)
{
	struct arch_escape escape = { .landing = 0x1234 };
	size_t size;

	(void)state;
	take_any_state();
	size = arch_build_frame(&before, &back, 0, TOP, frame, sizeof(frame), &escape);
	for (size_t room = 0; room < size; room += 8) {
		memset(frame, 0xee, sizeof(frame));
		assert_int_equal(arch_build_frame(&before, &back, 0, TOP, frame, room, &escape), 0);
		for (size_t i = 0; i < sizeof(frame); i += 64)
			assert_int_equal(frame[i], 0xee);
	}
	assert_int_equal(arch_build_frame(&before, &back, 0, TOP, frame, size, &escape), size);
	assert_int_equal(frame[size], 0xee);
}

static void sets_a_system_call(void **state)
{
	static const uint64_t args[6] = { 11, 12, 13, 14, 15, 16 };
	const struct arch_escape escape = { .frame = 0x7000, .landing = 0x8000 };
	struct user_regs_struct regs = { 0 };

	(void)state;
	arch_set_syscall(&regs, 0x9000, SYS_read, args, &escape);
	assert_int_equal(arch_instruction_pointer(&regs), 0x9000);
	assert_int_equal(arch_stack_pointer(&regs), 0x7000);
	arch_set_call(&regs, 0xa000, 42, &escape);
	assert_int_equal(arch_instruction_pointer(&regs), 0xa000);
	assert_int_equal(arch_stack_pointer(&regs), 0x7000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(brings_back_every_register),
		cmocka_unit_test(takes_without_changing),
		cmocka_unit_test(lies_below_the_top),
		cmocka_unit_test(does_not_leave_its_room),
		cmocka_unit_test(sets_a_system_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
