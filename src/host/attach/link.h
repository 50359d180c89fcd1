/*
 * The host's end of the socket to the agent.  One question, one answer.  The only place where the
 * host sends to a target or receives from one: nothing that a target does makes it wait for ever.
 */
#pragma once

#include "host/attach/facts/resident.h"
#include "shared/wire/control.h"

struct link {
	int socket; /* -1: closed */
	int lock;   /* a file that this process has locked for as long as it lives; -1: none */
	uint32_t sequence;
	uint32_t patience_ms; /* how much longer than usual an answer may take: tools are slow */
	bool has_tools;       /* of the user's: loading them may take that long, too */
	/* Where the agent shows that a tool is being called; NULL: it cannot be read. */
	const struct resident *resident;
	bool has_farewell; /* came where an answer was waited for */
	/* A message was not answered in time.  No further one is sent: an answer that comes later
	 * would be taken for another's, and each would cost the same time again. */
	bool is_silent;
};

/* Makes the file by whose lock the agent sees that we live.  Not a descriptor of this process: a
 * target with rights of its own could reach into us by that. */
int link_lock(struct link *link, struct err *err) MUST_CHECK;

/* Sends bytes and a descriptor (-1: none).  -ETIMEDOUT when nobody takes them. */
int link_send(const struct link *link, const struct target *target, const void *bytes, size_t size,
	      int fd, struct err *err) MUST_CHECK;

/* Receives one datagram: bytes, 0 when the other side has closed it or the target has ended,
 * -ETIMEDOUT, or another -errno. */
ssize_t link_receive(const struct link *link, const struct target *target, void *into, size_t room,
		     uint64_t limit_ns) MUST_CHECK;

/*
 * Sends a control message and waits for its answer.  0 when the agent did it; its own -errno with
 * the agent's words in err otherwise; -ESRCH when the target ended, -ETIMEDOUT, -EPIPE when the
 * agent left, -EINTR when the user has interrupted limpet (interrupt.h).
 */
int link_ask(struct link *link, const struct target *target, struct control_header *message, int fd,
	     struct control_reply *ret, struct err *err) MUST_CHECK;

/* Waits until the agent's side has closed it, or the target has ended. */
int link_await_end(const struct link *link, const struct target *target,
		   struct err *err) MUST_CHECK;

/* Has the agent left by itself, as the program changes its rights? */
bool link_has_farewell(const struct link *link);
int link_explain_farewell(struct err *err); /* -ENOTCONN, in words */

void link_close(struct link *link);
