/*
 * Code objects that the HSA runtime has loaded, and the kernels in them.
 */
#pragma once

#include "target/sdk/abi.h"

/* Asks the runtime for what is loaded, once it is known; on a thread that may call it. */
void code_look(void);

/* Looks once more, and tells, where the runtime could not be asked before. */
void code_catch_up(void);

/* Tells contexts (bits) that are active of all that they have not been told. */
void code_tell(uint64_t active);

/* The number of a kernel of that name; made, and told, where no code object has it. */
uint64_t code_kernel(const char *name);

/* The HSA runtime was shut down, and all that it has loaded is gone. */
void code_forget_hsa(void);

/* A context's place was given to another. */
void code_forget(unsigned context);

/* In a forked child. */
void code_adopt(void);
