/*
 * Checks whether a thread of the target has a filter that limpet's threads in it lack.
 */
#pragma once

#include "host/session/session.h"

/* An application thread held up by a hook makes limpet's system calls, and only the filters of the
 * thread that limpet's threads come from were checked.  Informs the agent if no thread has others;
 * called after the hooks are installed, since from then on the agent itself sees new filters. */
int alike_tell(struct session *session, bool *ret_are_alike, struct err *err) MUST_CHECK;
