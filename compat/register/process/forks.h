/*
 * Forks of the program.  They wait for a moment while this library calls the loader, and while a
 * descriptor has been made and is not noted yet: a child closes what is noted as ours.
 */
#pragma once

#include "target/runtime/forks.h"

/* Around a call, or around making and noting; ends with forks_release(). */
struct fork_work forks_begin(void);
