/*
 * Stands in for the agent for hooks elsewhere.  Runs inside the target: on the helper thread, on
 * the watching thread, and, in the functions of departure.h, on application threads.
 */
#include "compat/register/listener/guard.h"

#include "shared/arch/syscall.h"
#include "target/runtime/forks.h"
#include "target/runtime/identity.h"
#include "target/tool/notices.h"

/* Hidden: a tracer in this process calls the agent's functions. */
#pragma GCC visibility push(hidden)
#include "target/agent/departure.h"
#include "target/agent/rings.h"
#pragma GCC visibility pop

#include <errno.h>
#include <sys/stat.h>
#include <time.h>

#define OURS 2 /* threads: the helper, and the watching one */

static const struct boot_libc *functions;
static void (*wake)(void);
static int32_t helper;
static uint32_t is_alarmed, has_ended, may_call;

static bool is_set(const uint32_t *flag)
{
	return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

static void guard_set(uint32_t *flag, bool value)
{
	__atomic_store_n(flag, value, __ATOMIC_RELEASE);
}

const struct boot_libc *limpet_agent_libc(void)
{
	return functions;
}

bool limpet_agent_is_own(int32_t tid)
{
	return tid == helper;
}

bool limpet_agent_may_call(void)
{
	return is_set(&may_call);
}

void limpet_agent_leave(void)
{
	guard_set(&is_alarmed, true);
	wake();
}

bool limpet_agent_has_left(void)
{
	return is_set(&has_ended) && raw3(SYS_tgkill, raw0(SYS_getpid), helper, 0) == -ESRCH;
}

/* Only the program's first thread, which makes limpet's. */
static bool is_one_thread(void)
{
	struct stat threads;

	return !stat("/proc/self/task", &threads) && threads.st_nlink <= 2 + OURS + 1;
}

/* A thread held up by a hook makes system calls.  limpet's threads show them to be allowed only
 * where all threads have the same filters. */
void guard_go_on(void)
{
	if (!notices_start())
		guard_set(&may_call, is_one_thread() || identity_is_unfiltered());
	forks_allow_calls(is_set(&may_call));
}

void guard_begin(const struct boot_libc *libc, void (*wake_helper)(void))
{
	functions = libc;
	wake = wake_helper;
	helper = (int32_t)raw0(SYS_gettid);
	guard_go_on();
}

bool guard_is_alarmed(void)
{
	return is_set(&is_alarmed);
}

void guard_rest(void)
{
	guard_set(&may_call, false);
	if (notices_are_in())
		notices_stop();
}

/* Threads that wait for the end of the helper may go on. */
void guard_end(void)
{
	if (notices_are_in())
		notices_stop();
	guard_set(&has_ended, true);
}

bool guard_says_end(struct identity_watch *identity)
{
	return is_set(&is_alarmed) || identity_exceeds(identity);
}

int guard_poll(struct pollfd *waits, size_t count, unsigned limit_ms,
	       struct identity_watch *identity)
{
	struct timespec glance = { 0, IDENTITY_GLANCE_MS * 1000000L };
	int r = 0;

	for (unsigned ms = 0; !r && ms < limit_ms; ms += IDENTITY_GLANCE_MS) {
		r = ppoll(waits, count, &glance, NULL);
		if (r < 0 && errno == EINTR)
			r = 0;
		if (guard_says_end(identity))
			return -1;
	}
	return r;
}
