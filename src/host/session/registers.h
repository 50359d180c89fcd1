/*
 * Register libraries in the target: they know the API tables of the GPU runtimes there.
 */
#pragma once

#include "host/session/session.h"

/* Has the agent ask each of them.  That there is none is no error; one that does not answer is
 * noted in the session. */
int registers_ask(struct session *session, const struct session_options *options,
		  struct err *err) MUST_CHECK;
