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

/* From now on, until it is false again, another looks after the thread: an agent that it serves. */
void guard_rest(bool rests);

/* The last that the thread does. */
void guard_end(void);
