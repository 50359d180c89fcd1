/*
 * Code objects that the HSA runtime has loaded, and their kernels.
 */
#pragma once

#include "target/amd/sinks/sdk/base/abi.h"

/* Reads the loaded code objects from the runtime, if there is one; on a thread that may call it. */
void code_scan(void);

/* Reads them again and notifies contexts, if the runtime could not be queried before. */
void code_catch_up(void);

/* Notifies active contexts (bits) of everything they have not been notified of. */
void code_notify(uint64_t active);

/* The id of a kernel of that name; added, and reported, if no code object has one. */
uint64_t code_kernel(const char *name);

/* The HSA runtime was shut down: reports everything it had loaded as unloaded. */
void code_forget_hsa(void);

/* A context's entry was freed for reuse. */
void code_forget(unsigned context);

/* Before and after calls that unload and load code. */
struct call_frame;
void code_before_destroy(struct call_frame *frame);
void code_after_freeze(struct call_frame *frame, uint64_t end);

/* In a forked child. */
void code_adopt(void);
