/*
 * The word that an entry of the procedure linkage table jumps through.  One file for each machine.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

#define PLT_ENTRY_BYTES 16u

/* The type of the relocations that fill such words. */
extern const unsigned plt_jump_relocation, plt_data_relocation;

/* The address of the word; false when these PLT_ENTRY_BYTES are no such entry. */
bool plt_word(const unsigned char *entry, uint64_t address, uint64_t *ret);
