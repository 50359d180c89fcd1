/*
 * Options that a Java virtual machine was started with.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>
#include <sys/types.h>

/* -XX:+PreserveFramePointer, on its command line or in Java's variables for options.  False if
 * neither can be read. */
bool java_keeps_frame_pointers(pid_t pid);

/* The same for consecutive options, each ended by a zero or a blank; the last one counts.
 * Variables: only those that Java reads. */
bool java_options_keep_frame_pointers(const char *bytes, size_t size, bool are_variables,
				      bool is_so_far);
