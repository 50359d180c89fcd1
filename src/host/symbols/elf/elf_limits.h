/*
 * The limits for reading a foreign ELF file.  Checked before libelf, which allocates the sizes in
 * headers: a file of a few kilobytes can have terabytes there, by holes or by compression.
 */
#pragma once

#include "shared/base/macros.h"

#include <libelf.h>
#include <stdbool.h>

/* Bytes of all sections of a kind together.  The largest programs known have a quarter of it. */
#define ELF_SYMBOLS_MAX     ((uint64_t)192 << 20) /* eight million symbols */
#define ELF_STRINGS_MAX     ((uint64_t)1 << 30)
#define ELF_RELOCATIONS_MAX ((uint64_t)512 << 20)
#define ELF_NOTES_MAX       ((uint64_t)16 << 20)
#define ELF_DEBUG_MAX       ((uint64_t)2 << 30)   /* unpacked */
#define ELF_GO_MAX          ((uint64_t)256 << 20) /* Go's table of functions */
#define ELF_SECTIONS_MAX    65536u
#define ELF_NAMES_MAX       ((uint64_t)16 << 20) /* of sections */

/* The bytes of a file, or of memory where `memory` is set. */
struct elf_bytes {
	int fd;
	const char *memory;
	uint64_t size, max; /* of a section; see foreign_file_limit() */
};

struct elf_verdict {
	bool has_lines; /* else its debug information is too much */
};

/* `name` is for the note about a section that is too large.  0; -ENOEXEC when it is no ELF file of
 * this machine; -EFBIG when not even its names can be read. */
int elf_limits_check(const struct elf_bytes *bytes, const char *name,
		     struct elf_verdict *ret) MUST_CHECK;
int elf_limits_check_file(int fd, const char *name, struct elf_verdict *ret) MUST_CHECK;

/* Checks what libelf has read: another user may own the file and change it after the first check.
 * The same limits for the headers that libelf has, but for debug information, which is counted
 * again when it is unpacked (lines.c).  0 or -EFBIG. */
int elf_limits_check_read(Elf *elf, uint64_t max) MUST_CHECK;
