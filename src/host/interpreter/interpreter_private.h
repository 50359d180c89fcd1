/*
 * Private to a process's interpreter: interpreter.c reads its functions, merge.c merges its stacks.
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

/* The function of a frame; without a name: unknown (now).  NULL: not to be shown. */
const struct function *interpreter_function_of(struct interpreter *interpreter, uint64_t code);

/* Where it is in that; 0: no memory. */
uint64_t interpreter_location_of(struct interpreter *interpreter, const struct function *function,
				 uint64_t at);

/* Finds the loop, with the help of a frame's code. */
void interpreter_find_loop(struct interpreter *interpreter, uint64_t code);
