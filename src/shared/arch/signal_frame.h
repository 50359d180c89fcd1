/*
 * Where the kernel stores the registers that a signal interrupted, from the stack pointer with
 * which its return trampoline runs; and code that is recognised by its bytes, not by rules.  Used
 * by host and kernel programs: no libc.
 *
 *   SIGNAL_FRAME_PC, SIGNAL_FRAME_SP, SIGNAL_FRAME_FP    offsets in bytes
 *   SIGNAL_FRAME_LR                                      of the link register, where there is one
 *   SIGNAL_FRAME_GO                                      of the one in which Go has its goroutine
 *   SIGNAL_TRAMPOLINE    the first eight bytes of a trampoline: rt_sigreturn, as musl and Go have
 *                        it, without rules
 *   THREAD_END           the eight bytes behind the call of a thread's first function, in musl and
 *                        its like: the thread ends
 */
#pragma once

#if defined(__x86_64__) || defined(__TARGET_ARCH_x86)
/* struct ucontext: flags, link and stack (40 bytes), then struct sigcontext. */
#define SIGNAL_FRAME_GO   88
#define SIGNAL_FRAME_FP   120
#define SIGNAL_FRAME_SP   160
#define SIGNAL_FRAME_PC   168
#define SIGNAL_TRAMPOLINE 0x0f0000000fc0c748ull /* mov $15, %rax; syscall */
#define THREAD_END                                                             \
	0x050f3cb0c031c789ull /* mov %eax, %edi; xor %eax, %eax; mov $60, %al; \
				 syscall */
#elif defined(__aarch64__) || defined(__TARGET_ARCH_arm64)
/* struct siginfo (128 bytes), then struct ucontext with its sigcontext at 176: the fault's address,
 * x0 to x30, sp, pc. */
#define SIGNAL_FRAME_GO   536
#define SIGNAL_FRAME_FP   544
#define SIGNAL_FRAME_LR   552
#define SIGNAL_FRAME_SP   560
#define SIGNAL_FRAME_PC   568
#define SIGNAL_TRAMPOLINE 0xd4000001d2801168ull /* mov x8, #139; svc #0 */
#define THREAD_END        0xd4000001d2800ba8ull /* mov x8, #93; svc #0 */
#endif
