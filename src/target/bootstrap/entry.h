/*
 * The assembly parts of the bootstrap: creating a thread that is no libc thread, and unmapping the
 * memory that the caller runs in. Runs in the target.
 */
#pragma once

#include "shared/wire/boot.h"

/* The CLONE_* flags of a thread unknown to libc; its stack; its function, which must not return. */
long boot_spawn(unsigned long flags, uint64_t stack_top, struct boot_context *boot,
		void (*run)(struct boot_context *));

/* Unmaps the region, with the caller's stack and code, and ends the thread in libc's code. */
_Noreturn void boot_leave(uint64_t region, uint64_t size, uint64_t syscall_return,
			  uint64_t thread_exit, uint64_t exit_word);
