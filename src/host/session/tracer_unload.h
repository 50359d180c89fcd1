/*
 * Whether limpet's own tracer can be unmapped.
 */
#pragma once

#include "host/process/maps.h"
#include "host/session/session.h"

/* Adds why it must stay, in words for people; nothing where it is not there, or may go.  Its hooks
 * are out. */
void tracer_find_reasons(const struct session *session, const struct maps *maps,
			 struct session_left *left);

/* Is it there, and nothing known that keeps it for ever? */
bool tracer_may_go(const struct session *session);
