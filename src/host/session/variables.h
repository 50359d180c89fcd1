/*
 * The variables that the target sees while attached: those of the options, the caller's that begin
 * with ROCP, and the marks by which a tool knows that it was attached.
 */
#pragma once

#include "host/session/session.h"

/* Checks that each of the options is NAME=VALUE. */
int variables_check(const struct session_options *options, struct err *err) MUST_CHECK;

/* Are there any besides the marks? */
bool variables_are_given(const struct session_options *options);

/* Publishes them; `extra`: more of them up to a NULL, or NULL. */
int variables_publish(struct session *session, const struct session_options *options,
		      const char *const *extra, struct err *err) MUST_CHECK;
