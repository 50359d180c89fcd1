/*
 * Whose turn it is with queues of ours on devices: one thread at a time for all of them, so that
 * nobody ends what another is using.  Nobody waits for a tool in his turn.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* False: another has taken too long. */
bool device_turn_enter(uint64_t limit_ns);
/* The same for those who come again and again: behind everybody else. */
bool device_turn_enter_last(uint64_t limit_ns);
void device_turn_leave(void);

/* In a forked child: whose turn it was is not there. */
void device_turn_adopt(void);
