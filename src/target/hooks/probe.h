/*
 * Probes memory that the application has named by a system call, on an application thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Sets the word by which the host allows probes (enum rings_probes). NULL: no probes. */
void probe_use(const uint32_t *probes);

/* True once the host has decided. Only between writer_begin() and writer_end(): reads the rings. */
bool probe_is_decided(void);

/* Forbids probes for good, whatever the host decides: a thread may be about to install a filter. */
void probe_deny(void);

/* True if the eight bytes at the address can be read. False also if probes are not allowed, or no
 * thread has called probe_is_decided() since the decision. */
bool probe_can_read(uint64_t address);
