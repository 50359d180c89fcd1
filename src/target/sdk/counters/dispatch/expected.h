/*
 * For which configs of a device packets are there: the one that the tool is expected to choose
 * next, and some that it has chosen before.  In one's turn (device_turn.h), but for the first.
 */
#pragma once

#include "target/sdk/counters/dispatch/sets.h"

/* The tool has chosen that config for a kernel of the device.  On a thread of the program's, not in
 * a visit: where none was expected yet, it waits until there are packets for the next kernel. */
void config_expect_after(struct counted_device *device, uint64_t config);

/* Makes packets for what the tool has chosen since, or is expected to choose.  Why not: a status.
 */
int expected_configs_follow(int tool);

/* Nothing is expected any more: gives back what no device has.  True: all of it. */
bool expected_configs_leave(void);
