/*
 * Asks a register library in the process for the API tables that runtimes have given it.
 */
#pragma once

#include "shared/wire/control.h"

/* limpet's own library calls us back for each table; AMD's invokes all registrations again, and is
 * asked only when it knows of one that is not known here; whether it does is told.  Tools that are
 * attached are shown what is new.  0, -ETIMEDOUT, -EBUSY while an earlier one has not returned,
 * -ENXIO when it says that it found no tool, or is gone. */
int register_ask(const struct boot_libc *libc, const struct control_tables *order,
		 uint32_t *ret_worth) MUST_CHECK;

/* Notes a table that the host has found; tools that are attached are shown it.  -ENXIO where it is
 * not there any more; then, and where tools could not be shown it, it is not noted. */
int register_found(const struct boot_libc *libc, struct control_found *order) MUST_CHECK;
