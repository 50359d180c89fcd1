/*
 * The last instructions of a function, as compilers for aarch64 write them:
 *
 *   mov  x0, x19              the result
 *   ldp  x19, x20, [sp, #16]  registers that are kept for the caller, some or none
 *   ldp  x29, x30, [sp], #32  the caller's frame, and where it goes on
 *   autiasp                   where return addresses are signed
 *   ret
 *
 * The doorstep lets munmap return into such code of another function, which moves a value into x0
 * after the doorstep itself is unmapped (doorstep.S).
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

#define EPILOGUE_MAX   8   /* instructions */
#define EPILOGUE_FRAME 256 /* bytes, at most */

struct epilogue {
	uint32_t frame_size; /* bytes it pops; the return address is at offset 8 */
	uint32_t is_signed;
};

/* Do these EPILOGUE_MAX instructions begin with one? */
bool epilogue_read(const uint32_t *code, struct epilogue *ret);
