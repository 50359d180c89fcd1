/*
 * Calls by which a program changes what it may do: ids, capabilities, filters, namespaces.  Threads
 * of ours would keep what it gives up, and some of these calls fail where a thread more is there.
 */
#pragma once

#include "target/hooks/hook.h"

/* Which imports to notice. */
extern const struct traced confine_notices[];
extern const size_t confine_notice_count;

/* Does such a call, with these arguments, change something? */
bool confine_is_change(const struct traced *traced, uint64_t first, uint64_t second);
