/*
 * Programs with moments in which a thread is not to be touched: restartable sequences, as
 * per-processor allocators have them; system calls that are dispatched to the program itself, as
 * Wine does; a signal handler, or a coroutine, on a stack that lies in the middle of the thread's
 * stack.
 */
#define _GNU_SOURCE
#include "workload.h"

#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <ucontext.h>
#include <unistd.h>

#define SPINS       20000u
#define DISPATCH    59 /* PR_SET_SYSCALL_USER_DISPATCH */
#define DISPATCH_ON 1
#define STACK       (1024 * 1024)
#define IN_USE      16384
#define COROUTINE   2048
#define SPARE       1024 /* what the handler's stack has beyond the kernel's own frame */

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

/* The kernel's struct rseq, of which libc keeps one for each thread (glibc 2.35). */
struct sequence {
	uint32_t processor_start, processor;
	volatile uint64_t section;
};

extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));

#define ABORTED 1

/* Spins inside a sequence.  Returns whether it was aborted, else what the area says at its end: the
 * kernel forgets the section as soon as it sees the thread outside of it. */
uint64_t section_run(struct sequence *area, uint64_t spins, uint64_t *ret_section);

#if defined(__x86_64__)
__asm__(".pushsection .data.rel.ro.sequence, \"aw\"\n"
	".balign 32\n"
	"sequence: .long 0, 0\n"
	".quad 1f, 2f - 1f, 3f\n"
	".popsection\n"
	".pushsection .text\n"
	".globl section_run\n"
	"section_run: leaq sequence(%rip), %rax\n"
	"movq %rax, (%rdx)\n"
	"movq %rax, 8(%rdi)\n"
	"1: decq %rsi\n"
	"jnz 1b\n"
	"movq 8(%rdi), %rax\n"
	"2: ret\n"
	".byte 0x0f, 0xb9, 0x3d\n"
	".long 0x53053053\n"
	"3: movl $1, %eax\n"
	"ret\n"
	".popsection");
#elif defined(__aarch64__)
__asm__(".pushsection .data.rel.ro.sequence, \"aw\"\n"
	".balign 32\n"
	"sequence: .long 0, 0\n"
	".quad 1f, 2f - 1f, 3f\n"
	".popsection\n"
	".pushsection .text\n"
	".globl section_run\n"
	"section_run: adrp x3, sequence\n"
	"add x3, x3, :lo12:sequence\n"
	"str x3, [x2]\n"
	"str x3, [x0, #8]\n"
	"1: subs x1, x1, #1\n"
	"b.ne 1b\n"
	"ldr x0, [x0, #8]\n"
	"2: ret\n"
	".inst 0xd428bc00\n"
	"3: mov x0, #1\n"
	"ret\n"
	".popsection");
#endif

static void spin(unsigned count)
{
	for (volatile unsigned i = 0; i < count; i++)
		;
}

static struct sequence *area_of_thread(void)
{
	if (!&__rseq_size || !__rseq_size)
		workload_skip("no restartable sequences");
	return (struct sequence *)((char *)__builtin_thread_pointer() + __rseq_offset);
}

/* Most of the time in a sequence. */
static void sequence_run(const void *data)
{
	struct sequence *area = area_of_thread();

	(void)data;
	workload_ready();
	for (;;) {
		uint64_t begun, ended = section_run(area, 8 * SPINS, &begun);

		if (ended != ABORTED && ended != begun)
			workload_corrupt("a sequence went on where it should have been aborted");
		area->section = 0;
		spin(SPINS);
		workload_turn();
	}
}

/* Linux 6.4: before, tracers are not told, and limpet cannot know. */
static bool tracers_are_told(void)
{
	struct utsname system;
	int major = 0, minor = 0;

	uname(&system);
	return sscanf(system.release, "%d.%d", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 4));
}

static volatile unsigned char selector; /* 0: calls go to the kernel, 1: to the program */

static void dispatched(int number)
{
	(void)number;
	selector = 0;
	workload_corrupt("a system call that the program has not made");
}

/* Half of the time no call of the thread's reaches the kernel; it makes none then. */
static void dispatch_run(const void *data)
{
	(void)data;
	signal(SIGSYS, dispatched);
	if (!tracers_are_told() || prctl(DISPATCH, DISPATCH_ON, 0, 0, &selector))
		workload_skip("no dispatch of system calls");
	workload_ready();
	for (;;) {
		selector = 1;
		spin(SPINS);
		selector = 0;
		spin(SPINS);
		workload_turn();
	}
}

static volatile unsigned char *in_use; /* right below the stack in the middle */

static void in_use_watch(void)
{
	for (;;) {
		for (unsigned i = 0; i < IN_USE; i++)
			if (in_use[i] != 0x5a)
				workload_corrupt("below the stack in the middle");
		workload_turn();
	}
}

static void handler_stay(int number)
{
	(void)number;
	in_use_watch();
}

static __attribute__((noinline)) void stack_use(void)
{
	unsigned char bytes[IN_USE];

	memset(bytes, 0x5a, sizeof(bytes));
	in_use = bytes;
	workload_ready();
	workload_turn(); /* the first call of a function takes more of a stack */
	raise(SIGUSR1);
}

static void *handler_thread(void *argument)
{
	struct sigaction action = { .sa_handler = handler_stay, .sa_flags = SA_ONSTACK };
	size_t least = getauxval(AT_MINSIGSTKSZ), size = (least ? least : 4096) + SPARE;
	stack_t stack = { .ss_sp = alloca(size), .ss_size = size };

	sigfillset(&action.sa_mask);
	if (sigaltstack(&stack, NULL) || sigaction(SIGUSR1, &action, NULL))
		workload_skip("sigaltstack");
	stack_use();
	return argument;
}

/* Its only thread is in a handler for ever; what it interrupted is below the handler's stack. */
static void handler_run(const void *data)
{
	(void)data;
	thread_start(handler_thread, NULL, STACK);
	pthread_exit(NULL);
}

static __attribute__((noinline)) void coroutine_enter(const ucontext_t *coroutine)
{
	unsigned char bytes[IN_USE];

	memset(bytes, 0x5a, sizeof(bytes));
	in_use = bytes;
	workload_ready();
	workload_turn();
	setcontext(coroutine);
}

/* Its only thread is in a coroutine for ever, and what it will come back to is below. */
static void coroutine_run(const void *data)
{
	ucontext_t coroutine;

	(void)data;
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = alloca(COROUTINE);
	coroutine.uc_stack.ss_size = COROUTINE;
	makecontext(&coroutine, in_use_watch, 0);
	coroutine_enter(&coroutine);
}

const struct workload workloads[] = {
	{ "coroutine", coroutine_run, NULL },
	{ "handler", handler_run, NULL },
	{ "sequence", sequence_run, NULL },
	{ "dispatch", dispatch_run, NULL },
	{ NULL, NULL, NULL },
};
