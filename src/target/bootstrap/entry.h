/*
 * The assembly parts of the bootstrap code: starting a thread that has no libc thread behind it,
 * and leaving memory that is unmapped on the way out.  Runs in the target.
 */
#pragma once

#include "shared/wire/boot.h"

/* The CLONE_* flags of a thread that knows no libc; its stack; what it runs, which must not return.
 */
long boot_spawn(unsigned long flags, uint64_t stack_top, struct boot_context *boot,
		void (*run)(struct boot_context *));

/* Unmaps the region, stack and code of the caller included, and ends the thread with code of
 * libc's. */
_Noreturn void boot_leave(uint64_t region, uint64_t size, uint64_t syscall_return,
			  uint64_t thread_exit, uint64_t exit_word);
