/*
 * limpet's descriptors. In the target's table they get high numbers, because programs expect low
 * ones, and are closed only while they are still limpet's: the application may close any
 * number and open it again.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

struct descriptor {
	int fd; /* -1: none */
	uint64_t device, inode;
};

/* Takes over a new descriptor; -1 gives none. */
struct descriptor descriptor_own(int fd);

/* Likewise, without moving it to a high number. */
struct descriptor descriptor_see(int fd);

/* True if it is still the same file. Check before each use that would take data from the
 * application's file, or write to it. */
bool descriptor_is_ours(const struct descriptor *self);

/* True if 0, 1 or 2 is free: the next descriptor would become the target's standard stream. */
bool descriptors_lack_first(void);

/* Closes it if it is still the same file. */
void descriptor_close(struct descriptor *self);

/* Gives the calling thread a descriptor table of its own, empty, or with only `kept`; -1: none. The
 * kernel uses the lowest free number for each new descriptor, so a descriptor of limpet's in the
 * target's table would take a number that the target expects for itself. The target's descriptors
 * and file locks do not change. False: nothing has changed. */
bool descriptors_leave(int kept);
