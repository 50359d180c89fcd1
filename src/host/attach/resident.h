/*
 * An agent that is in the target already: found by its page, read without stopping anything.
 */
#pragma once

#include "host/attach/target.h"

struct resident {
	uint64_t address; /* of the page in the target */
	struct agent_page page;
};

/* 0; -ENOENT when there is none; -EPROTO for one of another version of limpet. */
int resident_find(const struct target *target, struct resident *ret) MUST_CHECK;

/* Reads the page again. */
int resident_refresh(const struct target *target, struct resident *resident) MUST_CHECK;

/* True while a living host holds the agent of this very process (not of the parent it was forked
 * from). */
bool resident_is_held(const struct target *target, const struct resident *resident);
