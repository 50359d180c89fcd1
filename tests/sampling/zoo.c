/*
 * Stacks that are hard to walk, one kind for each argument.  Each runs until it is killed.  The
 * order of the functions is the truth that test_exactness.py compares with.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline, noipa))

typedef void (*leaf_function)(unsigned);

static const char *plugin_path, *self_path;
static volatile unsigned sink;

/* In a library of its own, so that each call goes through the table of stubs. */
extern void zoo_library_step(unsigned value);
extern void zoo_library_call(leaf_function function, unsigned value);

APART void spin(unsigned value)
{
	for (unsigned i = 0; i < 2000; i++)
		value = value * 1664525 + 1013904223;
	sink = value;
}

APART void plt_inner(unsigned value)
{
	for (unsigned i = 0; i < 1000; i++)
		zoo_library_step(value + i);
	sink++;
}

APART void plt_outer(void)
{
	for (;;)
		plt_inner(sink);
}

APART void signal_inner(void)
{
	for (;;)
		spin(sink);
}

APART void signal_outer(void)
{
	signal_inner();
	sink++;
}

APART void handler_inner(void)
{
	for (unsigned i = 0; i < 300; i++)
		spin(i);
	sink++;
}

static void on_signal(int number)
{
	(void)number;
	handler_inner();
	sink++;
}

static void run_signals(int flags)
{
	static char stack[65536];
	const stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART | flags };
	const struct itimerval timer = { { 0, 3000 }, { 0, 3000 } };

	sigaltstack(&other, NULL);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	signal_outer();
}

APART void run_signal(void)
{
	run_signals(0);
	sink++;
}

APART void run_altstack(void)
{
	run_signals(SA_ONSTACK);
	sink++;
}

APART void alloca_inner(unsigned size)
{
	volatile char *room = __builtin_alloca(size % 512 + 16);

	room[size % 16] = 1;
	spin(size);
	sink += (unsigned)room[size % 16];
}

APART void alloca_aligned(unsigned size)
{
	volatile char aligned[64] __attribute__((aligned(64)));
	volatile char *room = __builtin_alloca(size % 512 + 16);

	aligned[size % 64] = room[0] = 1;
	alloca_inner(size + (unsigned)((uintptr_t)aligned % 64));
	sink += (unsigned)aligned[size % 64] + (unsigned)room[0];
}

APART void run_alloca(void)
{
	for (;;)
		alloca_aligned(sink);
}

/* It moves sp by a number that nobody knows before, and has no rules: only x30 and x29 lead to its
 * caller, as in V8's CallFunction. */
#ifdef __aarch64__
extern void room_inner(unsigned long words);
__asm__(".text\n"
	".globl room_inner\n"
	".type room_inner, %function\n"
	"room_inner:\n"
	"	mov	x1, #2000\n"
	"	sub	sp, sp, x0, uxtx #3\n"
	"1:	str	x1, [sp]\n"
	"	subs	x1, x1, #1\n"
	"	b.ne	1b\n"
	"	add	sp, sp, x0, uxtx #3\n"
	"	ret\n"
	".size room_inner, . - room_inner\n");
#else
APART void room_inner(unsigned long words)
{
	spin((unsigned)words);
	sink++;
}
#endif

/* What it allocates makes it keep x29. */
APART void room_outer(unsigned size)
{
	volatile char *room = __builtin_alloca(size % 512 + 16);

	room[size % 16] = 1;
	room_inner(2 + size % 8 * 2);
	sink += (unsigned)room[size % 16];
}

APART void run_room(void)
{
	for (;;)
		room_outer(sink);
}

APART void hole_inner(void)
{
	for (unsigned i = 0; i < 300; i++)
		spin(i);
	sink++;
}

/* Of its buffer nothing is ever written, so most of its pages are not there. */
APART void hole_outer(void)
{
	volatile char room[6 * 4096];

	__asm__ volatile("" : : "r"(room) : "memory");
	hole_inner();
	sink++;
}

APART void run_hole(void)
{
	for (;;)
		hole_outer();
}

APART void run_vdso(void)
{
	struct timespec time;

	for (;;) {
		clock_gettime(CLOCK_MONOTONIC, &time);
		sink += (unsigned)time.tv_nsec;
	}
}

/* A callback from a library that comes and goes. */
APART void run_dlopen(void)
{
	for (;;) {
		void *library = dlopen(plugin_path, RTLD_NOW);
		void *symbol = library ? dlsym(library, "zoo_library_call") : NULL;
		void (*call)(leaf_function, unsigned);

		if (!symbol)
			exit(3);
		memcpy(&call, &symbol, sizeof(call));
		for (unsigned i = 0; i < 2000; i++)
			call(spin, i);
		dlclose(library);
	}
}

APART void forked_work(void)
{
	for (unsigned i = 0; i < 10000; i++)
		spin(i);
	sink++;
}

APART void run_fork(void)
{
	for (;;) {
		pid_t child = fork();

		if (!child) {
			forked_work();
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
}

APART void executed_work(void)
{
	for (unsigned i = 0; i < 20000; i++)
		spin(i);
	sink++;
}

APART void run_exec(void)
{
	executed_work();
	execl(self_path, self_path, "exec", plugin_path, NULL);
	exit(4);
}

static const struct {
	const char *name;
	void (*run)(void);
} kinds[] = {
	{ "plt", plt_outer },     { "signal", run_signal }, { "altstack", run_altstack },
	{ "alloca", run_alloca }, { "vdso", run_vdso },     { "dlopen", run_dlopen },
	{ "fork", run_fork },     { "exec", run_exec },     { "hole", run_hole },
	{ "room", run_room },
};

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	self_path = argv[0];
	plugin_path = argv[2];
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, argv[1]))
			kinds[i].run();
	return 2;
}
