/*
 * Where glibc keeps the heap arena of a thread, and which one is the main arena: found by what an
 * arena looks like in the target's memory, never by a version's layout alone.
 */
#pragma once

#include "host/attach/facts/facts.h"

/* Fills in libc.arena_word and libc.arena; they stay 0 where it cannot be proved: malloc is not
 * glibc's, or has never been called. */
void heap_find(const struct target *target, const struct module *libc, struct facts *facts);

/* The code of libc's allocator, its private functions included, and a little more. */
struct elf_range heap_code(const struct module *libc);
