/*
 * Whether a person wants us to stop, for work that can take long while signals are held back.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

/* SIGINT or SIGTERM has come and waits to be taken. */
bool interrupt_is_waiting(void);
