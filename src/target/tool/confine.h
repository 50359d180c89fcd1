/*
 * Recognizes calls by which a target changes its rights: IDs, capabilities, filters, namespaces,
 * its root. limpet's threads would keep rights that it gives up, and some of these calls fail if
 * the process has another thread.
 */
#pragma once

#include "target/hooks/hook.h"

/* The imports to hook. */
extern const struct traced confine_notices[];
extern const size_t confine_notice_count;

/* On limpet's thread, before the first hook: reads the rights of its threads for comparison. */
void confine_begin(void);

/* True if such a call gives the target fewer or other rights than limpet's threads have. */
bool confine_is_change(const struct traced *traced, const uint64_t *arguments);
