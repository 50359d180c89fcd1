/*
 * Attaching and detaching: through the listener of a process that has one, else by one stop of one
 * thread; then over a socket to the agent.
 */
#pragma once

#include "host/attach/attachment.h"

/* Attaches; on failure the target is unchanged.  The struct must not move afterwards. */
int attach_open(struct attachment *ret, pid_t pid, const struct attach_options *options,
		struct err *err) MUST_CHECK;

static inline struct control_header order_header(enum control_kind kind, size_t size,
						 uint32_t flags)
{
	struct control_header header;

	control_header_init(&header, kind, size);
	header.flags = flags;
	return header;
}

/* Sends an order to the agent, with a descriptor (-1: none), and waits for the answer, which
 * link_ask() describes; ret may be NULL. */
int attach_order(struct attachment *attachment, struct control_header *order, int fd,
		 struct control_reply *ret, struct err *err) MUST_CHECK;

/* Makes the agent detach; with unload, unmap everything.  Waits until the control thread has
 * ended. */
int attach_leave(struct attachment *attachment, bool unload, struct control_reply *ret,
		 struct err *err) MUST_CHECK;

/* Closes the host's descriptors.  Without attach_leave before, the agent notices that and rests. */
void attach_close(struct attachment *attachment);
