/*
 * One verb of the command line.  A verb is a file cmd_NAME.c that ends in one of these, and a line
 * in the table of commands.c.
 */
#pragma once

#include "host/core/err.h"
#include "host/core/options.h"

struct command {
	const char *name;    /* of a verb below another one with that: "fleet dump" */
	const char *summary; /* one line for `limpet help` */
	const char *usage;   /* after the verb: "PID [--tool A.so]" */
	const struct option_desc
		*options; /* ends with an empty entry; --help is understood already */
	/*
	 * argv has the words after the verb and ends with NULL.  Returns the result of
	 * report_end(), after data on stdout.
	 */
	enum exit_code (*run)(char **argv);
	void (*print_details)(FILE *out); /* after the options, from a table; may be NULL */
	const char *notes;                /* at the end of --help: examples; may be NULL */
	/* Instead of all but name, summary and notes: the verbs below it; ends with NULL. */
	const struct command *const *verbs;
};

/* Every verb, in the order of `limpet help`; ends with NULL. */
extern const struct command *const commands[];
/* Commands that limpet starts itself on other machines, not meant for users; ends with NULL. */
extern const struct command *const hidden_commands[];

/* By its word; NULL: there is none in the list. */
const struct command *command_find(const struct command *const *list, const char *word);
/* The word behind its parent's: "dump" of "fleet dump". */
const char *command_word(const struct command *command);

/* Every verb that can be run, including nested ones. */
typedef void command_visitor(const struct command *command, void *context);
void commands_each(command_visitor *visit, void *context);

void command_print_help(const struct command *command, FILE *out);
