/*
 * The host's end of the socket to the agent.  One request, one answer.  The only place where the
 * host sends to a target or receives from one: no target can block it for ever.
 */
#pragma once

#include "host/attach/facts/resident.h"
#include "shared/wire/control.h"

struct link {
	int socket; /* -1: closed */
	int lock;   /* a file that this process keeps locked while it lives; -1: none */
	uint32_t sequence;
	uint32_t timeout_ms;  /* for each call of a tool */
	uint32_t patience_ms; /* how much longer than usual an answer may take: tools are slow */
	bool has_tools;       /* the user's tools: loading may take that long, too */
	/* The agent's page, which shows a tool call in progress; NULL: it cannot be read. */
	const struct resident *resident;
	bool has_farewell; /* received instead of an answer */
	/* A message was not answered in time.  No further one is sent: a late answer would be taken
	 * for another's, and each message would cost the same time again. */
	bool is_silent;
};

/* Makes the file by whose lock the agent sees that the host lives.  Not a descriptor of this
 * process: a privileged target could reach into limpet through that. */
int link_lock(struct link *link, struct err *err) MUST_CHECK;

/* Sends bytes and a descriptor (-1: none).  -ETIMEDOUT when the agent does not receive. */
int link_send(const struct link *link, const struct target *target, const void *bytes, size_t size,
	      int fd, struct err *err) MUST_CHECK;

/* Receives one datagram: bytes, 0 when the other side has closed it or the target has ended,
 * -ETIMEDOUT, or another -errno. */
ssize_t link_receive(const struct link *link, const struct target *target, void *into, size_t room,
		     uint64_t limit_ns) MUST_CHECK;

/*
 * Sends a control message and waits for its answer.  0 when the agent did it; else the agent's
 * -errno with its reason in err; -ESRCH when the target ended, -ETIMEDOUT, -EPIPE when the agent
 * detached, -EINTR when the user has interrupted limpet (interrupt.h).
 */
int link_request(struct link *link, const struct target *target, struct control_header *message,
		 int fd, struct control_reply *ret, struct err *err) MUST_CHECK;

/* Waits until the agent's side has closed it, or the target has ended. */
int link_await_end(const struct link *link, const struct target *target,
		   struct err *err) MUST_CHECK;

/* Has the agent detached by itself, as the program changes its rights? */
bool link_has_farewell(const struct link *link);
int link_explain_farewell(struct err *err); /* -ENOTCONN, with the reason */

void link_close(struct link *link);
