/*
 * The end of the program: every tool is finalized, once, whether somebody is attached or not.
 */
#pragma once

#include "shared/wire/boot.h"

/* From now on exit() calls us; any number of times. */
void exit_watch(const struct boot_context *boot);
void exit_unwatch(const struct boot_context *boot);
