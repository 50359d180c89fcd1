/*
 * Names of Rust, mangled as those of C++ (the scheme that rustc calls "legacy").
 */
#pragma once

/* "core::ptr::drop_in_place$LT$i32$GT$::h0123456789abcdef" becomes "core::ptr::drop_in_place<i32>";
 * a name without such an end is unchanged. */
void rust_tidy(char *name);

/* Cuts off LLVM's suffix of a function moved to another unit (".llvm.1234") from a mangled name, as
 * rustc's own tools do.  Names of other languages are unchanged. */
void rust_cut_suffix(char *mangled);
