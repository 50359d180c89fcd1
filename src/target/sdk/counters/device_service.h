/*
 * Counters of whole devices, for tools that read them when they want to.
 */
#pragma once

#include <stdbool.h>

/* Contexts have started or stopped: counting does, too.  Forgotten: that tool's are gone; -1. */
void device_service_follow(int forgotten);
/* Why the context that has just started cannot count: a status. */
int device_service_fault(unsigned context);
/* Has a device that was never done with a packet of ours memory of it? */
bool device_service_is_left(void);
/* In a forked child. */
void device_service_adopt(void);
