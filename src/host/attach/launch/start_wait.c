/*
 * Recognises failures that pass by themselves: by their code (-EAGAIN), or because the process now
 * runs another program than the one that was read.
 */
#include "host/attach/launch/start_wait.h"

#include "host/core/clock.h"
#include "host/core/self/interrupt.h"

#include <errno.h>
#include <poll.h>

#define PAUSE_FIRST_NS 1000000
#define PAUSE_MAX_NS   16000000

void start_wait_begin(struct start_wait *ret, uint64_t limit_ns)
{
	*ret = (struct start_wait){ now_ns() + limit_ns, PAUSE_FIRST_NS };
}

/* -ESRCH of a process that lives: its first thread ended between two reads, and the program goes on
 * without it. */
static bool code_is_transient(int code)
{
	return code == -EAGAIN || code == -ESTALE || code == -ESRCH;
}

/* Facts read before an exec and after it do not belong to one program. */
static bool has_executed(const struct process *looked_at)
{
	struct identity now;
	struct err ignored;

	return !identity_read(looked_at->pid, looked_at->memory_tid, &now, &ignored) &&
	       identity_compare(&looked_at->identity, &now) == IDENTITY_EXEC;
}

/* Sleeps; true when the process has ended meanwhile. */
static bool pause_beside(int pidfd, long pause_ns)
{
	struct pollfd wait = { pidfd, POLLIN, 0 };

	return ppoll(&wait, 1, &(struct timespec){ 0, pause_ns }, NULL) > 0;
}

bool start_wait_more(struct start_wait *wait, const struct process *looked_at, int pidfd,
		     const struct err *err)
{
	bool may_pass = code_is_transient(err->code) || has_executed(looked_at);

	if (pidfd < 0 || !may_pass || now_ns() > wait->deadline_ns || interrupt_is_waiting() ||
	    pause_beside(pidfd, wait->pause_ns))
		return false;
	wait->pause_ns = MIN(2 * wait->pause_ns, PAUSE_MAX_NS);
	return true;
}
