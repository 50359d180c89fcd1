/*
 * The environment variables that steer this library, read when they are needed.  A process with
 * more rights than its user (AT_SECURE) has none.
 */
#pragma once

#include <stdbool.h>

/* ROCPROFILER_REGISTER_ENABLED: accept registrations at all; default yes. */
bool switch_enabled(void);
/* ROCPROFILER_REGISTER_SECURE: only libraries with the right file name may register; default no. */
bool switch_secure(void);
/* ROCPROFILER_REGISTER_FORCE_LOAD: load a profiler though no tool is visible; default yes where
 * ROCP_TOOL_LIBRARIES or ROCPROFILER_REGISTER_LIBRARY names one. */
bool switch_force_load(void);
/* ROCP_TOOL_ATTACH or an older name of it, read when the library was loaded.  The program may
 * attach tools to itself unless the value is no; there is a listener, and a thread, only if it is
 * yes, or unset and the build's default (ROCP_REG_DEFAULT_ATTACHMENT) is yes. */
bool switch_attach(void);
bool switch_listen(void);

/* The path in ROCPROFILER_REGISTER_LIBRARY, the list in ROCP_TOOL_LIBRARIES; NULL: none. */
const char *switch_library(void);
const char *switch_tools(void);
