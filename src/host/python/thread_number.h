/*
 * The offset of the kernel's number of a thread in the C library's block, to which pthread_self()
 * points.  Before 3.11 only this links Python's states to threads.
 */
#pragma once

#include "shared/wire/thread_words.h"

#include "host/python/code.h"
#include "host/unwind/space.h"

/* Whether a file of that name may be the C library, or its threads. */
bool thread_number_is_library(const char *path);

/* As glibc describes it; 0: that makes no sense. */
unsigned thread_number_check(const struct thread_word *word, uint32_t block_size);

/* -ENOENT: no C library is mapped, or not yet.  -EOPNOTSUPP: it has no description. */
int thread_number_find(const struct space *space, const struct python_memory *memory,
		       unsigned *ret) MUST_CHECK;
