/*
 * Raises and restores the priority of one thread.
 */
#include "host/sampling/priority.h"

#include <errno.h>
#include <linux/types.h>
#include <sched.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BEST_NICE (-20)
#define TURN_NS   100000u /* the shortest that the kernel accepts */

void priority_raise(struct priority *ret)
{
	struct sched_param parameter = { 0 }, realtime = { .sched_priority = 1 };
	pid_t tid = gettid();

	*ret = (struct priority){ .policy = sched_getscheduler(tid) };
	sched_getparam(tid, &parameter);
	errno = 0;
	ret->nice = getpriority(PRIO_PROCESS, (id_t)tid);
	ret->level = parameter.sched_priority;
	if (ret->policy < 0 || errno)
		return;
	/* Children of the thread do not inherit it. */
	ret->is_realtime = !sched_setscheduler(tid, SCHED_FIFO | SCHED_RESET_ON_FORK, &realtime);
	if (ret->is_realtime || !setpriority(PRIO_PROCESS, (id_t)tid, BEST_NICE))
		ret->tid = tid;
}

/* 0: the kernel's default. */
static bool set_turn(pid_t tid, uint64_t turn_ns)
{
	/* As in sched_setattr(2); the C library may lack it. */
	struct {
		__u32 size, policy;
		__u64 flags;
		__s32 nice;
		__u32 priority;
		__u64 runtime, deadline, period;
	} wanted = { .size = sizeof(wanted), .policy = SCHED_OTHER, .runtime = turn_ns };

	wanted.nice = getpriority(PRIO_PROCESS, (id_t)tid);
	return !syscall(SYS_sched_setattr, tid, &wanted, 0);
}

void priority_shorten_turns(struct priority *ret)
{
	pid_t tid = gettid();

	*ret = (struct priority){ 0 };
	if (sched_getscheduler(tid) != SCHED_OTHER || !set_turn(tid, TURN_NS))
		return;
	ret->has_short_turns = true;
	ret->tid = tid;
}

void priority_restore(struct priority *priority)
{
	struct sched_param parameter = { .sched_priority = priority->level };

	if (!priority->tid)
		return;
	if (priority->has_short_turns)
		set_turn(priority->tid, 0);
	/* Without the capability, SCHED_RESET_ON_FORK cannot be cleared; all else can. */
	if (priority->is_realtime) {
		if (sched_setscheduler(priority->tid, priority->policy, &parameter))
			sched_setscheduler(priority->tid, priority->policy | SCHED_RESET_ON_FORK,
					   &parameter);
	} else if (!priority->has_short_turns) {
		setpriority(PRIO_PROCESS, (id_t)priority->tid, priority->nice);
	}
	priority->tid = 0;
}
