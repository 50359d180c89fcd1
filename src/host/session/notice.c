/*
 * Asks the agent to watch changes of rights in sessions that trace nothing.
 */
#include "host/session/notice.h"

#include "host/session/alike.h"

#include <stdio.h>

#define TIMEOUT_MS 1000u /* an application thread may hold the loader's lock */

/* The reason why the agent is not even asked; NULL: none. */
static const char *find_hindrance(const struct session *session)
{
	const struct attach_report *report = &session->attachment.report;

	if (session->failed_tools)
		return "a tool has failed, and may still hold a lock of the loader's";
	if (report->way == BOOT_WAY_CALL)
		return "musl's calls cannot be hooked safely";
	return report->denies_notice ? "a seccomp filter forbids what it needs, or cannot be read"
				     : NULL;
}

static int notice_ask(struct session *session, struct err *err)
{
	struct attachment *attachment = &session->attachment;
	struct control_notice order = { .timeout_ms = MIN(session->timeout_ms, TIMEOUT_MS) };
	struct control_reply reply = { 0 };

	control_header_init(&order.header, CONTROL_NOTICE, sizeof(order));
	return link_ask(&attachment->link, &attachment->target, &order.header, -1, &reply, err);
}

/* A target that ends meanwhile counts as attached: the wait for its end reports it. */
void notice_open(struct session *session)
{
	const char *hindrance = find_hindrance(session);
	struct err why = { 0 };
	bool are_alike = false;

	if (!hindrance && (notice_ask(session, &why) || alike_tell(session, &are_alike, &why)))
		hindrance = why.what;
	else if (!hindrance && !are_alike)
		hindrance = "threads of the program have seccomp filters of their own";
	if (hindrance)
		snprintf(session->unnoticed, sizeof(session->unnoticed), "%s", hindrance);
}
