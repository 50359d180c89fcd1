/*
 * SIGINT and SIGTERM for a command.  The first requests its end, the second ends it within a
 * second, wherever it is stuck: its agents then detach by themselves.  The same signal again within
 * 0.3 seconds is ignored.
 */
#pragma once

#include "host/core/err.h"
#include "shared/base/macros.h"

#include <stdbool.h>
#include <sys/types.h>

/* Blocks both signals and counts them from now on.  The caller owns the descriptor, which can be
 * read once for each.  before_end, which may be NULL, runs on another thread before a forced end;
 * the last one set counts. */
int interrupt_watch(void (*before_end)(void), struct err *err) MUST_CHECK;

/*
 * From now on a SIGTERM that carries a process number, as `limpet detach` sends it, does not end
 * this limpet: the number can be read from the descriptor, a pid_t each.  For commands that hold
 * several processes.
 */
int interrupt_watch_detaches(struct err *err) MUST_CHECK;
/* Sends such a SIGTERM to a limpet; other commands end at it.  0 or -errno. */
int interrupt_send_detach(int pidfd, pid_t target) MUST_CHECK;

/* Consumes one of them; false when none is pending. */
bool interrupt_consume(int fd);

/* True when one is pending: for long work to check. */
bool interrupt_is_waiting(void);
