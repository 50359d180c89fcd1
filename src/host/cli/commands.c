/*
 * Every verb, and what is made from the table: help texts and the nearest right name.
 */
#include "host/cli/command.h"
#include "host/core/text/print.h"

#include <string.h>

extern const struct command command_attach, command_detach, command_status;
extern const struct command command_ps, command_doctor, command_completions;
extern const struct command command_record, command_report, command_export, command_dump;
extern const struct command command_diff, command_top, command_ui, command_stat;

const struct command *const commands[] = {
	&command_ps,     &command_doctor, &command_attach, &command_detach,      &command_status,
	&command_top,    &command_ui,     &command_record, &command_dump,        &command_stat,
	&command_report, &command_export, &command_diff,   &command_completions, NULL,
};

const struct command *command_find(const char *name)
{
	for (const struct command *const *command = commands; *command; command++)
		if (strcmp((*command)->name, name) == 0)
			return *command;
	return NULL;
}

void command_print_help(const struct command *command, FILE *out)
{
	print(out, "limpet %s: %s\n\nusage: limpet %s %s\n", command->name, command->summary,
	      command->name, command->usage);
	if (command->options->long_name)
		fputs("\noptions:\n", out);
	options_print_help(command->options, out);
	if (command->print_details) {
		fputc('\n', out);
		command->print_details(out);
	}
	if (!command->notes)
		return;
	fputc('\n', out);
	print_lines(out, command->notes);
}
