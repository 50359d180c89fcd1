/*
 * Ends the helper thread before the program changes its rights: hooks on libc's functions for that,
 * as the agent has them (target/tool/notices.h).
 */
#pragma once

#include "shared/wire/boot.h"

#include <stdbool.h>

/* On the helper thread.  If hooks are not possible, the thread notices changes by polling
 * (identity.h). */
void guard_begin(const struct boot_libc *libc);

/* Must the thread end? */
bool guard_is_alarmed(void);

/* While an agent runs on the thread, only the agent's own hooks guard it. */
void guard_rest(void);
void guard_go_on(void);

/* The last that the thread does. */
void guard_end(void);
