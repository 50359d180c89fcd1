/*
 * The device turn: a lock over limpet's queues on devices, so that no thread closes a queue that
 * another one uses. A thread that holds the turn never waits for a tool.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* False: the time is over, another thread holds the turn. */
bool device_turn_enter(uint64_t limit_ns);
/* For threads that take the turn repeatedly: waits behind all others. */
bool device_turn_enter_last(uint64_t limit_ns);
void device_turn_leave(void);

/* In a forked child: the holder does not exist. */
void device_turn_adopt(void);
