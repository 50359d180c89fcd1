/*
 * The bytes of an ELF object that an unwind table and the build id need, at their offsets in the
 * file.  The rest reads as zeroes and costs no memory: of a browser's hundreds of megabytes only
 * the few of .eh_frame are read.  Code is read where instructions give rules (aarch64).
 */
#pragma once

#include "host/core/cleanup.h"
#include "shared/base/macros.h"
#include "shared/elf/image.h"

#include <stdbool.h>

struct image {
	unsigned char *bytes; /* a mapping */
	size_t size;
	bool is_cut;   /* a part was larger than IMAGE_PART_MAX, or mostly holes, and is missing */
	bool has_code; /* else image_load_code() reads it */
};

/* Ten times a browser's .eh_frame. */
#define IMAGE_PART_MAX ((uint64_t)256 << 20)

/* -ENOEXEC: not a 64-bit ELF object.  Skips code: hundreds of megabytes, not needed with a table in
 * the cache.  Go's code is read: it shows whether the table is the same. */
int image_load_file(struct image *ret, int fd) MUST_CHECK;
/* Reads the missing code from the same file. */
void image_load_code(struct image *image, int fd);
/* From a process's memory, with the ELF header at `base`; without sections. */
int image_load_memory(struct image *ret, const struct memory_reader *memory,
		      uint64_t base) MUST_CHECK;
void image_done(struct image *image);

DEFINE_STRUCT_CLEANUP(image, image_done)
