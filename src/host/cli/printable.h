/*
 * Names from targets on a terminal: no control characters, nothing but UTF-8.
 */
#pragma once

#define NAME_MAX_SHOWN 160

/* Cut to the buffer, which has NAME_MAX_SHOWN bytes; returns it. */
const char *printable(const char *text, char *buffer);
