/*
 * Files, lines and inlined functions, from DWARF by libdw.  Slow to start: used only for frames
 * that are shown.
 */
#pragma once

#include "shared/base/macros.h"

#include <libelf.h>
#include <stdbool.h>

/* A location in the source.  Texts live as long as their source. */
struct source_location {
	const char *function; /* as linked, or as in the source; NULL: unknown */
	const char *file;     /* NULL: not known */
	unsigned line;
};

struct lines;

struct line_reader {
	/* NULL when the file has no such information.  The file must stay open. */
	struct lines *(*open)(Elf *elf);
	void (*close)(struct lines *lines);
	/* The innermost first: functions that were inlined here, then the one that holds the code.
	 * Returns how many, at most `room`; 0: nothing is known. */
	size_t (*find)(struct lines *lines, uint64_t address, struct source_location *ret,
		       size_t room);
};

/* By libdw.  In the executable only: Debian's static libdw cannot be part of a shared library, so
 * liblimpet has names without lines. */
extern const struct line_reader line_reader_libdw;
