/*
 * How stacks ended, for people and for programs: which are incomplete, why, and the fix.
 */
#pragma once

#include "shared/wire/sample.h"

#include "host/core/text/json.h"

#include <stdbool.h>
#include <stdint.h>

/* One of so many is worth a warning. */
#define STACK_ENDS_WARN 20u

/* Counts stacks by how they ended, with the sampler that made them. */
struct stack_ends {
	const uint64_t *counts; /* STACK_ENDS of them */
	uint64_t count;         /* of all stacks */
	const char *sampler;
	bool is_system_wide;
};

/* A line on stdout for each reason, behind `head`; only for reasons of `at_most` stacks. */
void stack_ends_print(const char *head, const struct stack_ends *ends, uint64_t at_most);
/* Warnings on stderr, of reasons of more than one stack in STACK_ENDS_WARN. */
void stack_ends_warn(const struct stack_ends *ends);
/* "stacks": counts by end; "incomplete_stacks": the reasons with fixes. */
void stack_ends_write(struct json *json, const struct stack_ends *ends);
