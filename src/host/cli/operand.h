/*
 * The PID that most verbs are given.
 */
#pragma once

#include "host/core/err.h"

#include <sys/types.h>

/* Exactly one operand, a process number; anything else is wrong usage and said so. */
int operand_pid(char **operands, int count, pid_t *ret, struct err *err) MUST_CHECK;
