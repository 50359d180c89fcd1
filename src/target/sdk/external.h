/*
 * External correlation ids: what a tool has pushed for a thread, in one of its contexts, and what
 * it answers when it is asked.
 */
#pragma once

#include "target/sdk/abi.h"

/* What was pushed last for that thread in that context (its index), else for the program's first
 * thread. */
uint64_t external_current(unsigned context, int32_t thread);

void external_forget(unsigned context);

/* In a forked child. */
void external_adopt(void);
