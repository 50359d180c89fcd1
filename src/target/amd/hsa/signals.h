/*
 * limpet's signals for packets without one: the runtime calls a handler after such a packet.
 */
#pragma once

#include "target/amd/hsa/functions.h"

/* Returns a signal of value 1; when it is less, `call` gets `data` (NULL: the signal). 0: none. */
uint64_t hsa_signal_acquire(hsa_on_signal *call, void *data);

/* Called after the signal's last handler call. */
void hsa_signal_give_back(uint64_t signal);

/* True if HSA may call a handler yet. */
bool hsa_signals_have_handlers(void);

/* Destroys all unused signals. On limpet's threads. */
void hsa_signals_free(void);

/* The runtime was shut down, which destroyed all signals. */
void hsa_signals_forget(void);
