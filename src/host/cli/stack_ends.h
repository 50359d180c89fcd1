/*
 * How stacks ended, for people and for programs: which are incomplete, why, and what mends it.
 */
#pragma once

#include "shared/wire/sample.h"

#include "host/core/text/json.h"

#include <stdint.h>

/* One of so many is worth a warning. */
#define STACK_ENDS_WARN 20u

/* A line on stdout for each reason, behind `head`; with `at_most`, only for reasons of no more
 * stacks than so. */
void stack_ends_print(const char *head, const uint64_t ends[STACK_ENDS], uint64_t count,
		      uint64_t at_most);
/* "stacks": how many ended how; "incomplete_stacks": the reasons with what mends them. */
void stack_ends_write(struct json *json, const uint64_t ends[STACK_ENDS]);
