/*
 * Functions whose begin no name and no call tells, but their first instruction.
 */
#pragma once

#include "host/unwind/arch/aarch64/follow.h"

/* Follows it, and forgets it where it shows that no function begins there: it returns with another
 * sp, or comes with another frame to what is known. */
void guess_begin(struct follow *follow, uint32_t number);
/* Whether the guess may say what the frame is there; false: it is wrong. */
bool guess_takes(struct follow *follow, uint32_t number);
