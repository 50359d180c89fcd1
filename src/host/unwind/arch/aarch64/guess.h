/*
 * Functions whose beginning shows by its first instruction only, by no name and no call.
 */
#pragma once

#include "host/unwind/arch/aarch64/follow.h"

/* Follows it, and drops it when no function begins there: when it returns with another sp, or meets
 * what is known with another frame. */
void guess_begin(struct follow *follow, uint32_t number);
/* Whether the guess may set the frame there; false: it is wrong. */
bool guess_takes(struct follow *follow, uint32_t number);
