/*
 * Decodes swapcontext() of glibc on aarch64:
 *
 *   stp  xzr, x30, [x0, #184]     the context's x0 and x1: a switch back returns to x1
 *   adr  x30, back
 *   ...                           the other registers
 *   add  x2, x0, #40
 *   mov  x0, #0                   rt_sigprocmask
 *   ...
 *   bl   setcontext
 *   ...
 *   back: mov x30, x1; ret
 */
#pragma once

#include "host/unwind/arch/code.h"

bool swap_read(const struct object_part *code, struct swap_code *ret);
