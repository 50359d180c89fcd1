/*
 * A code object of Python, read from the memory of its process: foreign bytes, that may be
 * changing.
 */
#pragma once

#include "host/python/layout.h"

/* 0: all of it was read. */
struct python_memory {
	int (*read)(void *context, uint64_t address, void *into, size_t size);
	void *context;
};

struct python_code {
	uint64_t address;
	char *function, *file; /* UTF-8, without control characters */
	unsigned first_line;
	unsigned char *lines;
	size_t lines_size;
};

/* `type`: the address of the type that code objects have; 0: not known.  -EFAULT: there is none
 * (any more), or it changed meanwhile; -ENOMEM. */
int python_code_read(const struct python_memory *memory, const struct python_layout *layout,
		     uint64_t type, uint64_t address, struct python_code *ret) MUST_CHECK;
void python_code_done(struct python_code *code);

/* A text of Python, without control characters; the caller's to free.  -EFAULT: there is none. */
int python_text_read(const struct python_memory *memory, const struct python_layout *layout,
		     uint64_t address, char **ret) MUST_CHECK;

/* Whether they are the same, as far as can be seen. */
bool python_code_equals(const struct python_code *code, const struct python_code *other);

/* The line of a frame that is `at` there; the first one where the instruction has none. */
unsigned python_code_line(const struct python_code *code, const struct python_layout *layout,
			  uint64_t at);
