/*
 * The parts that an unwind table is made from: the section of frames in an ELF file, and its code.
 */
#pragma once

#include "host/core/err.h"
#include "host/unwind/rules/frames.h"
#include "host/unwind/rules/rules.h"
#include "host/unwind/tables/go_rules.h"

struct unwind_source {
	const struct unwind_machine *machine;
	uint64_t first, end; /* of the code */
	/* Both exist where assembly or another compiler's code has no entries in the first; both
	 * may be empty, where instructions are decoded. */
	struct object_part parts[FRAMES_SECTIONS];
	void *unpacked; /* the memory of an unpacked part */
	struct object object;
	bool has_go;
	struct go_code go;
	struct object_part stubs; /* size 0: none, or of an unknown shape */
};

/* Points into the bytes.  Must be closed after success.  -ENOEXEC: not an object of a supported
 * machine. */
int unwind_source_open(struct unwind_source *ret, const void *bytes, size_t size,
		       struct err *err) MUST_CHECK;
void unwind_source_close(struct unwind_source *source);

#define FINGERPRINT_BEGIN 0x9e3779b97f4a7c15u

/* A 64-bit hash that detects another or torn file, not a forged one.  Continues from the
 * fingerprint of the bytes before, FINGERPRINT_BEGIN at first. */
uint64_t fingerprint(uint64_t so_far, const void *bytes, size_t size);
/* Equal for the same section and code: anything that changes a file's table changes the number,
 * too, even that its sections are not known (an image in memory). */
uint64_t unwind_source_fingerprint(const struct unwind_source *source);
