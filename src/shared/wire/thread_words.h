/*
 * Words in glibc's block of each thread, from the descriptions that glibc keeps for debuggers: the
 * thread's number, and its flags (cancelhandling).  A thread whose flags show that it is ending
 * takes no part in setuid and the like.
 */
#pragma once

#include "shared/arch/elf.h"
#include "shared/base/macros.h"

#include <stdbool.h>

#define THREAD_FLAG_ENDING 0x10u /* EXITING_BITMASK, in every glibc since 2.4 */
#define THREAD_FLAG_SETXID 0x40u /* it is about to be signalled to change its ids */

struct thread_word {
	uint32_t bits, elements, offset;
};

/* Whether such a word may be in the block. */
static inline bool thread_word_is_sound(const struct thread_word *at, uint32_t block_size)
{
	return at->bits == 32 && at->elements == 1 && at->offset && at->offset % 4 == 0 &&
	       at->offset < block_size && block_size - at->offset >= 4;
}

/* How far from the thread pointer the word is; 0: the description makes no sense. */
static inline int64_t thread_word_distance(const struct thread_word *at, uint32_t block_size)
{
	int64_t block = ARCH_TLS_ABOVE ? -(int64_t)block_size : 0;

	return thread_word_is_sound(at, block_size) ? block + at->offset : 0;
}
