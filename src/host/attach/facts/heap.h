/*
 * Finds where glibc keeps a thread's heap arena, and the main arena: by the shape of an arena in
 * the target's memory, never by a version's layout alone.
 */
#pragma once

#include "host/attach/facts/facts.h"

/* Fills in libc.arena_word and libc.arena; they stay 0 where it cannot be proved: malloc is not
 * glibc's, or has never been called. */
void heap_find(const struct target *target, const struct module *libc, struct facts *facts);

/* The code of libc's allocator with its private functions, and some code behind. */
struct elf_range heap_code(const struct module *libc);
