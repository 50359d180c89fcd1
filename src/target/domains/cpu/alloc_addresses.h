/*
 * The addresses of sampled allocations that were not given back yet.
 */
#pragma once

#include "shared/arch/thunk.h"
#include "shared/base/macros.h"

#include <stdbool.h>
#include <stdint.h>

#define ALLOC_SPREAD(number) ((number)*0x9e3779b97f4a7c15u)

/* Read by alloc_thunk.S. */
extern uint8_t alloc_filter[ALLOC_FILTER_BYTES];

/* Forgets those of an earlier session; false where there is no memory. */
bool alloc_addresses_start(void) MUST_CHECK;

/* Unmaps the table: no thread of the program's may come here any more. */
void alloc_addresses_free(void);

/* False: it is none of them. */
bool alloc_may_be_out(uint64_t address);
void alloc_remember(uint64_t address);
/* True: it was one of ours. */
bool alloc_forget(uint64_t address);
