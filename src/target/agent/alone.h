/*
 * A program ends when its last thread does.  Ours must not keep it alive.
 */
#pragma once

#include <stdbool.h>

/* True when the calling thread and so many others are the only ones left; false where /proc does
 * not tell. */
bool is_alone(unsigned others);

/* With which status the program's first thread has ended; -1 where it has not, or by a signal. */
int first_status(void);
