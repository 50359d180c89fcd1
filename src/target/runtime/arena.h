/*
 * Threads of ours have no heap arena of their own: glibc would reserve 64 MiB of address space for
 * each, and keep them.  They use the program's main arena, as its first thread does.
 */
#pragma once

#include "shared/wire/boot.h"

/* Called by each thread of ours before it can allocate; nothing where the arena is not known. */
void arena_share(const struct boot_libc *libc);

/* The last that it does before it ends: libc counts the threads of an arena, and this one was never
 * counted. */
void arena_part(const struct boot_libc *libc);
