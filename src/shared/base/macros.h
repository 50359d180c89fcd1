/*
 * The few macros that host, injector and target all use.  No code, no state.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define ARRAY_SIZE(array)   (sizeof(array) / sizeof((array)[0]))
#define ALIGN_UP(x, step)   (((x) + ((step)-1)) & ~((uint64_t)(step)-1))
#define ALIGN_DOWN(x, step) ((x) & ~((uint64_t)(step)-1))
#define MIN(a, b)           ((a) < (b) ? (a) : (b))
#define MAX(a, b)           ((a) > (b) ? (a) : (b))
#define MUST_CHECK          __attribute__((warn_unused_result))
#define PRINTF_LIKE(f, a)   __attribute__((format(printf, f, a)))
