/*
 * Queries a register library in the process for the API tables that runtimes have registered.
 */
#pragma once

#include "shared/wire/control.h"

/* limpet's own library calls back for each table. AMD's invokes all registrations again, and is
 * called only if it has one that is unknown here, which *ret_worth returns. Attached tools get the
 * new tables. 0, -ETIMEDOUT, -EBUSY while an earlier query runs, -ENXIO if it found no tool, or was
 * unloaded. */
int register_ask(const struct boot_libc *libc, const struct control_tables *order,
		 uint32_t *ret_worth) MUST_CHECK;

/* Notes a table that the host has found; attached tools get it. -ENXIO if it was unmapped; then,
 * and if tools could not get it, it is not noted. */
int register_found(const struct boot_libc *libc, struct control_found *order) MUST_CHECK;
