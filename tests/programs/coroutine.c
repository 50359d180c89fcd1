/*
 * Coroutines on 8 KiB stacks cut from one block, as in a green-thread runtime.  Between the stacks
 * lie pages of a known pattern: whoever writes below the stack pointer as if the whole mapping were
 * the thread's stack destroys them, and with real runtimes the neighbour's stack.
 */
#define _GNU_SOURCE
#include "workload.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define COROUTINES  16
#define STACK_BYTES (8 * 1024)
#define GUARD_BYTES (32 * 1024)
#define SLOT_BYTES  (STACK_BYTES + GUARD_BYTES)
#define BLOCK_BYTES (COROUTINES * SLOT_BYTES + GUARD_BYTES)
#define PATTERN     0x5a
#define DEPTH       4

static unsigned char *block;
static ucontext_t scheduler, contexts[COROUTINES];

static unsigned char *guard_of(int index)
{
	return block + (size_t)index * SLOT_BYTES;
}

static void guard_check(int index)
{
	const unsigned char *guard = guard_of(index);

	if (guard[0] != PATTERN || memcmp(guard, guard + 1, GUARD_BYTES - 1) != 0) {
		workload_corrupt("coroutine: written outside of a stack");
		memset(guard_of(index), PATTERN, GUARD_BYTES);
	}
}

/* Goes down until little of the stack is left, and computes there. */
__attribute__((noinline)) static uint64_t stack_descend(int depth, uint64_t seed)
{
	volatile unsigned char room[1200];
	uint64_t sum = 0;

	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = (unsigned char)(seed + i);
	if (depth > 0)
		sum = stack_descend(depth - 1, seed + 1);
	for (int turn = 0; depth == 0 && turn < 200; turn++)
		sum += room[(size_t)turn * 5 % sizeof(room)];
	for (size_t i = 0; i < sizeof(room); i++) {
		if (room[i] != (unsigned char)(seed + i))
			workload_corrupt("coroutine: stack changed");
	}
	return sum;
}

static void coroutine_main(int index)
{
	for (;;) {
		stack_descend(DEPTH, (uint64_t)index);
		swapcontext(&contexts[index], &scheduler);
	}
}

static void coroutine_make(int index)
{
	ucontext_t *context = &contexts[index];

	getcontext(context);
	context->uc_stack.ss_sp = guard_of(index) + GUARD_BYTES;
	context->uc_stack.ss_size = STACK_BYTES;
	context->uc_link = NULL;
	makecontext(context, (void (*)(void))coroutine_main, 1, index);
}

static void coroutine_run(const void *data)
{
	(void)data;
	block = mmap(NULL, BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (block == MAP_FAILED)
		workload_skip("mmap");
	memset(block, PATTERN, BLOCK_BYTES);
	for (int i = 0; i < COROUTINES; i++)
		coroutine_make(i);
	workload_ready();
	for (int turn = 0;; turn = (turn + 1) % COROUTINES) {
		for (int i = 0; i < 50; i++)
			swapcontext(&scheduler, &contexts[turn]);
		guard_check(turn);
		guard_check(turn + 1);
		workload_turn();
	}
}

const struct workload workloads[] = {
	{ "coroutine", coroutine_run, NULL },
	{ NULL, NULL, NULL },
};
