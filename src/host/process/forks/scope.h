/*
 * Limits the scope of following descendants.  Every caller that loads code into the descendants of
 * a process calls it: tree_open() enforces it, programs ask the user before.
 */
#pragma once

#include "host/core/err.h"

#include <stdbool.h>
#include <sys/types.h>

#define SCOPE_DESCENDANTS_MAX 32u
#define SCOPE_VARIABLE        "LIMPET_ALL_DESCENDANTS" /* "1" allows every scope */

/* 0, or -EPERM (EXIT_USAGE) where the scope is wide and SCOPE_VARIABLE does not allow it. */
int scope_check(pid_t root, struct err *err) MUST_CHECK;

/*
 * For programs, before they attach.  Where scope_check() refuses a root, asks the user on the
 * terminal and sets *is_allowed if the user confirms; without a terminal returns the refusal.  Does
 * nothing if *is_allowed is set.
 */
int scope_confirm(const pid_t *roots, size_t count, bool *is_allowed, struct err *err) MUST_CHECK;
