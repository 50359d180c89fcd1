/*
 * Hooks, where nothing is traced, that notice the calls by which a program changes what it may do:
 * the agent leaves before.  Made of the hooks that the tracer has, so target/tool/notice.c is
 * behind this.  On the control thread.
 */
#pragma once

#include "shared/wire/boot.h"

#include <stdbool.h>

/* 0 when they are in; -ETIMEDOUT: a lock of the loader's is held, so they do not come; other
 * negative errno likewise. */
int notice_begin(const struct boot_libc *libc, uint32_t timeout_ms) MUST_CHECK;

/* Takes them out.  0; -ETIMEDOUT: that goes on, and nobody is held up by them from now on. */
int notice_end(const struct boot_libc *libc, uint32_t timeout_ms) MUST_CHECK;

/* In a forked child: whoever was at work on them is not there. */
void notice_adopt(void);

/* How many threads it has. */
unsigned notice_threads(void);

/* After the end: why this library cannot go; NULL. */
const char *notice_hindrance(void);
