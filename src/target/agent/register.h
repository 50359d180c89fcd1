/*
 * Asks a register library in the process for the API tables that runtimes have given it.
 */
#pragma once

#include "shared/wire/boot.h"

#include <stdbool.h>

/* takes_callback: limpet's own library, which calls us back for each table; else AMD's function
 * that invokes all registrations again.  0, -ETIMEDOUT, -ENXIO when it says that it found no tool.
 */
int register_ask(const struct boot_libc *libc, void *function, bool takes_callback,
		 uint32_t timeout_ms) MUST_CHECK;
