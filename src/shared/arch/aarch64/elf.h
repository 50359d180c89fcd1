/*
 * aarch64's part of shared/arch/elf.h.
 */
#pragma once

#define ARCH_ELF_MACHINE     EM_AARCH64
#define ARCH_TPOFF_RELOC     R_AARCH64_TLS_TPREL
#define ARCH_TLS_ABOVE       1
#define ARCH_SYSCALL_RETURN  "\x01\x00\x00\xd4\xc0\x03\x5f\xd6"
#define ARCH_SIGRETURN       "\x68\x11\x80\xd2\x01\x00\x00\xd4"
#define ARCH_THREAD_EXIT     "\xa8\x0b\x80\xd2\x01\x00\x00\xd4"
#define ARCH_GUARD_OFFSET    0
#define ARCH_GUARD_SIZE      0
#define ARCH_CODE_ALIGNMENT  4
#define ARCH_AUDIT           0xc00000b7u
#define ARCH_FLAG_OFFSET     0
#define ARCH_ADDRESS_MASK    0xffffffffffffull
#define ARCH_RETURN_ON_STACK 0
