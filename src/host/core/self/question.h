/*
 * Asks the user a yes-or-no question on the terminal.
 */
#pragma once

#include "shared/base/macros.h"

#include <stdbool.h>

/* True only if stdin and stderr are terminals and the user types a word that begins with y. */
bool question_ask(const char *format, ...) PRINTF_LIKE(1, 2);
