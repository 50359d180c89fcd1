/*
 * Host only.
 */
#include "host/session/notice.h"

#include "host/attach/blobs.h"
#include "host/core/cleanup.h"
#include "host/process/procfs.h"
#include "host/process/status.h"
#include "host/session/tools.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_MS 1000u

/* A thread that is held up by a hook makes system calls for us, which only the filters of the
 * thread that ours come from were asked about. */
static bool have_unlike_filters(const struct session *session)
{
	pid_t pid = session->attachment.target.process.pid;
	CLEANUP(free) pid_t *tids = NULL;
	struct process_status ours, other;
	struct err ignored; /* of a thread that has just ended */
	size_t count;
	bool differ = false;

	if (status_read(pid, session->attachment.report.control_tid, &ours, &ignored) ||
	    proc_list(pid, "task", &tids, &count, &ignored))
		return true;
	for (size_t i = 0; !differ && i < count; i++)
		differ = !status_read(pid, tids[i], &other, &ignored) &&
			 (other.seccomp != ours.seccomp ||
			  other.seccomp_filters != ours.seccomp_filters);
	return differ;
}

/* Why it is not even tried; NULL. */
static const char *find_hindrance(const struct session *session)
{
	const struct attach_report *report = &session->attachment.report;

	if (session->failed_tools)
		return "a tool has failed, and may still hold a lock of the loader's";
	if (report->way == BOOT_WAY_CALL)
		return "musl's calls cannot be hooked safely";
	if (have_unlike_filters(session))
		return "threads of the program have seccomp filters of their own";
	return report->denies_notice ? "a seccomp filter forbids what it needs, or cannot be read"
				     : NULL;
}

static int load(struct session *session, struct session_tool *tool, struct err *err)
{
	size_t size = (size_t)(blob_notice_end - blob_notice);
	int r = tool_load_own(session, NOTICE_NAME, blob_notice, size, tool, err);

	for (enum tool_step step = STEP_CONFIGURE; !r && step < TOOL_STEPS; step++)
		r = tool_step(session, tool, step, err);
	if (!r && !tool->takes_part)
		r = err_set(err, -ENOEXEC, "another librocprofiler-sdk.so.1 came before limpet's");
	return r;
}

/* In less time than a tool is given: a thread of the program's may hold the loader's lock. */
static int load_soon(struct session *session, struct session_tool *tool, struct err *err)
{
	uint32_t timeout_ms = session->timeout_ms;
	int r;

	session->timeout_ms = MIN(timeout_ms, TIMEOUT_MS);
	r = load(session, tool, err);
	session->timeout_ms = timeout_ms;
	return r;
}

/* A target that ends meanwhile has been attached all the same: who waits for its end sees it. */
void notice_open(struct session *session)
{
	const char *hindrance = find_hindrance(session);
	struct session_tool tool = { 0 };
	struct err why = { 0 };

	if (!hindrance && load_soon(session, &tool, &why))
		hindrance = why.what;
	if (hindrance)
		snprintf(session->unnoticed, sizeof(session->unnoticed), "%s", hindrance);
}

bool tool_is_notice(const struct agent_tool *tool)
{
	return tool->is_own && !strcmp(tool->path, NOTICE_NAME);
}
