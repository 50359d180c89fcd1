/*
 * What an unwind table is made from: the section of frames in an ELF file, and where its code lies.
 */
#pragma once

#include "host/core/err.h"
#include "host/unwind/rules/frames.h"
#include "host/unwind/rules/go_rules.h"
#include "host/unwind/rules/rules.h"

struct unwind_source {
	const struct unwind_machine *machine;
	uint64_t first, end; /* of the code */
	/* Both are there where assembly or another compiler's code lacks entries in the first; both
	 * may be empty, where instructions are read. */
	struct object_part parts[FRAMES_SECTIONS];
	void *unpacked; /* what a part lies in that was packed */
	struct object object;
	bool has_go;
	struct go_code go;
	struct object_part stubs; /* size 0: none, or of a shape that is not known */
};

/* Points into the bytes.  To be closed when it succeeded.  -ENOEXEC: not an object of a machine
 * that is known. */
int unwind_source_open(struct unwind_source *ret, const void *bytes, size_t size,
		       struct err *err) MUST_CHECK;
void unwind_source_close(struct unwind_source *source);

/* The same number for the same section and place of the code: whatever gives another table of a
 * file gives another number, also that its sections are not known (an image in memory). */
uint64_t unwind_source_fingerprint(const struct unwind_source *source);
