/*
 * System calls that another process can delay for as long as it likes, and that only SIGKILL ends.
 * Each thread marks when it is in one; the thread that watches for signals checks the marks.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

void overdue_begin(void);
void overdue_end(void);

/* True when some thread has been in one for longer. */
bool overdue_is(uint64_t limit_ns);
