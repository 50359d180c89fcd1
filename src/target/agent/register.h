/*
 * Asks a register library in the process for the API tables that runtimes have given it.
 */
#pragma once

#include "shared/wire/control.h"

/* limpet's own library calls us back for each table; AMD's invokes all registrations again, and is
 * asked only when it knows of one that is not known here.  0, -ETIMEDOUT, -ENXIO when it says that
 * it found no tool. */
int register_ask(const struct boot_libc *libc, const struct control_tables *order) MUST_CHECK;

/* Notes a table that the host has found; tools that are attached are shown it. */
int register_found(const struct boot_libc *libc, struct control_found *order) MUST_CHECK;
