/*
 * Our function in HIP, by which it reports what devices do.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Asks HIP for reports, or no more, as contexts of attached tools (bits) want.  Any thread; whoever
 * is at it already, and perhaps waits for the loader, does it for others, too. */
void work_follow(const uint32_t *tools);

/* Has HIP a function of ours, or is somebody about to change that? */
bool work_is_registered(void);

/* In a forked child. */
void work_registration_adopt(void);
