/*
 * Programs that only start others: those that a rank is wrapped in, and launchers, which never are
 * a rank.
 */
#pragma once

#include <stdbool.h>

/* "bash", "timeout": what it runs is the rank. */
bool program_is_wrapper(const char *name);

/* "orted", "srun"; hydra's proxy only where it is not looked for. */
bool program_is_launcher(const char *name, bool without_proxy);
