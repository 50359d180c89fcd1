/*
 * Names of C++ and Rust as people write them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* "_Z3addIfEvPT_i" and "_Z3addIfEvPT_i.kd" (a kernel's descriptor) are "void add<float>(float*,
 * int)".  False, and `ret` is empty, when the name is none of C++ or Rust, when its readable form
 * has no room, and for C++ in builds without a demangler. */
bool demangle(const char *name, char *ret, size_t room);

/* Only the function's own name: "add" of the above, "run" of "a::b<int>::run(int (*)[3])".  Cut to
 * the room. */
void demangled_base(const char *readable, char *ret, size_t room);
