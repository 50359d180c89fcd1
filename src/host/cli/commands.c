/*
 * All verbs, and functions of the table: help texts and the nearest right name.
 */
#include "host/cli/command.h"
#include "host/core/text/print.h"

#include <string.h>

extern const struct command command_attach, command_detach, command_status;
extern const struct command command_ps, command_doctor, command_completions;
extern const struct command command_record, command_report, command_export, command_dump;
extern const struct command command_diff, command_top, command_ui, command_stat;
extern const struct command command_fleet, command_fleet_node, command_push;

const struct command *const commands[] = {
	&command_ps,
	&command_doctor,
	&command_attach,
	&command_detach,
	&command_status,
	&command_top,
	&command_ui,
	&command_record,
	&command_dump,
	&command_stat,
	&command_fleet,
	&command_push,
	&command_report,
	&command_export,
	&command_diff,
	&command_completions,
	NULL,
};

const struct command *const hidden_commands[] = { &command_fleet_node, NULL };

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

static void list_each(const struct command *const *list, command_visitor *visit, void *context)
{
	for (const struct command *const *command = list; *command; command++)
		visit(*command, context);
}

void commands_each(command_visitor *visit, void *context)
{
	for (const struct command *const *command = commands; *command; command++)
		if ((*command)->verbs)
			list_each((*command)->verbs, visit, context);
		else
			visit(*command, context);
}

static void print_verbs(const struct command *command, FILE *out)
{
	print(out, "limpet %s: %s\n\nusage: limpet %s VERB [OPTIONS]\n\nverbs:\n", command->name,
	      command->summary, command->name);
	for (const struct command *const *verb = command->verbs; *verb; verb++)
		print(out, "  %-12s %s\n", command_word(*verb), (*verb)->summary);
	print(out, "\n  limpet %s VERB --help    show the options of a verb\n", command->name);
}

static void print_options(const struct command *command, FILE *out)
{
	print(out, "limpet %s: %s\n\nusage: limpet %s %s\n", command->name, command->summary,
	      command->name, command->usage);
	if (command->options->long_name)
		fputs("\noptions:\n", out);
	options_print_help(command->options, out);
}

void command_print_help(const struct command *command, FILE *out)
{
	if (command->verbs)
		print_verbs(command, out);
	else
		print_options(command, out);
	if (command->print_details) {
		fputc('\n', out);
		command->print_details(out);
	}
	if (!command->notes)
		return;
	fputc('\n', out);
	print_lines(out, command->notes);
}
