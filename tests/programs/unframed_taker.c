/*
 * Takes blocks when a line comes, in functions that keep no frame pointers, on the first thread, on
 * another one and in a coroutine; says "done" and waits.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#define BLOCKS      20000
#define BYTES       200
#define STACK_BYTES 65536

static void *volatile taken;

static __attribute__((noinline)) void take_inner(size_t size)
{
	taken = malloc(size);
	__asm__ volatile("");
}

static __attribute__((noinline)) void take_outer(size_t size)
{
	take_inner(size);
	__asm__ volatile("");
}

static void *take_on_thread(void *unused)
{
	for (int i = 0; i < BLOCKS; i++)
		take_outer(BYTES);
	return unused;
}

static void take_on_coroutine(void)
{
	for (int i = 0; i < BLOCKS; i++)
		take_outer(BYTES);
}

static int run_thread(void)
{
	pthread_t thread;

	return pthread_create(&thread, NULL, take_on_thread, NULL) || pthread_join(thread, NULL);
}

static void run_coroutine(void)
{
	static char stack[STACK_BYTES];
	ucontext_t here, there;

	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof(stack);
	there.uc_link = &here;
	makecontext(&there, take_on_coroutine, 0);
	swapcontext(&here, &there);
}

int main(void)
{
	char line[16];

	taken = malloc(1); /* bound before anybody looks */
	puts("ready");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	for (int i = 0; i < BLOCKS; i++)
		take_outer(BYTES);
	if (run_thread())
		return 1;
	run_coroutine();
	puts("done");
	fflush(stdout);
	return fgets(line, sizeof(line), stdin) ? 0 : 1;
}
