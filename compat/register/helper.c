/*
 * A thread that waits for peers: all signals blocked, no lock held, no system call that would
 * mind being interrupted and repeated by somebody's ptrace.  A child of fork has no such thread and
 * starts none: only what it must not keep is taken away there.  Where the program gives up rights
 * that the thread has, it ends: nobody shall be let in with them.
 */
#include "compat/register/helper.h"

#include "compat/register/guard.h"
#include "compat/register/libc_functions.h"
#include "compat/register/listener.h"
#include "compat/register/registry.h"
#include "compat/register/switches.h"
#include "shared/wire/listener.h"
#include "target/runtime/broadcast.h"
#include "target/runtime/identity.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>

#define STACK_SIZE (1u << 20) /* constructors of tools run here */

static struct boot_libc libc;

static void *wait_for_peers(void *unused)
{
	struct identity_watch identity;

	(void)unused;
	broadcast_avoid(&libc);
	prctl(PR_SET_NAME, LISTENER_THREAD_NAME); /* by which it is known not to be the program's */
	identity_begin(&identity, 0);
	guard_begin(&libc);
	do {
		/* Each time: a peer may have brought code that changed it. */
		prctl(PR_SET_NAME, LISTENER_THREAD_NAME);
	} while (listener_serve_next(&identity));
	listener_forget();
	guard_end();
	return NULL;
}

/* Async-signal-safe, as the child of a threaded program must be. */
static void after_fork(void)
{
	listener_forget();
	registry_forget_passing();
}

static void start_blocked(void)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;

	libc_functions_find(&libc);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	sigfillset(&all); /* libc keeps its own two open: setuid needs every thread's answer */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_create(&thread, &attributes, wait_for_peers, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
}

void helper_start(void)
{
	pthread_atfork(NULL, NULL, after_fork);
	listener_prepare();
	start_blocked();
}

/* A constructor, because nobody calls a library that was preloaded. */
__attribute__((constructor)) static void start_at_load(void)
{
	if (switch_listen())
		helper_start();
}
