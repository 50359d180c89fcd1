/*
 * `limpet ui`: a page that shows processes and recordings.  Two processes: this one with the rights
 * of the user who started it, and a child without any that speaks HTTP.
 */
#pragma once

#include "host/core/err.h"
#include "host/ui/answers/ui_options.h"

#define UI_LEASE_NS 30000000000ull
#define UI_LEASE_HIDDEN_NS                                                    \
	90000000000ull /* at least; browsers let hidden pages ask each minute \
			*/

struct ui_server;

/* Where it can be reached. */
struct ui_address {
	char url[160]; /* with the token */
	uint16_t port; /* 0: a socket file */
	const char *socket;
	const char *ssh; /* the command that makes it reachable from another machine */
};

/* Listens, opens the given sessions, and answers requests from now on. */
int ui_start(struct ui_server **ret, const struct ui_options *options, struct err *err) MUST_CHECK;
void ui_address(const struct ui_server *server, struct ui_address *ret);

/* Until the first descriptor can be read (signals), or the HTTP process has ended, which is an
 * error.  The second one is of interrupt_watch_detaches(). */
int ui_serve(struct ui_server *server, int until, int detaches, struct err *err) MUST_CHECK;

/* Lets go of every process, and ends the HTTP process.  Does not wait for an answer that is being
 * made. */
void ui_stop(struct ui_server *server);

/* The result of `record`, after ui_stop(). */
struct ui_recorded {
	const char *path;
	uint64_t samples, calls;
	struct err err; /* what ended it; code 0: no error */
};
void ui_recorded(struct ui_server *server, struct ui_recorded *ret);
