/*
 * An answer while it is written: a memory file that is passed to the HTTP process.
 */
#pragma once

#include "host/core/err.h"
#include "host/ui/reply/columns.h"
#include "host/ui/request/command.h"

struct reply {
	FILE *out;
	struct ui_answer head;
	bool is_later; /* another thread owns it, and sends it */
};

int reply_open(struct reply *ret, uint64_t tag, struct err *err) MUST_CHECK;
void reply_close(struct reply *reply);

static inline void reply_close_at_scope_end(struct reply *reply)
{
	reply_close(reply);
}

/* Discards what was written, and writes the error instead. */
void reply_fail(struct reply *reply, const struct err *err);

/* Sends it; 0 or -errno. */
int reply_send(struct reply *reply, int socket) MUST_CHECK;
