/*
 * The thread "rocp-bg-attach": AMD's attachers make it call rocprofiler_register_attach() by
 * ptrace; limpet connects to its listener.  It waits for peers with all signals blocked, no lock
 * held, and in no system call that a ptrace stop would break.  A child of fork has no such thread
 * and starts none: only what it must not keep is closed there.  Where the program gives up rights
 * that the thread still has, the thread ends: no host may attach with them.
 */
#include "compat/register/listener/guard.h"
#include "compat/register/listener/listener.h"
#include "compat/register/process/libc_functions.h"
#include "compat/register/process/loader.h"
#include "compat/register/registry.h"
#include "compat/register/switches.h"
#include "shared/arch/syscall.h"
#include "target/runtime/broadcast.h"
#include "target/runtime/identity.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STACK_SIZE (1u << 20) /* constructors of tools run here */
#define SLICE_NS   500000
#define SLICES     4000u /* two seconds: the helper may be stopped */

static struct boot_libc libc;
static uint32_t is_marked;  /* a futex: the creating thread may free its memory */
static uint32_t is_guarded; /* a futex: its hooks are in, or cannot be */
static int32_t tid;         /* 0: it has not run yet */

static bool helper_is_set(const uint32_t *flag)
{
	return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

static void helper_set(uint32_t *flag)
{
	__atomic_store_n(flag, 1, __ATOMIC_RELEASE);
	raw3(SYS_futex, flag, FUTEX_WAKE_PRIVATE, 1);
}

/* A while at most. */
static void helper_await(uint32_t *flag)
{
	struct timespec slice = { 0, SLICE_NS };

	raw4(SYS_futex, flag, FUTEX_WAIT_PRIVATE, 0, &slice);
}

static void *wait_for_peers(void *unused)
{
	struct identity_watch identity;

	(void)unused;
	broadcast_avoid(&libc);
	__atomic_store_n(&tid, (int32_t)raw0(SYS_gettid), __ATOMIC_RELEASE);
	prctl(PR_SET_NAME, LISTENER_THREAD_NAME); /* by which it is known not to be the program's */
	identity_begin(&identity, 0);
	guard_begin(&libc, listener_wake);
	helper_set(&is_guarded);
	do {
		/* Each time: a peer may have brought code that changed it. */
		prctl(PR_SET_NAME, LISTENER_THREAD_NAME);
	} while (listener_serve_next(&identity));
	listener_forget();
	guard_end();
	while (!helper_is_set(&is_marked))
		helper_await(&is_marked);
	return NULL;
}

/* In a child of fork. */
static void helper_forget(void)
{
	listener_forget();
	registry_forget_passing();
}

static bool start_blocked(void)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;
	bool is_made;

	libc_functions_find(&libc);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	sigfillset(&all); /* libc keeps its own two open: setuid needs every thread's answer */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	is_made = !pthread_create(&thread, &attributes, wait_for_peers, NULL);
	if (is_made) {
		broadcast_spare(&libc, thread);
		helper_set(&is_marked);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return is_made;
}

/* "NUMBER ARGUMENT ..."; "running" when it is in none.  False where there is no such file. */
static bool blocked_read(int32_t number, char *text, size_t room)
{
	char path[64];
	ssize_t size;
	int file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", number);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return false;
	size = read(file, text, room - 1);
	close(file);
	text[size > 0 ? size : 0] = 0;
	return true;
}

/* Is the thread in a wait whose futex is in another module, as the loader's lock is?  0: not run
 * yet, no.  If it cannot be read, yes. */
static bool blocked_by_others(int32_t number)
{
	static const char ours = 0;
	Dl_info own, other;
	char text[128];
	char *rest;
	void *word;

	if (!number)
		return false;
	if (!blocked_read(number, text, sizeof(text)))
		return true;
	if (strtol(text, &rest, 10) != SYS_futex || rest == text)
		return false;
	word = (void *)(uintptr_t)strtoull(rest, NULL, 16);
	return loader_find_module(&ours, &own) && loader_find_module(word, &other) &&
	       own.dli_fbase != other.dli_fbase;
}

/* The program may begin by installing a filter that would kill the helper thread: its hooks must be
 * installed before.  Not in dlopen, whose lock the thread needs for that. */
static void await_guard(void)
{
	for (unsigned i = 0; i < SLICES && !helper_is_set(&is_guarded); i++) {
		helper_await(&is_guarded);
		if (blocked_by_others(__atomic_load_n(&tid, __ATOMIC_ACQUIRE)))
			return;
	}
}

/* At most once in a process.  After a failure no host can attach through the listener. */
static void helper_start(void)
{
	forks_in_child = helper_forget;
	listener_prepare();
	if (start_blocked())
		await_guard();
}

/* A constructor, because no program calls a library that was preloaded. */
__attribute__((constructor)) static void start_at_load(void)
{
	if (switch_listen())
		helper_start();
}
