/*
 * Reads numbers in DWARF's encodings from the front of foreign bytes.  Beyond the end they read as
 * 0 and mark the bytes as broken, so a caller checks once, at the end.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

struct dwarf_bytes {
	const unsigned char *at, *end;
	uint64_t address; /* of `at`, for pc-relative numbers */
	bool is_broken;
};

uint64_t dwarf_read_fixed(struct dwarf_bytes *bytes, unsigned size); /* 1, 2, 4 or 8 bytes */
uint64_t dwarf_read_unsigned(struct dwarf_bytes *bytes);             /* LEB128 */
int64_t dwarf_read_signed(struct dwarf_bytes *bytes);
/* The next bytes as a piece of their own. */
struct dwarf_bytes dwarf_read_piece(struct dwarf_bytes *bytes, uint64_t size);

enum dwarf_encoding {
	DWARF_ABSOLUTE = 0x00,
	DWARF_RELATIVE = 0x10, /* to the address of the number itself */
	DWARF_OMITTED = 0xff,
};

/* A pointer in one of the encodings of .eh_frame; those that need more than the file mark the bytes
 * as broken. */
uint64_t dwarf_read_pointer(struct dwarf_bytes *bytes, unsigned encoding);
