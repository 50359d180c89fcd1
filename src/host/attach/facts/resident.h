/*
 * An agent that is mapped in the target already: found by its page, read without stopping anything.
 */
#pragma once

#include "host/attach/facts/target.h"

struct resident {
	uint64_t address; /* of the page in the target */
	struct agent_page page;
};

/* 0; -ENOENT when there is none; -EPROTO for one of another version of limpet. */
int resident_find(const struct target *target, struct resident *ret) MUST_CHECK;

/* Describes the failure of resident_find() in err; returns r. */
int resident_explain(const struct target *target, int r, struct err *err);

/* The agent with this boot_context: a process may hold another, left by a host that died. */
int resident_find_at(const struct target *target, uint64_t context,
		     struct resident *ret) MUST_CHECK;

/* Reads the page again. */
int resident_refresh(const struct target *target, struct resident *resident) MUST_CHECK;

/* True while the control thread runs in this very process (not in the parent that it was forked
 * from). */
bool resident_is_held(const struct target *target, const struct resident *resident);

/* True when the process that holds it is visible here, by number and start time. */
bool resident_holder_lives(const struct resident *resident);

/* Waits for an agent whose host has died to notice, and for its threads to end: 0 when its region
 * may be used again, with a copy of the context; -EBUSY when it is held; -ENOENT when there is no
 * valid region. */
int resident_await_rest(const struct target *target, struct resident *resident,
			struct boot_context *ret) MUST_CHECK;
