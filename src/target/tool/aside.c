/*
 * Reads memory and sleeps: no lock, and no clock, which the thread may be forbidden to read.
 */
#include "target/tool/aside.h"

#include "shared/arch/syscall.h"
#include "target/agent/departure.h"
#include "target/agent/rings.h"
#include "target/hooks/thread.h"
#include "target/runtime/forks.h"
#include "target/tool/watch.h"

#include <linux/futex.h>
#include <stdbool.h>
#include <time.h>

#define SLICE_NS 500000
#define SLICES   4000u /* two seconds: another thread may hold a lock that detaching needs */

/* Missing if another program than limpet has loaded this library. */
#pragma weak limpet_agent_is_own
#pragma weak limpet_agent_leave
#pragma weak limpet_agent_has_left
#pragma weak limpet_agent_may_call

static int32_t user;          /* the process; 0: none */
static uint32_t is_departing; /* a change is about to happen: the watching thread calls the agent */
static uint32_t is_late; /* the agent was too slow: an impatient thread may have a filter by now */

void aside_begin(void)
{
	is_departing = is_late = 0;
	user = (int32_t)raw0(SYS_getpid);
}

void aside_end(void)
{
	user = 0;
}

static void await_departure(void)
{
	struct timespec slice = { 0, SLICE_NS };
	uint32_t never = 0;

	for (unsigned i = 0; i < SLICES && !limpet_agent_has_left(); i++)
		raw4(SYS_futex, &never, FUTEX_WAIT_PRIVATE, 0, &slice);
	if (!limpet_agent_has_left()) {
		__atomic_store_n(&is_late, 1, __ATOMIC_SEQ_CST);
		forks_allow_calls(false);
	}
	/* The last thread is ending, which takes the kernel a moment. */
	raw4(SYS_futex, &never, FUTEX_WAIT_PRIVATE, 0, &slice);
}

bool aside_may_call(void)
{
	return limpet_agent_may_call && limpet_agent_may_call() &&
	       !__atomic_load_n(&is_late, __ATOMIC_SEQ_CST);
}

/* A child has no threads of limpet's. A forked one has its own memory, which no thread polls. */
static bool is_child(bool may_ask)
{
	return may_ask && (int32_t)raw0(SYS_getpid) != user;
}

/* Not for a child, nor on limpet's threads. A thread that may have a filter of its own makes no
 * system call here: the watching thread finds the flag when it polls next. */
void aside_step(void)
{
	bool may_wait = aside_may_call();

	if (!limpet_agent_leave || is_child(may_wait) || watch_is_thread() ||
	    limpet_agent_is_own(thread_number()))
		return;
	__atomic_store_n(&is_departing, 1, __ATOMIC_RELEASE); /* pairs with aside_look() */
	if (!may_wait)
		return;
	watch_hurry();
	await_departure();
}

void aside_look(void)
{
	if (aside_may_call())
		forks_allow_calls(true);
	if (__atomic_exchange_n(&is_departing, 0, __ATOMIC_ACQUIRE))
		limpet_agent_leave();
}
