/*
 * Options that were typed, as words again: for a limpet that is started with the same ones.
 */
#pragma once

#include "host/core/options.h"
#include "host/fleet/words.h"

/* The words of options that differ from the defaults, which are of the same struct. */
void option_words(struct words *ret, const struct option_desc *table, const void *values,
		  const void *defaults);
