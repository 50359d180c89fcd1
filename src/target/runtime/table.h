/*
 * Gives a thread its own descriptor table. The kernel uses the lowest free number for each new
 * descriptor, so a descriptor of limpet's in the target's table would take a number that the target
 * expects for itself.
 */
#pragma once

#include <stdbool.h>

/* Gives the calling thread an empty table, or one with only `kept`; -1: none. The target's
 * descriptors and file locks do not change. False: nothing has changed. */
bool table_leave(int kept);
