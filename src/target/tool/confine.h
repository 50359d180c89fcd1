/*
 * Calls by which a program changes what it may do: ids, capabilities, filters, namespaces, its
 * root. Threads of ours would keep what it gives up, and some of these calls fail where a thread
 * more is there.
 */
#pragma once

#include "target/hooks/hook.h"

/* Which imports to notice. */
extern const struct traced confine_notices[];
extern const size_t confine_notice_count;

/* On a thread of ours, before the first of them is hooked: what ours may do, to compare with. */
void confine_begin(void);

/* Does such a call, with these arguments, leave the program with less, or other, than ours have? */
bool confine_is_change(const struct traced *traced, const uint64_t *arguments);
