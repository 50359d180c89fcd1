/*
 * Programs that get rights which the user who executes them does not have: setuid, setgid,
 * capabilities.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* Is it such a program that the process executes now? */
bool program_is_privileged(pid_t pid);
