/*
 * x86-64's part of shared/arch/elf.h.
 */
#pragma once

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
