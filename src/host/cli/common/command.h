/*
 * One verb of the command line.  A verb is a file cmd_NAME.c that ends in one of these, and a line
 * in the table of main.c.
 */
#pragma once

#include "host/core/options.h"
#include "host/core/text/json.h"

#include <sys/types.h>

/* Given by the build. */
#ifndef LIMPET_VERSION
#define LIMPET_VERSION "0.0 (unversioned build)"
#endif

/* The words behind a verb. */
struct command_line {
	void *values;    /* what its options have set */
	char **operands; /* end with NULL */
	int count;       /* of the operands */
	char **program;  /* the words behind "--", of a verb that starts programs; NULL: none */
};

/* How many operands a verb has, and the error for too few. */
struct operand_rule {
	int least, most;
	const char *missing, *fix;
};

extern const struct operand_rule operands_none;

struct command {
	const char *name;    /* of a verb below another one with that: "fleet dump" */
	const char *summary; /* one line for `limpet help` */
	const char *usage;   /* after the verb: "PID [--tool A.so]" */
	const struct option_desc
		*options; /* ends with an empty entry; --help is understood already */
	/* The struct that options write to: its size, and its contents without options (NULL: 0).
	 */
	size_t values_size;
	const void *defaults;
	const struct operand_rule *operands; /* NULL: run() checks them */
	bool starts_programs;                /* takes "-- CMD ARGUMENTS" */
	/* Prints data on stdout.  0 or the error, which the caller prints. */
	int (*run)(const struct command_line *line, struct err *err);
	/* Adds members to the summary, the last line of --json, but for wrong usage; may be NULL.
	 */
	void (*summarize)(const void *values, struct json *json);
	void (*done)(void *values);       /* frees what the values own; may be NULL */
	void (*print_details)(FILE *out); /* after the options, from a table; may be NULL */
	const char *notes;                /* at the end of --help: examples; may be NULL */
	/* Instead of all but name, summary and notes: the verbs below it; ends with NULL. */
	const struct command *const *verbs;
};

/* Every verb, in the order of `limpet help`; ends with NULL. */
extern const struct command *const commands[];

/* By its word; NULL: there is none in the list. */
const struct command *command_find(const struct command *const *list, const char *word);
/* The word behind its parent's: "dump" of "fleet dump". */
const char *command_word(const struct command *command);

void command_print_help(const struct command *command, FILE *out);

/* Runs the verb with the words behind it, which end with NULL.  Returns the exit code, after the
 * error on stderr and with --json the summary on stdout. */
enum exit_code command_run(const struct command *command, char **words);

/* Prints the error, if there is one.  Returns the exit code. */
enum exit_code command_fail(const struct err *err);

/* The members "error", "why" and "fix". */
void json_err(struct json *json, const struct err *err);

/* Warns about a process of a family that is left out, behind `what`; with --json also as an object.
 */
void warn_process_skipped(const char *what, pid_t pid, const struct err *err, bool is_json);

/* Fails with wrong usage. */
int command_check_count(const struct command_line *line, const struct operand_rule *rule,
			struct err *err) MUST_CHECK;

/* The error for one operand too many; returns its code. */
int command_surplus(const char *operand, struct err *err);
