/*
 * Threads of the program's that use what is kept for them, for moments, without a lock; and one
 * that waits until whoever may have found something is through.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* To be given to leave; never 0.  What was said before the wait below is seen after this. */
unsigned visit_begin(void);
void visit_end(unsigned visit);

/* One at a time.  Until visits are over that have begun before; whoever comes meanwhile is not
 * waited for.  False: not within that time. */
bool visits_await(uint64_t limit_ns);

/* In a forked child. */
void visits_adopt(void);
