/*
 * Application threads that briefly use queues and sets without a lock (visits), and a thread that
 * waits until earlier visits have ended.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Returns what visit_end() needs, never 0. The visit sees what was stored before the wait below. */
unsigned visit_begin(void);
void visit_end(unsigned visit);

/* One thread at a time. Waits for visits that began before, not for later ones. False: the time is
 * over. */
bool visits_await(uint64_t limit_ns);

/* In a forked child. */
void visits_adopt(void);
