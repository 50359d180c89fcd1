/*
 * The host's end of the socket to the agent.  One question, one answer.
 */
#pragma once

#include "host/attach/target.h"
#include "shared/wire/control.h"

struct link {
	int socket; /* -1: closed */
	uint32_t sequence;
	uint32_t patience_ms; /* how much longer than usual an answer may take: tools are slow */
};

#define LINK_FDS_MAX 2

/* Sends bytes and descriptors (absent ones are -1). */
int link_send(const struct link *link, const void *bytes, size_t size, const int fds[LINK_FDS_MAX],
	      struct err *err) MUST_CHECK;

/*
 * Sends a control message and waits for its answer.  0 when the agent did it; its own -errno with
 * the agent's words in err otherwise; -ESRCH when the target ended, -ETIMEDOUT, -EPIPE when the
 * agent left.
 */
int link_ask(struct link *link, const struct target *target, struct control_header *message,
	     const int fds[LINK_FDS_MAX], struct control_reply *ret, struct err *err) MUST_CHECK;

/* Waits until the agent's side has closed it, or the target has ended. */
int link_await_end(const struct link *link, const struct target *target,
		   struct err *err) MUST_CHECK;

/* Has the agent left by itself, as the program changes its rights? */
bool link_has_farewell(const struct link *link);

void link_close(struct link *link);
