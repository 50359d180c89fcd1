/*
 * Sees to it that the helper thread is gone before the program changes what it may do: hooks on the
 * calls of libc's by which that is done, as the agent has them (target/tool/notices.h).
 */
#pragma once

#include "shared/wire/boot.h"

#include <stdbool.h>

/* On the helper thread.  Where it cannot be, the thread finds out when it looks (identity.h). */
void guard_begin(const struct boot_libc *libc);

/* Must the thread end? */
bool guard_is_alarmed(void);

/* An agent looks after the thread, which it serves, with hooks of its own; and no more. */
void guard_rest(void);
void guard_go_on(void);

/* The last that the thread does. */
void guard_end(void);
