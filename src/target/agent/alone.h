/*
 * A program ends when its last thread does.  Ours must not keep it alive.
 */
#pragma once

#include <stdbool.h>

/* True when the calling thread and so many others are the only ones left; false where /proc does
 * not tell. */
bool is_alone(unsigned others);
