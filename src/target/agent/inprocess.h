/*
 * The entry points for code inside the process: limpet's register library, whose functions a
 * program, or AMD's own attacher, calls. No host, no socket; the caller waits.
 */
#pragma once

#include "shared/wire/boot.h"

/*
 * Attaches the tools of a list separated by colons, commas or spaces. `environment` is AMD's buffer
 * (a 32-bit count, then name\0value\0 each) or NULL; the kernel reads it, because it may be
 * invalid. 0; -EINVAL for a bad list or buffer; -EBUSY if limpet is attached from outside; -ENOEXEC
 * if a tool failed (the others are attached), with the reasons in text.
 */
int limpet_inprocess_attach(const struct boot_libc *libc, const char *environment,
			    const char *tools, char *text, size_t room);

/* Likewise, but only up to initialize: for a tool that is loaded from the start. */
int limpet_inprocess_start(const struct boot_libc *libc, const char *tools, char *text,
			   size_t room);
/* For a tool that is part of the program: its rocprofiler_configure. */
int limpet_inprocess_start_function(const struct boot_libc *libc, void *configure, char *text,
				    size_t room);

int limpet_inprocess_detach(const struct boot_libc *libc, char *text, size_t room);
