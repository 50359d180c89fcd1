/*
 * A library to be sent to a target: a descriptor with its bytes, from which the target can reach
 * nothing else.
 */
#pragma once

#include "host/attach/facts/target.h"

struct library {
	int fd;            /* -1: none */
	bool is_directory; /* it holds the library as LIBRARY_LINK: the target has no /proc */
};

#define LIBRARY_NONE ((struct library){ -1, false })

/* Packs the bytes in the form that the target can load.  -ENOTSUP, before anything was done, where
 * there is none. */
int library_pack(const struct target *target, const char *name, const void *bytes, size_t size,
		 struct library *ret, struct err *err) MUST_CHECK;

/* The flags of a CONTROL_LOAD message that carries the library. */
uint32_t library_flags(const struct library *library);

void library_close(struct library *library);
