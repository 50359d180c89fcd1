/*
 * Tools from the start: in the environment, or part of the program.
 */
#pragma once

#include "compat/register/sdk.h"

/* Starts them once, where the profiler is limpet's; another one finds its tools by itself. */
void startup_run(const struct sdk *sdk);
