/*
 * Signals of ours for packets that have none: the runtime calls when such a packet is done.
 */
#pragma once

#include "target/domains/amd/hsa/calls.h"

/* One whose value is 1, and which calls with the data (NULL: itself) when that is less; 0 when
 * there is none. */
uint64_t hsa_signal_take(hsa_on_signal *call, void *data);

/* It has called, and calls no more. */
void hsa_signal_give_back(uint64_t signal);

/* Gives those that are back to the runtime.  On threads of ours. */
void hsa_signals_free(void);

/* The runtime is gone, and they with it. */
void hsa_signals_forget(void);
