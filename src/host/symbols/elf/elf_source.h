/*
 * An open ELF file: from a descriptor, or from memory.  Read, never mapped: a file truncated
 * meanwhile would end limpet by SIGBUS.
 */
#pragma once

#include "host/core/cleanup.h"
#include "shared/base/macros.h"

#include <libelf.h>
#include <stdbool.h>
#include <sys/types.h>

/* Zero is none. */
struct elf_source {
	Elf *elf;
	int fd;         /* -1, 0: none */
	char *memory;   /* NULL: none */
	bool has_lines; /* its debug information, if any, may be read: see elf_limits.h */
};

/* A section that is read as a whole has no more bytes. */
#define ELF_PART_MAX ((size_t)256 << 20)

/* As foreign_file_open(); -ENOEXEC when it is no ELF file of this machine, -EFBIG when it is beyond
 * the limits. */
int elf_source_open(struct elf_source *ret, pid_t pid, const char *path) MUST_CHECK;
/* The same by a path from module_file_open(); `name` is for messages. */
int elf_source_open_again(struct elf_source *ret, const char *path, const char *name) MUST_CHECK;
/* Owns the memory, also when it fails. */
int elf_source_in(struct elf_source *ret, char *memory, size_t size) MUST_CHECK;
void elf_source_close(struct elf_source *source);

DEFINE_STRUCT_CLEANUP(elf_source, elf_source_close)

bool elf_has_section(Elf *elf, const char *name);

/* A section's bytes, which belong to the source; false when it has none, or too many. */
struct elf_part {
	const unsigned char *bytes;
	size_t size;
	uint64_t address;
};
bool elf_section_part(Elf *elf, const char *name, struct elf_part *ret);

/* NULL: it has none.  The bytes belong to the source. */
const unsigned char *elf_build_id(Elf *elf, size_t *ret_size);

/* Whether it has this build-id. */
bool elf_has_build_id(Elf *elf, const unsigned char *build_id, size_t size);

enum {
	ELF_BYTES_NAMES = 1, /* sections with names */
	ELF_BYTES_GO = 2,    /* Go's table of functions */
	ELF_BYTES_DEBUG = 4, /* sections with lines */
};

/* The sizes of these kinds of sections together. */
size_t elf_bytes(Elf *elf, unsigned kinds);
