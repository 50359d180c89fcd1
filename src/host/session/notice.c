/*
 * Host only.
 */
#include "host/session/notice.h"

#include "host/attach/blobs.h"
#include "host/session/alike.h"
#include "host/session/tools.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TIMEOUT_MS 1000u

/* Why it is not even tried; NULL. */
static const char *find_hindrance(const struct session *session)
{
	const struct attach_report *report = &session->attachment.report;

	if (session->failed_tools)
		return "a tool has failed, and may still hold a lock of the loader's";
	if (report->way == BOOT_WAY_CALL)
		return "musl's calls cannot be hooked safely";
	if (!threads_are_alike(session->attachment.target.process.pid))
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

	if (!hindrance && (load_soon(session, &tool, &why) || alike_tell(session, &why)))
		hindrance = why.what;
	if (hindrance)
		snprintf(session->unnoticed, sizeof(session->unnoticed), "%s", hindrance);
}

bool tool_is_notice(const struct agent_tool *tool)
{
	return tool->is_own && !strcmp(tool->path, NOTICE_NAME);
}
