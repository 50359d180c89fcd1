/*
 * The end of the program: every tool is finalized, once, whether somebody is attached or not.
 */
#pragma once

#include <stdbool.h>

/* From now on exit() calls us; any number of times. */
void exit_watch(void);
/* And no more.  False when exit() is calling us already: then this library must stay. */
bool exit_unwatch(void) __attribute__((warn_unused_result));
