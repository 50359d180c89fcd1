/*
 * The thread "rocp-bg-attach": AMD's attachers make it call rocprofiler_register_attach() by
 * ptrace; limpet connects to its listener.
 */
#pragma once

/* Starts it; at most once in a process.  A failure only means that nobody can use it. */
void helper_start(void);
