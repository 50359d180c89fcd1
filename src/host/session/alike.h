/*
 * Which threads of a program have a filter that limpet's threads in it have not?
 */
#pragma once

#include "host/session/session.h"

/* A thread that is held up by a hook makes system calls for us, which only the filters of the
 * thread that ours come from were asked about.  Tells the agent when there is none; after the hooks
 * are in place, since from then on it sees by itself who gets one. */
int alike_tell(struct session *session, bool *ret_are_alike, struct err *err) MUST_CHECK;
