/*
 * aarch64's part of shared/arch/elf.h.
 */
#pragma once

#include <stdint.h>

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
