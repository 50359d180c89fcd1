/*
 * One verb of the command line.  A verb is a file cmd_NAME.c that ends in one of these, and a line
 * in the table of commands.c.
 */
#pragma once

#include "host/core/err.h"
#include "host/core/options.h"

struct command {
	const char *name;
	const char *summary; /* one line for `limpet help` */
	const char *usage;   /* what follows the verb: "PID [--tool A.so]" */
	const struct option_desc
		*options; /* ends with an empty entry; --help is understood already */
	/*
	 * argv holds what follows the verb and ends with NULL.  Answers with report_end(), after
	 * data on stdout.
	 */
	enum exit_code (*run)(char **argv);
	void (*print_details)(FILE *out); /* after the options, from a table; may be NULL */
	const char *notes;                /* after those in --help: examples; may be NULL */
};

/* Every verb, in the order of `limpet help`; ends with NULL. */
extern const struct command *const commands[];

const struct command *command_find(const char *name);

void command_print_help(const struct command *command, FILE *out);
