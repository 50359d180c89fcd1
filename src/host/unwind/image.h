/*
 * The bytes of an ELF object, as far as an unwind table and the build id need them, at the places
 * that they have in the file.  The rest reads as zeroes and costs no memory: a browser's hundreds
 * of megabytes are not read for the few of its .eh_frame.  Its code is read where instructions give
 * rules (aarch64).
 */
#pragma once

#include "shared/base/macros.h"
#include "shared/elf/image.h"

#include <stdbool.h>

struct image {
	unsigned char *bytes; /* a mapping */
	size_t size;
	bool is_cut;   /* a part was larger than IMAGE_PART_MAX, or mostly holes: it is not there */
	bool has_code; /* else image_load_code() reads it */
};

/* Ten times a browser's .eh_frame. */
#define IMAGE_PART_MAX ((uint64_t)256 << 20)

/* -ENOEXEC: not an ELF object of 64 bits.  All but the code: hundreds of megabytes, that a table in
 * the cache makes needless.  Go's is read: it tells whether the table is the same. */
int image_load_file(struct image *ret, int fd) MUST_CHECK;
/* What is missing, from the same file. */
void image_load_code(struct image *image, int fd);
/* From the memory of a process, where the ELF header is at `base`; sections are not there. */
int image_load_memory(struct image *ret, const struct memory_reader *memory,
		      uint64_t base) MUST_CHECK;
void image_done(struct image *image);

static inline void image_done_at_scope_end(struct image *image)
{
	image_done(image);
}
