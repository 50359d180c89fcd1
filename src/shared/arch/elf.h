/*
 * What ELF, thread-local storage and code look like on this machine.
 */
#pragma once

#include <elf.h>

#if defined(__x86_64__)
#define ARCH_ELF_MACHINE EM_X86_64
#define ARCH_TPOFF_RELOC R_X86_64_TPOFF64
#define ARCH_TLS_ABOVE                                                             \
	0 /* static TLS lies below the thread pointer, struct pthread begins at it \
	   */
#define ARCH_SYSCALL_RETURN "\x0f\x05\xc3"                         /* syscall; ret */
#define ARCH_SIGRETURN      "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05" /* mov $15, %rax; syscall */
#define ARCH_THREAD_EXIT    "\xb8\x3c\x00\x00\x00\x0f\x05"         /* mov $60, %eax; syscall */
#define ARCH_GUARD_OFFSET   0x28 /* stack and pointer guard in the thread block */
#define ARCH_GUARD_SIZE     16
#define ARCH_CODE_ALIGNMENT 1
#define ARCH_AUDIT          0xc000003eu
* /
#define ARCH_FLAG_OFFSET     0x18 /* "there are other threads", in struct pthread of older glibc */
#define ARCH_ADDRESS_MASK    (~0ull)
#define ARCH_RETURN_ON_STACK 1 /* a return takes its address from the stack */
#elif defined(__aarch64__)
#define ARCH_ELF_MACHINE     EM_AARCH64
#define ARCH_TPOFF_RELOC     R_AARCH64_TLS_TPREL
#define ARCH_TLS_ABOVE       1 /* static TLS lies above the thread pointer, struct pthread ends at it */
#define ARCH_SYSCALL_RETURN  "\x01\x00\x00\xd4\xc0\x03\x5f\xd6" /* svc #0; ret */
#define ARCH_SIGRETURN       "\x68\x11\x80\xd2\x01\x00\x00\xd4" /* mov x8, #139; svc #0 */
#define ARCH_THREAD_EXIT     "\xa8\x0b\x80\xd2\x01\x00\x00\xd4" /* mov x8, #93; svc #0 */
#define ARCH_GUARD_OFFSET    0
#define ARCH_GUARD_SIZE      0 /* the guards are globals of libc */
#define ARCH_CODE_ALIGNMENT  4
#define ARCH_AUDIT           0xc00000b7u
#define ARCH_FLAG_OFFSET     0
#define ARCH_ADDRESS_MASK    0xffffffffffffull /* without the signature of a return address */
#define ARCH_RETURN_ON_STACK 0                 /* ...from a register */
#endif
