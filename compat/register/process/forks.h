/*
 * Forks of the program.  They are delayed briefly while this library calls the loader, and between
 * making a descriptor and noting it: a child closes the noted ones.
 */
#pragma once

#include "target/runtime/forks.h"

/* Around a call, or around making and noting; ends with forks_release(). */
struct fork_work forks_begin(void);
