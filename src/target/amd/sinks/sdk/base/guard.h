/*
 * Calls into tools that end at limpet's frame even if the tool throws: an uncaught exception would
 * end the target.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Finds the C++ runtime functions that the tool uses; `handle` is from dlopen. */
void guard_learn(void *handle);

/* Sets how to recognize limpet's runner threads: when a tool ends one by pthread_exit(), it must
 * still part from its arena. */
void guard_know_runners(bool (*is_runner)(int32_t tid));

/* Calls work(argument). True if an exception ended the call: it is caught, or abandoned where the
 * unwinder's functions are not found. */
bool guard_call(void (*work)(void *argument), void *argument);
