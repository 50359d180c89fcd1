/*
 * The addresses of this process's libc functions, in the form in which limpet's agent, which links
 * with no libc, wants them.
 */
#pragma once

#include "shared/wire/boot.h"

/* False when one is missing. */
_Bool libc_functions_find(struct boot_libc *ret);
