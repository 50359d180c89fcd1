/*
 * Compares the number of filters of each thread.  Whether the filters are the same is not checked:
 * that would take a stop of every thread.
 */
#include "host/session/alike.h"

#include "host/core/cleanup.h"
#include "host/process/status.h"
#include "host/process/threads.h"

#include <stdlib.h>

/* Before Linux 5.9 the kernel does not show the number. */
static bool is_alike(const struct process_status *one, const struct process_status *other)
{
	return one->seccomp == other->seccomp && one->seccomp_filters == other->seccomp_filters &&
	       (!one->seccomp || one->seccomp_filters);
}

static bool are_alike(pid_t pid)
{
	CLEANUP(free) pid_t *tids = NULL;
	struct process_status first, other;
	struct err ignored; /* of a thread that has just ended */
	bool has_first = false, alike = true;
	size_t count = 0;

	if (threads_list_own(pid, SIZE_MAX, &tids, &count, &ignored))
		return false;
	for (size_t i = 0; alike && i < count; i++) {
		if (status_read(pid, tids[i], &other, &ignored))
			continue;
		first = has_first ? first : other;
		has_first = true;
		alike = is_alike(&first, &other);
	}
	return alike && has_first;
}

int alike_tell(struct session *session, bool *ret_are_alike, struct err *err)
{
	struct attachment *attachment = &session->attachment;
	struct control_alike order = { 0 };
	struct control_reply reply = { 0 };

	*ret_are_alike = are_alike(attachment->target.process.pid);
	if (!*ret_are_alike)
		return 0;
	control_header_init(&order.header, CONTROL_ALIKE, sizeof(order));
	return link_ask(&attachment->link, &attachment->target, &order.header, -1, &reply, err);
}
