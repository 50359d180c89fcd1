/*
 * limpet's threads have no malloc arena of their own: glibc would reserve 64 MiB of address space
 * for each, and keep it. They use the main arena, like the process's first thread.
 */
#pragma once

#include "shared/wire/boot.h"

/* Called by each of limpet's threads before its first allocation; no-op for an unknown arena. */
void arena_share(const struct boot_libc *libc);

/* Called last in a thread: libc counts the threads of an arena, but never counted this one. */
void arena_part(const struct boot_libc *libc);
