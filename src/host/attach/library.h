/*
 * A library on its way into a target: its bytes behind a descriptor from which nothing else can be
 * reached, whatever the target does with it.
 */
#pragma once

#include "host/attach/target.h"

struct library {
	int fd;            /* -1: none */
	bool is_directory; /* ...that holds the library as LIBRARY_LINK: the target's root has no
			      /proc to name a descriptor by */
};

#define LIBRARY_NONE ((struct library){ -1, false })

/* Packs the bytes in the form that the target can load.  -ENOTSUP, before anything was done, where
 * there is none. */
int library_pack(const struct target *target, const char *name, const void *bytes, size_t size,
		 struct library *ret, struct err *err) MUST_CHECK;

/* Of a CONTROL_LOAD that the library comes with. */
uint32_t library_flags(const struct library *library);

void library_close(struct library *library);
