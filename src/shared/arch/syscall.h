/*
 * Raw system calls for code that runs inside a target: no libc, no errno, no cancellation point.
 * Each returns what the kernel returned, a negative errno on failure.
 */
#pragma once

#include <sys/syscall.h>

#if defined(__x86_64__)
#include "shared/arch/x86_64/syscall.h"
#elif defined(__aarch64__)
#include "shared/arch/aarch64/syscall.h"
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
