/*
 * Notes for the end of a command: what was left out, and why.  Code without an error to return adds
 * them, verbs print them.  Any thread.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>
#include <stddef.h>

#define NOTES_MAX  16u
#define NOTE_BYTES 512u

/* Once each; of more than NOTES_MAX only the number is kept. */
void note_add(const char *format, ...) PRINTF_LIKE(1, 2);

/* The note with this number, from 0; false when there is none.  Printable. */
bool note_at(size_t number, char ret[NOTE_BYTES]);

/* How many had no room. */
size_t notes_left_out(void);
