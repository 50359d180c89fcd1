/*
 * glibc leaves out a thread that is ending, so ours say that they are; that is the state in which
 * they end anyway, and nothing else looks at it while they run.  Where that cannot be said (musl),
 * the thread keeps its capabilities whatever its ids become: then its call does not fail.  Who is
 * left out must see for itself that the program has changed.  Runs inside the target: no libc.
 */
#include "target/runtime/broadcast.h"

#include "shared/arch/syscall.h"
#include "shared/arch/ticks.h"
#include "shared/wire/thread_words.h"

#include <linux/securebits.h>
#include <stdbool.h>
#include <sys/prctl.h>

/* A young thread has no flag but perhaps that of a broadcast, which it will answer, and ours, if
 * who made it was faster. */
static bool thread_hide(char *pointer, int64_t distance)
{
	const uint32_t expected = THREAD_FLAG_SETXID | THREAD_FLAG_ENDING;
	uint32_t *flags = (uint32_t *)(pointer + distance);

	if (!distance || __atomic_load_n(flags, __ATOMIC_RELAXED) & ~expected)
		return false;
	/* Pairs with the exchange by which libc marks the threads that it will tell. */
	__atomic_fetch_or(flags, THREAD_FLAG_ENDING, __ATOMIC_SEQ_CST);
	return true;
}

static void keep_capabilities(void)
{
	long bits = raw1(SYS_prctl, PR_GET_SECUREBITS);

	if (bits >= 0)
		raw2(SYS_prctl, PR_SET_SECUREBITS, bits | SECBIT_NO_SETUID_FIXUP);
}

void broadcast_avoid(const struct boot_libc *libc)
{
	if (!thread_hide(thread_pointer(), libc->thread_flags))
		keep_capabilities();
}

void broadcast_spare(const struct boot_libc *libc, pthread_t thread)
{
	thread_hide((char *)thread - libc->thread_block, libc->thread_flags);
}
