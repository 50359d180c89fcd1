/*
 * A thread's root and namespaces, which each thread may change for itself. Runs inside the target:
 * no libc, no descriptor, no lock.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

#define PLACE_FILES 9

struct place {
	struct {
		uint64_t device, inode; /* 0: this kernel has no such namespace */
	} files[PLACE_FILES];
};

/* Reads those of the thread `folder`, "/proc/thread-self". 0; negative errno: it has ended. */
int place_read(const char *folder, struct place *ret);

/* Reads the root again: other threads that share it may have changed it. */
int place_read_root(const char *folder, struct place *self);

bool place_is_same(const struct place *a, const struct place *b);
