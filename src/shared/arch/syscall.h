/*
 * Raw system calls for code that runs inside a target: no libc, no errno, no cancellation point.
 * Each returns what the kernel returned, a negative errno on failure.
 */
#pragma once

#include <sys/syscall.h>

#if defined(__x86_64__)
static inline long raw_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}
#elif defined(__aarch64__)
static inline long raw_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory", "cc");
	return x0;
}
#else
#error "limpet knows x86-64 and aarch64"
#endif

#define RAW_CAST(x)       ((long)(x))
#define raw0(nr)          raw_syscall(nr, 0, 0, 0, 0, 0, 0)
#define raw1(nr, a)       raw_syscall(nr, RAW_CAST(a), 0, 0, 0, 0, 0)
#define raw2(nr, a, b)    raw_syscall(nr, RAW_CAST(a), RAW_CAST(b), 0, 0, 0, 0)
#define raw3(nr, a, b, c) raw_syscall(nr, RAW_CAST(a), RAW_CAST(b), RAW_CAST(c), 0, 0, 0)
#define raw4(nr, a, b, c, d) \
	raw_syscall(nr, RAW_CAST(a), RAW_CAST(b), RAW_CAST(c), RAW_CAST(d), 0, 0)
#define raw5(nr, a, b, c, d, e) \
	raw_syscall(nr, RAW_CAST(a), RAW_CAST(b), RAW_CAST(c), RAW_CAST(d), RAW_CAST(e), 0)
#define raw6(nr, a, b, c, d, e, f)                                                       \
	raw_syscall(nr, RAW_CAST(a), RAW_CAST(b), RAW_CAST(c), RAW_CAST(d), RAW_CAST(e), \
		    RAW_CAST(f))
