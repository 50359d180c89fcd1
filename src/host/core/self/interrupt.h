/*
 * SIGINT and SIGTERM for a command.  The first asks it to end, the second ends it within a second,
 * in whatever it is stuck: what it has in a target leaves by itself then.  The same one
 * again within 0.3 seconds is none.
 */
#pragma once

#include "host/core/err.h"
#include "shared/base/macros.h"

#include <stdbool.h>
#include <sys/types.h>

/* Blocks both signals and counts them from now on.  The descriptor, which is the caller's, can be
 * read once for each.  before_end, which may be NULL, runs on another thread before a forced end;
 * the last one given counts. */
int interrupt_watch(void (*before_end)(void), struct err *err) MUST_CHECK;

/*
 * From now on a SIGTERM that carries a process number, as `limpet detach` sends it, does not end
 * this limpet: the number can be read from the descriptor, a pid_t each.  For commands that hold
 * several processes.
 */
int interrupt_watch_detaches(struct err *err) MUST_CHECK;
/* Sends such a SIGTERM to a limpet; other commands end at it.  0 or -errno. */
int interrupt_send_detach(int pidfd, pid_t target) MUST_CHECK;

/* Takes one of them; false when none is waiting. */
bool interrupt_take(int fd);

/* One has come and was not taken yet: for work that takes long. */
bool interrupt_is_waiting(void);
