/*
 * Scope cleanup: CLEANUP(free_function) on a pointer frees it at the end of its scope, TAKE()
 * passes it on.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define DEFINE_CLEANUP(type, function)                            \
	static inline void function##_at_scope_end(type *pointer) \
	{                                                         \
		if (*pointer)                                     \
			function(*pointer);                       \
	}

/* The same of a struct: CLEANUP(function) on it, not on a pointer. */
#define DEFINE_STRUCT_CLEANUP(type, function)                          \
	static inline void function##_at_scope_end(struct type *value) \
	{                                                              \
		function(value);                                       \
	}

#define CLEANUP(function) __attribute__((cleanup(function##_at_scope_end)))
#define TAKE(pointer)                                   \
	({                                              \
		__typeof__(pointer) taken_ = (pointer); \
		(pointer) = NULL;                       \
		taken_;                                 \
	})

static inline void free_at_scope_end(void *pointer)
{
	free(*(void **)pointer);
}

DEFINE_CLEANUP(FILE *, fclose)

/* For a descriptor: -1 means none. */
static inline void close_at_scope_end(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

#define TAKE_FD(fd)                \
	({                         \
		int taken_ = (fd); \
		(fd) = -1;         \
		taken_;            \
	})
