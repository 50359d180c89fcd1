/*
 * The end of the process: finalizes every tool, once, whether a host is attached or not.
 */
#pragma once

#include <stdbool.h>

/* Registers an exit handler; may be repeated. */
void exit_watch(void);
/* Unregisters it. False if exit() is already calling it: then this library must stay. */
bool exit_unwatch(void) __attribute__((warn_unused_result));
