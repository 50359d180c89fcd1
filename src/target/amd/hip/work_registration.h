/*
 * Registers limpet's callback with HIP, which then reports the work of devices.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Registers or unregisters the callback, as contexts of attached tools (bits) need it. Any thread;
 * one that registers already, and may wait for the loader, repeats the check for the others. */
void work_follow(const uint32_t *tools);

/* Is limpet's callback registered, or a thread about to change that? */
bool work_is_registered(void);

/* In a forked child. */
void work_registration_adopt(void);
