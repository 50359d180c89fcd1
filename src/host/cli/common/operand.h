/*
 * The operand of most verbs, a process: its number or its name, as an operand or with -p.
 */
#pragma once

#include "host/cli/common/command.h"

#include <sys/types.h>

/* The line of a table of options, for a const char * at this offset. */
/* clang-format off */
#define OPERAND_OPTION(offset) \
	{ 'p', "pid", "PID", "the process, by PID, name or script", offset, OPTION_ONCE }

/* The same for a struct option_list: several processes. */
#define OPERANDS_OPTION(offset) \
	{ 'p', "pid", "PID", "the process, by PID, name or script; repeatable", offset, OPTION_LIST }
/* clang-format on */

/*
 * Exactly one process, named by the option (NULL: not given) or by the operands; anything else is a
 * usage error.  A name must be that of one process, which is printed on stderr: EXIT_NO_PROCESS
 * when there is none.
 */
int operand_process(const struct command_line *line, const char *option, pid_t *ret,
		    struct err *err) MUST_CHECK;

/* The same; of the option there may be several. */
int operand_processes(const struct command_line *line, const struct option_list *option,
		      pid_t ret[OPTION_LIST_MAX], size_t *ret_count, struct err *err) MUST_CHECK;
