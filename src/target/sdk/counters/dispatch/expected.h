/*
 * For which configs of a device packets are there: the one that the tool is expected to choose
 * next, and some that it has chosen before.  In one's turn (device_turn.h).
 */
#pragma once

#include "target/sdk/counters/dispatch/sets.h"

/* Makes packets for what the tool has chosen since, or is expected to choose.  Why not: a status.
 */
int expected_configs_follow(void);

/* Nothing is expected any more: gives back what no device has.  True: all of it. */
bool expected_configs_leave(void);
