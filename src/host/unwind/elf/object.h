/*
 * The parts of an ELF file that unwinding needs, from bytes that are in memory as a whole: a file,
 * or the image of the vdso.  The bytes are foreign: each part is bounded by their size.
 */
#pragma once

#include "shared/base/macros.h"

#include <elf.h>
#include <stdbool.h>

#define OBJECT_SEGMENTS_MAX 64

struct object {
	const unsigned char *bytes;
	size_t size;
	Elf64_Ehdr header;
	Elf64_Phdr segments[OBJECT_SEGMENTS_MAX]; /* copies: the file's may not be aligned */
	unsigned segment_count;
};

struct object_part {
	const unsigned char *bytes;
	uint64_t size;
	uint64_t address; /* p_vaddr of its beginning */
	bool has_size;    /* else it extends to the end of its segment and has an end mark */
};

/* -ENOEXEC for anything but a valid 64-bit little-endian object. */
int object_open(struct object *ret, const void *bytes, size_t size) MUST_CHECK;
/* -ENOENT: there is none, its bytes are elsewhere (a debug file) or compressed. */
int object_section(const struct object *object, const char *name,
		   struct object_part *ret) MUST_CHECK;
/* The same, also where it is compressed. */
int object_section_raw(const struct object *object, const char *name, struct object_part *ret,
		       bool *ret_packed) MUST_CHECK;
/* From this address to the end of its segment; -ENOENT: it is in none. */
int object_at(const struct object *object, uint64_t address, struct object_part *ret) MUST_CHECK;
/* .eh_frame through PT_GNU_EH_FRAME, for files without section headers. */
int object_unwind_segment(const struct object *object, struct object_part *ret) MUST_CHECK;
/* The size of the build id, cut at the capacity; 0 when there is none. */
unsigned object_build_id(const struct object *object, unsigned char *ret, unsigned capacity);
/* The lowest and the end of the addresses that are executable; false when nothing is. */
bool object_code(const struct object *object, uint64_t *ret_first, uint64_t *ret_end);
/* The addresses of a segment's code: without data of the same segment, which some linkers put
 * before it, where sections show that.  False: there is none. */
bool object_code_of(const struct object *object, const Elf64_Phdr *segment, uint64_t *ret_first,
		    uint64_t *ret_end);
/* The address (p_vaddr) of a byte of the file that is mapped executable; false: it is in no such
 * segment. */
bool object_address_of(const struct object *object, uint64_t file_offset, uint64_t *ret);

#define UNPACKED_MAX ((uint64_t)256 << 20)

/* A section by name, or by its old name (".debug_frame": ".zdebug_frame"), uncompressed: *ret_owned
 * is to be freed then.  Linkers compress by SHF_COMPRESSED (zlib, zstd), or, as Go did, by the old
 * .zdebug_; the sizes are foreign.  -ENOENT: there is none; -EFBIG: it would be too large;
 * -EBADMSG: it cannot be uncompressed; -ENOMEM. */
int object_unpack(const struct object *object, const char *name, struct object_part *ret,
		  void **ret_owned) MUST_CHECK;
