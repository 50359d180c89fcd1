/*
 * An ELF object as it lies in the memory of a process, read through a function: symbols,
 * thread-local storage, instruction bytes.  Everything read is foreign: each table is bounded,
 * nothing is trusted, nothing allocated.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

/* Reads memory of the process; 0 or -errno. */
struct memory_reader {
	int (*read)(void *context, uint64_t address, void *into, size_t size);
	void *context;
};

#define ELF_CODE_RANGES_MAX 8

struct elf_range {
	uint64_t start, size;
};

struct elf_image {
	const struct memory_reader *memory;
	uint64_t base; /* address of the ELF header */
	uint64_t bias; /* added to the addresses in the file */
	uint64_t end;
	bool has_interpreter;
	struct elf_range code[ELF_CODE_RANGES_MAX];
	unsigned code_count;
	uint64_t tls_image, tls_file_size, tls_memory_size; /* the address is relocated */
	uint64_t dynamic, dynamic_size;
	uint64_t symbols, strings, strings_size, gnu_hash, sysv_hash, relocations, relocations_size;
	uint64_t debug; /* r_debug, once the loader has filled it in */
};

/* Reads the headers at `base`.  -ENOEXEC for anything but a sound 64-bit object of this machine. */
int elf_image_open(struct elf_image *ret, const struct memory_reader *memory,
		   uint64_t base) MUST_CHECK;

/* The address of a defined dynamic symbol; -ENOENT. */
int elf_image_symbol(const struct elf_image *image, const char *name, uint64_t *ret) MUST_CHECK;

/* The same with the symbol's size. */
int elf_image_symbol_range(const struct elf_image *image, const char *name,
			   struct elf_range *ret) MUST_CHECK;

/* The distance of the object's static TLS block from the thread pointer, from a relocated word;
 * -ENOENT. */
int elf_image_tls_offset(const struct elf_image *image, int64_t *ret) MUST_CHECK;

/* The first address in executable memory with these bytes; -ENOENT. */
int elf_image_find(const struct elf_image *image, const void *bytes, size_t size,
		   uint64_t *ret) MUST_CHECK;
