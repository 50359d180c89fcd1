/*
 * Which C library a process uses, where, and how old it is.
 */
#pragma once

#include "host/process/auxv.h"
#include "host/process/maps.h"

enum libc_flavour {
	LIBC_UNKNOWN, /* not enough rights to read */
	LIBC_NONE,    /* static executable */
	LIBC_NOT_YET, /* the dynamic linker has not mapped one (yet) */
	LIBC_GLIBC,
	LIBC_MUSL,
	LIBC_OTHER,
};

struct libc {
	enum libc_flavour flavour;
	unsigned major, minor, patch; /* 0.0.0 when it could not be found out */
	uint64_t base;                /* address of its first page */
	char path[256];               /* as mapped */
	bool has_libpthread;          /* a library of its own before glibc 2.34 */
};

/* Versions found so far, by file: finding one means searching the whole library. */
struct libc_cache {
	size_t count;
	struct libc_version {
		uint64_t inode;
		unsigned dev_major, dev_minor;
		unsigned major, minor, patch;
	} items[16];
};

/* memory is from memory_open(), or -1: then names must do, and there is no version.  Never fails.
 */
void libc_find(const struct maps *maps, const struct auxv *auxv, int memory,
	       struct libc_cache *cache, struct libc *ret);

/* Fills in the version from a piece of the library's bytes; *ret has its flavour.  True when it was
 * there, else 0.0.0 stays. */
bool libc_version_search(const char *bytes, size_t size, struct libc *ret);

/* "glibc", "musl", "none", ... */
const char *libc_flavour_name(enum libc_flavour flavour);

/* "glibc 2.36", "musl 1.2.3", "none"; returns the buffer. */
const char *libc_describe(const struct libc *libc, char *buffer, size_t capacity);
