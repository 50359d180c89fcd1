/*
 * Lists every runtime whose calls and devices can be traced.
 */
#pragma once

#include "target/domains/runtime.h"

#define RUNTIMES 4
extern const struct runtime *const runtimes[RUNTIMES];
