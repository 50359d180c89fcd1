/*
 * Hides passwords in command lines and addresses before limpet prints or stores them: every user of
 * the machine can read a command line, but recordings and pages travel further.
 */
#pragma once

#include "shared/base/macros.h"

/*
 * `text` holds words that end with NUL, as /proc/PID/cmdline does; the last NUL may be missing.
 * Replaces by "***", in place: user names and passwords of URLs; values of parameters and options
 * whose names end in password, token, auth, secret and the like, also in headers and JSON.
 * Returns the new size.
 */
size_t secrets_hide(char *text, size_t size);
