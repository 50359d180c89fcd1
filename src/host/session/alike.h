/*
 * Which threads of a program have a filter that limpet's threads in it have not?
 */
#pragma once

#include "host/session/session.h"

/* Tells the agent when there is none; after the hooks are in place, since from then on it sees by
 * itself who gets one. */
int alike_tell(struct session *session, struct err *err) MUST_CHECK;
