/*
 * System calls that another process can hold up for as long as it likes, and that no signal but
 * SIGKILL ends: each thread says when it is in one, and whoever watches for signals looks.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

void overdue_begin(void);
void overdue_end(void);

/* True when some thread has been in one for longer. */
bool overdue_is(uint64_t limit_ns);
