/*
 * Memory that the program has named, tried before it is read: by a system call, on a thread of the
 * program's.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Where the host says whether that may be done (enum rings_probes).  NULL: nowhere, it may not. */
void probe_use(const uint32_t *probes);

/* Has the host said it yet?  Only between writer_begin() and writer_end(), as long as which the
 * rings are there. */
bool probe_is_decided(void);

/* A thread may be about to get a filter of its own: nothing is tried any more, whatever the host
 * has said or says. */
void probe_deny(void);

/* Can the eight bytes at the address be read?  False, too, where that must not be tried, or where
 * nobody has asked yet whether it was decided. */
bool probe_can_read(uint64_t address);
