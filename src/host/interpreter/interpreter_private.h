/*
 * The insides of a process's interpreter: interpreter.c knows its functions, merge.c its stacks.
 */
#pragma once

#include "host/interpreter/interpreter.h"
#include "host/interpreter/kind.h"

struct interpreter {
	const struct interpreter_kind *kind;
	pid_t pid;
	unsigned version;
	struct interpreter_binary binary;
	struct kernel_interpreter walk;
	struct code_range loop; /* empty until it was found */
	unsigned loop_tries;
	/* Trees, by address: functions, and locations in them that are read by themselves. */
	void *functions, *spots;
	size_t known_count, known_bytes;
};

/* What a frame runs; without a name: nothing that is known (any more).  NULL: nothing to show. */
const struct function *interpreter_function_of(struct interpreter *interpreter, uint64_t code);

/* Where it is in that; 0: no memory. */
uint64_t interpreter_location_of(struct interpreter *interpreter, const struct function *function,
				 uint64_t at);

/* Looks for the loop, with a frame's code to go by. */
void interpreter_find_loop(struct interpreter *interpreter, uint64_t code);
