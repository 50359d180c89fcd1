/*
 * Definitions of counters that a tool brings (rocprofiler_load_counter_definition): a text in YAML,
 * which nothing in the target reads.  It is kept here, the host fetches it after each step of
 * tools, and tells a catalog that is made of it (store.h); until then there are no counters.  None
 * is taken unless the host has said before that it will come.
 */
#pragma once

#include "shared/wire/control.h"

/* On the control thread: takes the host's catalog, or copies the text into the host's memory.
 * *ret: the reply's value, as control.h says.  0 or -errno. */
int counters_obey(const struct control_counters *order, int fd, uint32_t *ret);
/* Nobody has said so yet. */
void definitions_begin(void);
/* No tool is left; in one's turn, or alone. */
void definitions_forget(void);
