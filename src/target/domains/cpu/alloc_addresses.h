/*
 * The set of addresses of sampled allocations that are not freed yet.
 */
#pragma once

#include "shared/arch/thunk.h"
#include "shared/base/macros.h"

#include <stdbool.h>
#include <stdint.h>

#define ALLOC_SPREAD(number) ((number)*0x9e3779b97f4a7c15u)

/* Read by alloc_thunk.S. */
extern uint8_t alloc_filter[ALLOC_FILTER_BYTES];

/* Empties the set of an earlier session; false if the table cannot be mapped. */
bool alloc_addresses_start(void) MUST_CHECK;

/* Unmaps the table. No application thread may run the hooks of allocations any more. */
void alloc_addresses_free(void);

/* False: the address is certainly not in the set. */
bool alloc_may_be_out(uint64_t address);
void alloc_remember(uint64_t address);
/* Removes the address; true if it was in the set. */
bool alloc_forget(uint64_t address);
