/*
 * The configs of a device for which packet sets exist: the one that the tool is expected to choose
 * next, and some that it chose before. All but the first function need the device turn.
 */
#pragma once

#include "target/amd/sinks/sdk/counters/dispatch/sets.h"

/* The tool has chosen that config for a kernel of the device. On an application thread, outside a
 * visit: the first time, waits until there are packets for the next kernel. */
void config_expect_after(struct counted_device *device, uint64_t config);

/* Makes packets for configs that the tool has chosen, or is expected to choose. A status: why
 * not. */
int expected_configs_follow(int tool);

/* Nothing is expected any more: frees what no device uses. True: all was freed. */
bool expected_configs_leave(void);
