/*
 * Registers limpet's callback with HIP, which then reports the work of devices. The runtime has one
 * slot for one callback (hipRegisterTracerCallback), and no function that reads it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Registers or unregisters the callback, as hip_is_needed() says. Any thread; one that registers
 * already, and may wait for the loader, repeats the check for the others. */
void hip_follow(void);

/* Is limpet's callback registered, or a thread about to change that? */
bool hip_is_registered(void);
bool hip_has_callback(void);

/* In a forked child. */
void hip_registration_adopt(void);
