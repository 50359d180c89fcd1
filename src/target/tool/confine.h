/*
 * Recognizes calls by which a target changes its rights: IDs, capabilities, filters, namespaces,
 * its root. limpet's threads would keep rights that it gives up, and some of these calls fail if
 * the process has another thread.
 */
#pragma once

#include "target/hooks/hook.h"

/* Adds the imports to hook to those that are wanted (wants.h): these calls, and dlopen. False:
 * there is no room. */
bool confine_want(void);

/* On limpet's thread, before the first hook: reads the rights of its threads for comparison. */
void confine_begin(void);

/* True if such a call gives the target fewer or other rights than limpet's threads have. */
bool confine_is_change(const struct traced *traced, const uint64_t *arguments);

/* True if such a call is about to run the loader: modules may be loaded. */
bool confine_is_opening(const struct traced *traced);

/* True if the thread is about to lose the right to read the machine's counter, which every record
 * needs, and by which tools time calls. */
bool confine_takes_counter(const struct traced *traced, const uint64_t *arguments);
