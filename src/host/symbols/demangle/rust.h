/*
 * Names of Rust: mangled as those of C++ (the scheme that rustc calls "legacy"), or beginning with
 * "_R" (the scheme "v0").
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* "core::ptr::drop_in_place$LT$i32$GT$::h0123456789abcdef" becomes "core::ptr::drop_in_place<i32>";
 * a name without such an end is unchanged. */
void rust_tidy(char *name);

/* Cuts off LLVM's suffix of a function moved to another unit (".llvm.1234") from a mangled name, as
 * rustc's own tools do.  Names of other languages are unchanged. */
void rust_cut_suffix(char *mangled);

/* "_RNvNtCs1234_7mycrate3foo3bar" is "mycrate::foo::bar".  False, and `ret` is empty, when it is no
 * name of v0, or when its readable form has no room. */
bool rust_v0_demangle(const char *name, char *ret, size_t room);
