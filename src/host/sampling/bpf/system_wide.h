/*
 * The limits of sampling all processes of the machine: the user did not choose them, so their cost
 * is limited.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SYSTEM_SEEN_MAX        65536u              /* processes and programs in one recording */
#define SYSTEM_RANGES_MAX      1024u               /* executable mappings of one process */
#define SYSTEM_FILES_MAX       32768u              /* mapped executable */
#define SYSTEM_TABLE_BYTES_MAX ((size_t)256 << 20) /* for unwind tables, besides the kernel's */
#define SYSTEM_DESCRIPTORS_MAX 128u                /* of files without a name here */
/* Processor time for reading mappings: a tenth of one processor, and this at the beginning. */
#define SYSTEM_READING_SHARE 10u
#define SYSTEM_READING_NS    5000000000ull

struct system_wide {
	uint64_t begun_ns;
	uint64_t read_ns; /* processor time spent on reading */
	uint64_t seen;    /* processes, and the programs that they executed */
};
