/*
 * Runs a verb, shows how it ended, and prints its help.  The only place that shows a struct err.
 */
#include "host/cli/common/command.h"

#include "host/core/cleanup.h"
#include "host/core/text/print.h"
#include "host/core/text/text.h"

#include <errno.h>
#include <string.h>

const struct operand_rule operands_none = { 0, 0, NULL, NULL };

const char *command_word(const struct command *command)
{
	const char *blank = strrchr(command->name, ' ');

	return blank ? blank + 1 : command->name;
}

const struct command *command_find(const struct command *const *list, const char *word)
{
	for (const struct command *const *command = list; *command; command++)
		if (strcmp(command_word(*command), word) == 0)
			return *command;
	return NULL;
}

void command_print_help(const struct command *command, FILE *out)
{
	print(out, "limpet %s: %s\n\nusage: limpet %s %s\n", command->name, command->summary,
	      command->name, command->verbs ? "VERB [OPTIONS]" : command->usage);
	if (command->verbs) {
		fputs("\nverbs:\n", out);
		for (const struct command *const *verb = command->verbs; *verb; verb++)
			print(out, "  %-12s %s\n", command_word(*verb), (*verb)->summary);
		print(out, "\n  limpet %s VERB --help    show the options of a verb\n",
		      command->name);
	} else if (command->options->long_name) {
		fputs("\noptions:\n", out);
		options_print_help(command->options, out);
	}
	if (command->print_details) {
		fputc('\n', out);
		command->print_details(out);
	}
	if (command->notes) {
		fputc('\n', out);
		print_lines(out, command->notes);
	}
}

static void print_labelled(const char *first, const char *further, const char *lines)
{
	struct text rest = text_of(lines), line;
	const char *label = first;

	while (text_take_line(&rest, &line)) {
		print(stderr, "  %s: %.*s\n", label, (int)(line.end - line.at), line.at);
		label = further;
	}
}

/*
 * error: cannot attach to 4242 (vllm): ...
 *   why: ...
 *   fix: ...
 *   or : ...        (each further line of err->fix)
 */
enum exit_code command_fail(const struct err *err)
{
	if (!err->code)
		return EXIT_DONE;
	fflush(stdout);
	print(stderr, "error: %s\n", err->what);
	print_labelled("why", "   ", err->why);
	print_labelled("fix", "or ", err->fix);
	return err->exit;
}

void json_err(struct json *json, const struct err *err)
{
	json_text(json, "error", err->what);
	json_text(json, "why", err->why);
	json_text(json, "fix", err->fix);
}

void warn_process_skipped(const char *what, pid_t pid, const struct err *err, bool is_json)
{
	struct json json;

	print(stderr, "warning: %s%s%s%s\n", what, err->what, err->why[0] ? ": " : "", err->why);
	if (!is_json)
		return;
	json = json_event(stdout, "skipped");
	json_signed(&json, "pid", pid);
	json_err(&json, err);
	json_object_end(&json);
}

static void summary_write(const struct command *command, const void *values, const struct err *err)
{
	struct json json = json_event(stdout, "summary");

	json_text(&json, "verb", command->name);
	json_number(&json, "exit", err->code ? err->exit : EXIT_DONE);
	json_err(&json, err);
	if (command->summarize && err->exit != EXIT_USAGE)
		command->summarize(values, &json);
	json_object_end(&json);
}

/* Whether --json is given. */
static bool wants_json(const struct option_desc *table, const void *values)
{
	for (; table->long_name; table++)
		if (strcmp(table->long_name, "json") == 0)
			return *(const bool *)((const char *)values + table->offset);
	return false;
}

/* The words behind "--", a program and its arguments; NULL: there are none. */
static char **program_split(char **words)
{
	while (*words && strcmp(*words, "--"))
		words++;
	if (!*words || !words[1])
		return NULL;
	*words = NULL;
	return words + 1;
}

enum exit_code command_run(const struct command *command, char **words)
{
	CLEANUP(free) void *values = calloc(1, command->values_size + 1);
	struct command_line line = { .values = values, .operands = words };
	struct err err = { 0 };

	if (!values) {
		err_set(&err, -ENOMEM, "no memory");
		return command_fail(&err);
	}
	if (command->defaults)
		memcpy(values, command->defaults, command->values_size);
	if (command->starts_programs)
		line.program = program_split(words);
	line.count = options_parse(command->options, words, values, &err);
	if (line.count >= 0 && command->operands)
		(void)!command_check_count(&line, command->operands, &err);
	/* A failure without a message still counts as one. */
	if (!err.code && command->run(&line, &err) && !err.code)
		err_set(&err, -EIO, "it failed without saying why");
	command_fail(&err);
	if (wants_json(command->options, values))
		summary_write(command, values, &err);
	if (command->done)
		command->done(values);
	return err.code ? err.exit : EXIT_DONE;
}

int command_check_count(const struct command_line *line, const struct operand_rule *rule,
			struct err *err)
{
	if (line->count < rule->least)
		return err_usage(err, rule->fix, "%s", rule->missing);
	return line->count > rule->most ? command_surplus(line->operands[rule->most], err) : 0;
}

int command_surplus(const char *operand, struct err *err)
{
	return err_usage(err, NULL, "unexpected argument '%s'", operand);
}
