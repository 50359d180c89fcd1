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
#include <stdint.h>

#if defined(__x86_64__)
#define ARCH_ELF_MACHINE     EM_X86_64
#define ARCH_TPOFF_RELOC     R_X86_64_TPOFF64
#define ARCH_TLS_ABOVE       0
#define ARCH_SYSCALL         "\x0f\x05"
#define ARCH_SYSCALL_RETURN  "\x0f\x05\xc3"
#define ARCH_SIGRETURN       "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05"
#define ARCH_THREAD_EXIT     "\xb8\x3c\x00\x00\x00\x0f\x05"
#define ARCH_GUARD_OFFSET    0x28
#define ARCH_GUARD_SIZE      16
#define ARCH_CODE_ALIGNMENT  1
#define ARCH_AUDIT           0xc000003eu
#define ARCH_FLAG_OFFSET     0x18
#define ARCH_FLAG_UNTIL      UINT32_MAX /* it decides on "lock" before cmpxchg in free() */
#define ARCH_ADDRESS_MASK    (~0ull)
#define ARCH_TAG_MASK        0ull
#define ARCH_RETURN_ON_STACK 1
#elif defined(__aarch64__)
#define ARCH_ELF_MACHINE     EM_AARCH64
#define ARCH_TPOFF_RELOC     R_AARCH64_TLS_TPREL
#define ARCH_TLS_ABOVE       1
#define ARCH_SYSCALL         "\x01\x00\x00\xd4"
#define ARCH_SYSCALL_RETURN  "\x01\x00\x00\xd4\xc0\x03\x5f\xd6"
#define ARCH_SIGRETURN       "\x68\x11\x80\xd2\x01\x00\x00\xd4"
#define ARCH_THREAD_EXIT     "\xa8\x0b\x80\xd2\x01\x00\x00\xd4"
#define ARCH_GUARD_OFFSET    0
#define ARCH_GUARD_SIZE      0
#define ARCH_CODE_ALIGNMENT  4
#define ARCH_AUDIT           0xc00000b7u
#define ARCH_FLAG_OFFSET     0
#define ARCH_FLAG_UNTIL      37
#define ARCH_ADDRESS_MASK    arch_address_mask()
#define ARCH_TAG_MASK        (0xffull << 56)
#define ARCH_RETURN_ON_STACK 0

/* Signatures are in the bits above the program's addresses, which end at 39 to 52 bits, by the
 * kernel's configuration.  The processor strips the signature from a value with all bits set
 * (xpaclri, which does nothing without signatures). */
static inline uint64_t arch_address_mask(void)
{
	const uint64_t signable = (1ull << 55) - 1, usual = (1ull << 48) - 1;
	register uint64_t address __asm__("x30") = signable;

	__asm__("hint #7" : "+r"(address));
	return address == signable ? usual : address;
}
#endif
