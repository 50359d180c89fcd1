/*
 * Calls into tools that end at our frame, also when the tool throws: an exception that nobody
 * catches would end the program.
 */
#pragma once

#include <stdbool.h>

/* Where the functions of C++'s runtime are that the tool uses; handle: of dlopen. */
void guard_learn(void *handle);

/* Calls work(argument); true when it was left by an exception, which is caught; by leaving it where
 * it is, where the unwinder is the tool's own. */
bool guard_call(void (*work)(void *argument), void *argument);
