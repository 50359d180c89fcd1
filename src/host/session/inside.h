/*
 * Which threads of a target are in a tool library, or will return into it: found from outside, by
 * where they wait and what is on their stacks.
 */
#pragma once

#include "host/attach/facts/resident.h"

/* Where a thread waits. */
struct position {
	uint64_t ip, stack;
};

/* Polls a thread that many times, a millisecond apart; false when it never waits.  For a thread
 * that has ended the position is zero. */
bool position_see(pid_t pid, pid_t tid, unsigned glances, struct position *ret);

/* The tool that a mapping belongs to; the one that a thread at that position is in.  NULL: none. */
const struct agent_tool *mapping_tool(const struct agent_page *page, const struct mapping *mapping);
const struct agent_tool *position_tool(const struct target *target, const struct agent_page *page,
				       const struct maps *maps, const struct position *position);

/* Is a thread at that position in the agent, or will it return into it? */
bool position_is_in_agent(const struct target *target, const struct resident *resident,
			  const struct maps *maps, const struct position *position);

/* limpet's own tracer, if it is loaded; NULL. */
const struct agent_tool *page_tracer(const struct agent_page *page);

/* How many threads wait in traced calls that have not returned. */
size_t inside_count(const struct target *target, const struct resident *resident);

/* Is an application thread surely past the few instructions between loading an import entry and
 * jumping to its target?  True when it waits in a call, whose position is returned, or when it has
 * ended or has run for a while since (position 0), not counting signal handlers. */
bool position_settle(pid_t pid, pid_t tid, struct position *ret);
