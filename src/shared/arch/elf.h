/*
 * ELF, thread-local storage and code of this machine:
 *
 *   ARCH_TLS_ABOVE        static TLS lies above the thread pointer, and struct pthread ends at it;
 *                         else below, and struct pthread begins at it
 *   ARCH_SYSCALL          code: a system call
 *   ARCH_SYSCALL_RETURN   code: a system call, then a return
 *   ARCH_SIGRETURN        code: the system call rt_sigreturn
 *   ARCH_THREAD_EXIT      code: the system call exit
 *   ARCH_GUARD_*          stack and pointer guard in the thread block, where they are there
 *   ARCH_FLAG_OFFSET      "there are other threads" in struct pthread of glibc
 *   ARCH_FLAG_UNTIL       glibc 2.x that has that word no more
 *   ARCH_ADDRESS_MASK     a return address without its signature
 *   ARCH_TAG_MASK         bits of an address that the processor ignores
 *   ARCH_RETURN_ON_STACK  a return takes its address from the stack, not from a register
 */
#pragma once

#include <elf.h>

#if defined(__x86_64__)
#include "shared/arch/x86_64/elf.h"
#elif defined(__aarch64__)
#include "shared/arch/aarch64/elf.h"
#endif
