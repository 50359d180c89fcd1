/*
 * Where functions begin: a bit for each address where an instruction can be.
 */
#pragma once

#include "host/unwind/arch/code.h"

/* Allocates ret->named and sets the bits of the symbols that pass the filter; named stays NULL
 * where there is no code, or more than 1 GiB.  -ENOMEM. */
int begins_find_names(const struct object *object, unsigned step,
		      bool (*is_function)(const Elf64_Sym *symbol),
		      struct code_begins *ret) MUST_CHECK;
/* `step`: that of the machine's code_reader. */
void begins_add(const struct code_begins *begins, unsigned char *bits, unsigned step,
		uint64_t address);
/* `bits` may be NULL: none is set. */
bool begins_have(const struct code_begins *begins, const unsigned char *bits, unsigned step,
		 uint64_t address);
