/*
 * The record of a kernel that was counted.
 */
#pragma once

#include "target/domains/amd/counters/devices.h"

/* Also where the device has not read: then without counts.  Nothing where it was no kernel. */
void counter_record_write(const struct counter_set *set);
