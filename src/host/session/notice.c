/*
 * Asks the agent to watch changes of rights in sessions that trace nothing, and compares the number
 * of filters of each thread.  Whether the filters are the same is not checked: that would take a
 * stop of every thread.
 */
#include "host/session/steps.h"

#include "host/core/cleanup.h"
#include "host/process/threads.h"

#include <stdio.h>

#define TIMEOUT_MS 1000u /* an application thread may hold the loader's lock */

/* Before Linux 5.9 the kernel does not show the number of filters. */
static bool are_alike(pid_t pid)
{
	CLEANUP(free) pid_t *tids = NULL;
	struct process_status first, other;
	bool has_first = false, alike = true;
	size_t count = 0;

	if (threads_list_own(pid, SIZE_MAX, &tids, &count, NULL))
		return false;
	for (size_t i = 0; alike && i < count; i++) {
		if (status_read(pid, tids[i], &other, NULL))
			continue;
		first = has_first ? first : other;
		has_first = true;
		alike = first.seccomp == other.seccomp &&
			first.seccomp_filters == other.seccomp_filters &&
			(!first.seccomp || first.seccomp_filters);
	}
	return alike && has_first;
}

int filters_compare(struct attachment *attachment, bool *ret_are_alike, struct err *err)
{
	struct control_alike order = { .header = order_header(CONTROL_ALIKE, sizeof(order), 0) };

	*ret_are_alike = are_alike(attachment->target.process.pid);
	return *ret_are_alike ? attach_order(attachment, &order.header, -1, NULL, err) : 0;
}

/* The reason why the agent is not even asked; NULL: none. */
static const char *find_hindrance(const struct attach_report *report, bool has_failed_tool)
{
	if (has_failed_tool)
		return "a tool has failed, and may still hold a lock of the loader's";
	if (report->way == BOOT_WAY_CALL)
		return "musl's calls cannot be hooked safely";
	return report->denies_notice ? "a seccomp filter forbids what it needs, or cannot be read"
				     : NULL;
}

/* A target that ends meanwhile counts as attached: the wait for its end reports it. */
void notice_open(struct attachment *attachment, bool has_failed_tool)
{
	struct control_notice order = { .header = order_header(CONTROL_NOTICE, sizeof(order), 0),
					.timeout_ms =
						MIN(attachment->link.timeout_ms, TIMEOUT_MS) };
	const char *hindrance = find_hindrance(&attachment->report, has_failed_tool);
	struct err why = { 0 };
	bool are_alike = false;

	if (!hindrance && (attach_order(attachment, &order.header, -1, NULL, &why) ||
			   filters_compare(attachment, &are_alike, &why)))
		hindrance = why.what;
	else if (!hindrance && !are_alike)
		hindrance = "threads of the program have seccomp filters of their own";
	if (hindrance)
		snprintf(attachment->report.unnoticed, sizeof(attachment->report.unnoticed), "%s",
			 hindrance);
}
