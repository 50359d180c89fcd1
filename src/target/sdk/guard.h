/*
 * Calls into tools that end at our frame, also when the tool throws: an exception that nobody
 * catches would end the program.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Where the functions of C++'s runtime are that the tool uses; handle: of dlopen. */
void guard_learn(void *handle);

/* How to know the threads of ours that call tools: one that a tool ends (pthread_exit) has work
 * left.
 */
void guard_know_runners(bool (*is_runner)(int32_t tid));

/* Calls work(argument); true when it was left by an exception, which is caught; by leaving it where
 * it is, where the unwinder is the tool's own. */
bool guard_call(void (*work)(void *argument), void *argument);
