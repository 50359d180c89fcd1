/*
 * Names from targets on a terminal: short ones, as foreign.h has them.
 */
#pragma once

#define NAME_MAX_SHOWN 160

/* Cut to the buffer, which has NAME_MAX_SHOWN bytes; returns it. */
const char *printable(const char *text, char *buffer);
