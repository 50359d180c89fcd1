/*
 * Names of Rust, which hide in those of C++ (the scheme that rustc calls "legacy").
 */
#pragma once

/* "core::ptr::drop_in_place$LT$i32$GT$::h0123456789abcdef" becomes
 * "core::ptr::drop_in_place<i32>"; what does not end like that is left as it is. */
void rust_tidy(char *name);

/* Of a mangled name: what LLVM appends to a function that it moved to another unit (".llvm.1234")
 * is cut off, as rustc's own tools do.  Names of other languages are left as they are. */
void rust_cut_suffix(char *mangled);
