/*
 * Counter definitions that a tool loads (rocprofiler_load_counter_definition): a YAML text that the
 * target stores but never parses. The host fetches the text after each step of tools, and returns a
 * catalog made from it (store.h); until then there are no counters. A text is accepted only if the
 * host has announced that it will fetch it.
 */
#pragma once

#include "shared/wire/control.h"

/* On the control thread: stores the host's catalog, or copies the text into the host's memory.
 * *ret: the reply's value, see control.h. 0 or -errno. */
int counters_obey(const struct control_counters *order, int fd, uint32_t *ret);
/* Resets the host's announcement. */
void definitions_begin(void);
/* No tool is left: frees the text. Under counters_enter(), or without other threads. */
void definitions_forget(void);
