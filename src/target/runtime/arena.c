/*
 * The word that glibc keeps for each thread (thread_arena) is empty in a new one, and filled by its
 * first allocation.  Runs inside the target: no libc.
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

/* Another one stays: libc gave it to the thread, and counted it, where the main one could not
 * grow. */
void arena_part(const struct boot_libc *libc)
{
	if (libc->arena && *arena_word(libc) == libc->arena)
		*arena_word(libc) = 0;
}
