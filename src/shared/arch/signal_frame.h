/*
 * Where the kernel lays the registers that a signal interrupted, from the stack pointer with which
 * its return trampoline runs.  Known to host and kernel programs: no libc.
 *
 *   SIGNAL_FRAME_PC, SIGNAL_FRAME_SP, SIGNAL_FRAME_FP    offsets in bytes
 *   SIGNAL_FRAME_LR                                      of the link register, where there is one
 *   SIGNAL_TRAMPOLINE    the first eight bytes of a trampoline: rt_sigreturn, as musl and Go have
 *                        it, without rules
 */
#pragma once

#if defined(__x86_64__) || defined(__TARGET_ARCH_x86)
/* struct ucontext: flags, link and stack (40 bytes), then struct sigcontext. */
#define SIGNAL_FRAME_FP   120
#define SIGNAL_FRAME_SP   160
#define SIGNAL_FRAME_PC   168
#define SIGNAL_TRAMPOLINE 0x0f0000000fc0c748ull /* mov $15, %rax; syscall */
#elif defined(__aarch64__) || defined(__TARGET_ARCH_arm64)
/* struct siginfo (128 bytes), then struct ucontext with its sigcontext at 176: the fault's address,
 * x0 to x30, sp, pc. */
#define SIGNAL_FRAME_FP   544
#define SIGNAL_FRAME_LR   552
#define SIGNAL_FRAME_SP   560
#define SIGNAL_FRAME_PC   568
#define SIGNAL_TRAMPOLINE 0xd4000001d2801168ull /* mov x8, #139; svc #0 */
#endif
