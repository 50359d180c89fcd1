/*
 * Ranks the threads of the target by what /proc shows of them; stops none.
 */
#include "host/attach/facts/facts.h"

#include "host/core/cleanup.h"
#include "host/process/procfs.h"
#include "host/process/threads.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#define THREADS_READ_MAX 256 /* enough choice: not every thread of a thousand is read */
#define SECCOMP_STRICT   1
#define RANK_NEVER       100u

static const unsigned ranks[] = {
	[CALL_RESTARTS] = 0, [CALL_NO_HANDLER] = 0, [CALL_SLEEPS] = 1,
	[CALL_OTHER] = 3,    [CALL_EINTR] = 4,      [CALL_NEVER] = RANK_NEVER,
};
#define RANK_RUNNING  2u
#define RANK_FILTERED 5u  /* in a timed wait under a seccomp filter: injector/restart.c */
#define RANK_SPOILS   6u  /* the injector waits until the thread has left the call */
#define RANK_UNLIKE   10u /* added where rights differ from the first thread's */

/* Calls that libc makes only on behalf of the program: it holds no lock of its own in them. */
static const int waits[] = {
	SYS_epoll_pwait,   SYS_epoll_pwait2,    SYS_accept,     SYS_accept4,
	SYS_nanosleep,     SYS_ppoll,           SYS_pselect6,   SYS_recvfrom,
	SYS_recvmsg,       SYS_clock_nanosleep, SYS_wait4,      SYS_waitid,
	SYS_rt_sigsuspend, SYS_rt_sigtimedwait, SYS_read,       SYS_restart_syscall,
#ifdef SYS_poll
	SYS_poll,          SYS_select,          SYS_epoll_wait, SYS_pause,
#endif
};

static bool is_wait(long nr)
{
	for (size_t i = 0; i < ARRAY_SIZE(waits); i++)
		if (waits[i] == nr)
			return true;
	return false;
}

static unsigned rank_of(const struct process_status *status, const struct blocked_call *call,
			bool must_wait)
{
	if (!strchr("RS", status->state) || status->tracer || status->seccomp == SECCOMP_STRICT)
		return RANK_NEVER;
	if (status->seccomp && call->is_known && call_has_restart_block(call))
		return RANK_FILTERED;
	if (must_wait)
		return call->is_known && is_wait(call->nr) ? ranks[syscall_kind(call->nr)]
							   : RANK_NEVER;
	if (call->is_known && call_spoils_socket(call))
		return RANK_SPOILS;
	return call->is_known ? ranks[syscall_kind(call->nr)] : RANK_RUNNING;
}

/* Keeps the list sorted and short. */
static void candidates_insert(struct candidates *list, const struct candidate *one)
{
	size_t at = list->count;

	while (at > 0 && list->items[at - 1].rank > one->rank)
		at--;
	if (at == CANDIDATES_MAX)
		return;
	if (list->count < CANDIDATES_MAX)
		list->count++;
	memmove(&list->items[at + 1], &list->items[at], (list->count - at - 1) * sizeof(*one));
	list->items[at] = *one;
}

/* limpet's threads inherit rights and filters of the thread that makes them.  The first thread's
 * are the program's: with others the agent would have to detach, or block a filter for all
 * threads. */
static bool is_unlike(const struct process_status *first, const struct process_status *other)
{
	return first->state != 'Z' &&
	       (first->uid != other->uid || first->euid != other->euid ||
		first->suid != other->suid || first->gid != other->gid ||
		first->egid != other->egid || first->sgid != other->sgid ||
		first->capabilities != other->capabilities ||
		first->capabilities_permitted != other->capabilities_permitted ||
		first->no_new_privileges != other->no_new_privileges ||
		first->seccomp != other->seccomp ||
		first->seccomp_filters != other->seccomp_filters);
}

static void candidates_consider(const struct target *target, pid_t tid, bool must_wait,
				const struct process_status *first, struct candidates *list)
{
	struct candidate one = { .tid = tid };
	struct process_status status;
	struct process_stat stat;

	if (stat_read(target->process.pid, tid, &stat, NULL) || stat.is_kernel_worker)
		return;
	thread_read_call(target->process.pid, tid, &one.call);
	if (status_read(target->process.pid, tid, &status, NULL))
		return;
	list->are_alike &= first->seccomp == status.seccomp &&
			   first->seccomp_filters == status.seccomp_filters &&
			   (!status.seccomp || status.seccomp_filters);
	one.inner_tid = status.inner_pid;
	one.has_filters = status.seccomp != 0;
	one.rank = rank_of(&status, &one.call, must_wait);
	one.is_unlike = is_unlike(first, &status);
	if (one.is_unlike)
		one.rank += RANK_UNLIKE;
	if (one.rank < RANK_NEVER)
		candidates_insert(list, &one);
}

int candidates_find(const struct target *target, bool must_wait, struct candidates *ret,
		    struct err *err)
{
	CLEANUP(free) pid_t *tids = NULL;
	struct process_status first;
	size_t count, step;
	int r = proc_list(target->process.pid, "task", &tids, &count, err);

	if (r)
		return r;
	memset(ret, 0, sizeof(*ret));
	r = status_read(target->process.pid, target->process.pid, &first, err);
	step = 1 + count / THREADS_READ_MAX;
	ret->are_alike = step == 1;
	for (size_t i = 0; !r && i < count; i += step)
		candidates_consider(target, tids[i], must_wait, &first, ret);
	return r;
}
