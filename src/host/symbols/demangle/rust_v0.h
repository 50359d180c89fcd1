/*
 * Names of Rust in the scheme that rustc calls "v0": they begin with "_R".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* "_RNvNtCs1234_7mycrate3foo3bar" is "mycrate::foo::bar".  False, and `ret` is empty, when it is no
 * such name, or when its readable form has no room. */
bool rust_v0_demangle(const char *name, char *ret, size_t room);
