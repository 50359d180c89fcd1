/*
 * What is known about a device: by HSA, and by the driver's files.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lines "key=value"; cut if there is no room. False: HSA does not know the device. */
bool device_describe(uint64_t device, char *text, size_t room);
