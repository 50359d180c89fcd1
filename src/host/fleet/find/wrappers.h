/*
 * Programs that only start others: wrappers of ranks, and launchers, which are never a rank.
 */
#pragma once

#include <stdbool.h>

/* "bash", "timeout": the program that it runs is the rank. */
bool program_is_wrapper(const char *name);

/* "orted", "srun"; hydra's proxy unless without_proxy. */
bool program_is_launcher(const char *name, bool without_proxy);
