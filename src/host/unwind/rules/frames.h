/*
 * The entries of .eh_frame and .debug_frame: the program of rules for each piece of code.
 */
#pragma once

#include "host/unwind/elf/bytes.h"
#include "host/unwind/elf/object.h"

/* What entries share (CIE). */
struct frame_common {
	uint64_t offset; /* in the section */
	uint64_t code_step;
	int64_t data_step;
	unsigned pointer_encoding;
	bool is_signal; /* signal frames, made by the kernel */
	bool has_size;  /* of augmentation data, in each entry */
	unsigned return_register;
	struct dwarf_bytes program;
};

enum entry_kind {
	ENTRY_PROGRAM, /* a FDE */
	ENTRY_GAP,     /* code without an entry: only start and end are known */
	ENTRY_END,     /* an end of stacks */
	ENTRY_GO,      /* a function of Go */
};

/* Code from `start` to `end`. */
struct frame_entry {
	uint64_t start, end;
	enum entry_kind kind;
	uint32_t common; /* index; of ENTRY_GO, that of the function */
	struct dwarf_bytes program;
};

struct frames {
	struct frame_common *commons;
	size_t common_count, common_room;
	struct frame_entry *entries; /* ascending, with distinct addresses */
	size_t count, room;
	uint64_t broken; /* invalid entries, skipped */
};

enum frames_section {
	FRAMES_EH,    /* .eh_frame */
	FRAMES_DEBUG, /* .debug_frame */
	FRAMES_SECTIONS,
};

/* -ENOMEM. */
int frames_read(struct frames *ret, const struct object_part *part,
		enum frames_section section) MUST_CHECK;
/* Moves entries from another section for code that has none yet.  -ENOMEM. */
int frames_merge(struct frames *frames, struct frames *other) MUST_CHECK;
/* Adds entries behind the others: frames_sort() must follow.  -ENOMEM. */
int frames_append(struct frames *frames, const struct frame_entry *entries,
		  size_t count) MUST_CHECK;
/* Adds entries, which ascend, in place of all that overlap one of them.  -ENOMEM. */
int frames_add_own(struct frames *frames, const struct frame_entry *own, size_t count) MUST_CHECK;
/* Whether compilers wrote rules for their code in `code_size` bytes of code: entries cover more
 * than an eighth of it.  Assembly may be the rest: x265 has its assembly three times. */
bool frames_are_compilers(const struct frames *frames, uint64_t code_size);
/* Whether an entry contains the address. */
bool frames_cover(const struct frames *frames, uint64_t address);
/* Entries ascend, with distinct addresses. */
void frames_sort(struct frames *frames);
void frames_done(struct frames *frames);
