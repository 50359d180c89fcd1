/*
 * The system calls of this machine: their names by number, and their arguments.
 */
#pragma once

#include "shared/base/macros.h"
#include "shared/wire/syscall.h"

#include <stdbool.h>

/* "openat", or "syscall 999" for one that is not known; "syscall 5 (32-bit)". */
void syscall_name(int32_t number, bool is_32_bit, char *ret, size_t room);

/* enum syscall_shape. */
uint8_t syscall_shape(uint32_t number);
