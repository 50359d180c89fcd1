/*
 * The thread "rocp-bg-attach": AMD's attachers make it call rocprofiler_register_attach() by
 * ptrace; limpet connects to its listener.
 */
#pragma once

/* Starts it; at most once in a process.  After a failure no host can attach through the
 * listener. */
void helper_start(void);
