/*
 * Whether this thread is inside a call of this library already: a profiler that is handed tables
 * may use a runtime, and that registers.
 */
#pragma once

#include <stdbool.h>

struct inside {
	int saved_errno; /* the program's errno: it called another function */
	bool is_first;
};

/* Begins a call; is_first is false when the thread is inside another one. */
struct inside inside_enter(void);
void inside_leave(const struct inside *self);
