/*
 * glibc skips a thread that is ending, so limpet's threads set that flag at once; they end with it
 * set anyway, and libc does not read it before. Where the flag is unknown (musl), the thread keeps
 * its capabilities whatever its IDs become: then its call does not fail. A skipped thread must find
 * out by itself that the application's IDs changed. Runs inside the target: no libc.
 */
#include "target/runtime/broadcast.h"

#include "shared/arch/syscall.h"
#include "shared/arch/ticks.h"
#include "shared/wire/thread_words.h"

#include <linux/securebits.h>
#include <sys/prctl.h>

typedef int create_function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef int attr_function(pthread_attr_t *);
typedef int setstack_function(pthread_attr_t *, void *, size_t);
typedef int setdetach_function(pthread_attr_t *, int);

/* A new thread has no flag but perhaps that of a broadcast, which it will answer, and the ending
 * flag, if its creator was faster. */
static bool thread_hide(char *pointer, int64_t distance)
{
	const uint32_t expected = THREAD_FLAG_SETXID | THREAD_FLAG_ENDING;
	uint32_t *flags = (uint32_t *)(pointer + distance);

	if (!distance || __atomic_load_n(flags, __ATOMIC_RELAXED) & ~expected)
		return false;
	/* Seq_cst: pairs with the exchange by which libc marks threads for a broadcast. */
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

int broadcast_create(const struct boot_libc *libc, const struct new_thread *thread, pthread_t *ret)
{
	pthread_attr_t attributes;
	int r;

	((attr_function *)libc->pthread_attr_init)(&attributes);
	((setstack_function *)libc->pthread_attr_setstack)(&attributes, thread->stack,
							   thread->stack_size);
	if (thread->is_detached)
		((setdetach_function *)libc->pthread_attr_setdetachstate)(&attributes,
									  PTHREAD_CREATE_DETACHED);
	r = ((create_function *)libc->pthread_create)(ret, &attributes, thread->run,
						      thread->argument);
	if (!r)
		broadcast_spare(libc, *ret);
	return -r;
}
