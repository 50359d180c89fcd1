/*
 * Runs inside the target: no libc.
 */
#include "target/runtime/starter.h"

#include "target/runtime/kernel_clock.h"

#include <linux/futex.h>
#include <stdbool.h>

#define END_PAUSE_NS 20000

static uint32_t state_of(const struct boot_errand *errand)
{
	return __atomic_load_n(&errand->state, __ATOMIC_ACQUIRE); /* pairs with set_state() */
}

static void set_state(struct boot_errand *errand, enum errand_state state)
{
	/* Release: pairs with the acquire in state_of(); publishes the errand, or its result. */
	__atomic_store_n(&errand->state, state, __ATOMIC_RELEASE);
	raw3(SYS_futex, &errand->state, FUTEX_WAKE_PRIVATE, 1);
}

static void await_change(struct boot_errand *errand, enum errand_state state)
{
	raw4(SYS_futex, &errand->state, FUTEX_WAIT_PRIVATE, state, 0);
}

void starter_serve(struct boot_context *boot)
{
	struct boot_errand *errand = &boot->errand;
	uint32_t state;

	while ((state = state_of(errand)) != ERRAND_OVER) {
		if (state != ERRAND_ASKED) {
			await_change(errand, ERRAND_NONE);
			continue;
		}
		((void (*)(void *))errand->work)((void *)errand->argument);
		set_state(errand, ERRAND_NONE);
	}
}

void starter_ask(struct boot_context *boot, void (*work)(void *argument), void *argument)
{
	struct boot_errand *errand = &boot->errand;

	errand->work = (uint64_t)work;
	errand->argument = (uint64_t)argument;
	set_state(errand, ERRAND_ASKED);
	while (state_of(errand) == ERRAND_ASKED)
		await_change(errand, ERRAND_ASKED);
}

/* The kernel clears the word a moment before the thread has ended. */
static bool starter_is_there(const struct boot_context *boot)
{
	const uint32_t *word = (const uint32_t *)(boot->region + boot->tid_word);

	if (!boot->starter_tid)
		return false;
	return (boot->tid_word && __atomic_load_n(word, __ATOMIC_ACQUIRE)) ||
	       !raw3(SYS_tgkill, raw0(SYS_getpid), boot->starter_tid, 0);
}

void starter_dismiss(struct boot_context *boot)
{
	set_state(&boot->errand, ERRAND_OVER);
	while (starter_is_there(boot))
		sleep_ns(END_PAUSE_NS);
	boot->starter_tid = 0;
}
