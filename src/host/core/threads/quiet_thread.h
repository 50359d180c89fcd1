/*
 * Threads with all signals blocked: signals are left to the caller's own threads.
 */
#pragma once

#include <pthread.h>

#include "shared/base/macros.h"

/* 0 or -errno. */
int quiet_thread(pthread_t *ret, void *(*run)(void *argument), void *argument) MUST_CHECK;
