/*
 * Runtimes that want a callback when a tool becomes active.
 */
#pragma once

#include "rocprofiler-register/rocprofiler-register.h"

/* Remembers a callback, or calls it at once.  -ENOSPC when there are too many. */
int activation_add(const char *runtime, rocprofiler_register_tool_activation_cb_t callback,
		   void *data);

/* A tool is active: the first time, calls all callbacks. */
void activation_announce(rocprofiler_register_tool_activation_mode_t mode);
