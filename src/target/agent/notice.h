/*
 * Hooks the calls by which a target changes its rights, where nothing is traced: the agent detaches
 * before such a call. target/tool/notice.c implements it with the tracer's hooks. On the control
 * thread.
 */
#pragma once

#include "shared/wire/boot.h"

#include <stdbool.h>

/* 0 if the hooks are installed; -ETIMEDOUT: the loader's lock is held, and they will not be
 * installed; other negative errno likewise. */
int notice_begin(const struct boot_libc *libc, uint32_t timeout_ms) MUST_CHECK;

/* Removes the hooks. 0; -ETIMEDOUT: removal continues, and the hooks stop no thread any more. */
int notice_end(const struct boot_libc *libc, uint32_t timeout_ms) MUST_CHECK;

/* In a forked child: threads that worked on the hooks do not exist. */
void notice_adopt(void);

/* Number of its threads. */
unsigned notice_threads(void);

/* After the end: why this library must stay, or NULL. */
const char *notice_hindrance(void);
