/*
 * The machine's counter, as records carry it, and the thread pointer.  Neither needs a system call.
 *
 *   ticks_now()       x86-64: the time stamp counter; aarch64: the virtual counter
 *   thread_pointer()  what thread-local storage is found by
 *   spin_pause()      a short pause, for a wait for another processor
 */
#pragma once

#include <stdint.h>

#if defined(__x86_64__)
#include "shared/arch/x86_64/ticks.h"
#elif defined(__aarch64__)
#include "shared/arch/aarch64/ticks.h"
#endif
