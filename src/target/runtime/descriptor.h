/*
 * Descriptors of ours.  Where they are in the program's table (see table.h), they live at high
 * numbers, out of the way of programs that expect low ones, and are closed only while they are
 * still ours: the application may close any number and open it anew.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

struct descriptor {
	int fd; /* -1: none */
	uint64_t device, inode;
};

/* Takes over a descriptor that the kernel has just given us; -1 gives none. */
struct descriptor descriptor_own(int fd);

/* The same for one that stays where it is. */
struct descriptor descriptor_see(int fd);

/* Is it still what it was?  To be asked before each use that would take from the application, or
 * give it, what is not meant for it. */
bool descriptor_is_ours(const struct descriptor *self);

/* Is 0, 1 or 2 free?  Then the next one gets that number, and what the program reads and writes. */
bool descriptors_lack_first(void);

/* Closes it if it still is what it was. */
void descriptor_close(struct descriptor *self);
