/*
 * The word of flags in glibc's block of each thread (cancelhandling), by the description that glibc
 * keeps of it for debuggers.  A thread that it says is ending takes no part in setuid and the like.
 */
#pragma once

#include "shared/arch/elf.h"
#include "shared/base/macros.h"

#define THREAD_FLAG_ENDING 0x10u /* EXITING_BITMASK, in every glibc since 2.4 */
#define THREAD_FLAG_SETXID 0x40u /* it is about to be told to change its ids */

/* {bits, elements, offset} of _thread_db_pthread_cancelhandling. */
struct thread_flags_description {
	uint32_t bits, elements, offset;
};

/* How far from the thread pointer the word is; 0: the description makes no sense. */
static inline int64_t thread_flags_distance(const struct thread_flags_description *at,
					    uint32_t block_size)
{
	int64_t block = ARCH_TLS_ABOVE ? -(int64_t)block_size : 0;

	if (at->bits != 32 || at->elements != 1 || !at->offset || at->offset % 4 ||
	    at->offset + 4 > block_size)
		return 0;
	return block + at->offset;
}
