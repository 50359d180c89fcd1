/*
 * Threads that take no signals: those are the business of the threads that were there before.
 */
#pragma once

#include <pthread.h>

#include "shared/base/macros.h"

/* 0 or -errno. */
int quiet_thread(pthread_t *ret, void *(*run)(void *argument), void *argument) MUST_CHECK;
