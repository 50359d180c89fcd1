/*
 * Whether limpet's own tracer can be unmapped.
 */
#pragma once

#include "host/process/maps.h"
#include "host/session/session.h"

/* Adds the reasons why it must stay mapped; none where it is not mapped, or may be unmapped.  Its
 * hooks must be removed. */
void tracer_find_reasons(const struct session *session, const struct maps *maps,
			 struct session_left *left);

/* Is it mapped, without a known reason to stay for ever? */
bool tracer_may_go(const struct session *session);
