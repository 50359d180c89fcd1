/*
 * The end of the program: every tool is finalized, once, whether somebody is attached or not.
 */
#pragma once

#include "shared/wire/boot.h"

#include <stdbool.h>

/* From now on exit() calls us; any number of times. */
void exit_watch(const struct boot_context *boot);
/* And no more.  False when exit() is calling us already: then this library must stay. */
bool exit_unwatch(const struct boot_context *boot) MUST_CHECK;
