/*
 * glibc's per-thread word (thread_arena) is empty in a new thread, and set by its first allocation.
 * Runs inside the target: no libc.
 */
#include "target/runtime/arena.h"

#include "shared/arch/ticks.h"

static uint64_t *arena_word(const struct boot_libc *libc)
{
	return (uint64_t *)(thread_pointer() + libc->arena_word);
}

void arena_share(const struct boot_libc *libc)
{
	if (libc->is_arena_shared && !*arena_word(libc))
		*arena_word(libc) = libc->arena;
}

/* Keeps another arena: libc counted the thread there when the main arena could not grow. */
void arena_part(const struct boot_libc *libc)
{
	if (libc->arena && *arena_word(libc) == libc->arena)
		*arena_word(libc) = 0;
}
