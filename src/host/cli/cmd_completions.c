/*
 * limpet completions SHELL: completion scripts, made from the tables of verbs and options.
 */
#include <errno.h>
#include <string.h>

#include "host/cli/command.h"
#include "host/cli/report.h"
#include "host/core/text/print.h"
#include "host/export/exporter.h"
#include "host/ui/answers/share.h"

/* The lines of `limpet ps --json`, for sed: no text in them can match this. */
static const char attachable_pid[] =
	"s/^{\"event\":\"process\",\"pid\":\\([0-9]*\\),.*\"attachable\":true.*/\\1/p";

static const struct option_desc completions_options[] = { { 0 } };

static bool is_pid(const struct option_desc *option)
{
	return option->arg && strcmp(option->arg, "PID") == 0;
}

static bool is_format(const struct option_desc *option)
{
	return option->arg && strcmp(option->arg, "FORMAT") == 0;
}

static void print_formats(void)
{
	for (const struct exporter *exporter = exporters; exporter->name; exporter++)
		print(stdout, "%s ", exporter->name);
	print(stdout, "%s", PAGE_FORMAT);
}

static bool takes_pid(const struct command *command)
{
	return strncmp(command->usage + strspn(command->usage, "[{"), "PID", 3) == 0;
}

/* A text inside single quotes, with a backslash before each of the marked characters. */
static void print_quoted(const char *text, const char *marked)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\'", stdout);
		else if (strchr(marked, *text))
			putchar('\\');
		putchar(*text);
	}
}

static void print_bash_option(const struct option_desc *option)
{
	if (option->short_name)
		print(stdout, " -%c", option->short_name);
	print(stdout, " --%s", option->long_name);
}

/* The verb as the scripts compare it, with a backslash before its blank. */
static void print_pattern(const struct command *command)
{
	for (const char *at = command->name; *at; at++) {
		if (*at == ' ')
			putchar('\\');
		putchar(*at);
	}
}

static void print_bash_format(const struct command *command, void *context)
{
	(void)context;
	for (const struct option_desc *option = command->options; option->long_name; option++) {
		if (!is_format(option))
			continue;
		putchar('\t');
		print_pattern(command);
		print(stdout, ":-%c|", option->short_name);
		print_pattern(command);
		print(stdout, ":--%s) words='", option->long_name);
		print_formats();
		puts("' ;;");
	}
}

static void print_bash_verb(const struct command *command, void *context)
{
	(void)context;
	fputs("\t*:", stdout);
	print_pattern(command);
	fputs(") words=\"--help", stdout);
	for (const struct option_desc *option = command->options; option->long_name; option++)
		if (option->help)
			print_bash_option(option);
	print(stdout, "%s\" ;;\n",
	      takes_pid(command) ? " $(_limpet_pids \"${COMP_WORDS[0]}\")" : "");
}

static void print_words(const struct command *const *list)
{
	for (const struct command *const *command = list; *command; command++)
		print(stdout, " %s", command_word(*command));
}

/* Verbs with verbs of their own. */
static void print_bash_above(void)
{
	puts("\tcase $verb in");
	for (const struct command *const *command = commands; *command; command++)
		if ((*command)->verbs)
			print(stdout,
			      "\t%s) [ \"$COMP_CWORD\" -le 2 ] || verb=\"$verb ${COMP_WORDS[2]}\" ;;\n",
			      (*command)->name);
	puts("\tesac\n"
	     "\tcase $COMP_CWORD:$verb in");
	print(stdout, "\t1:*) words='help");
	print_words(commands);
	puts("' ;;");
	for (const struct command *const *command = commands; *command; command++)
		if ((*command)->verbs) {
			print(stdout, "\t2:%s) words='--help", (*command)->name);
			print_words((*command)->verbs);
			puts("' ;;");
		}
}

static void print_bash(void)
{
	print(stdout, "_limpet_pids() {\n\t\"$1\" ps --json 2>/dev/null | sed -n '%s'\n}\n",
	      attachable_pid);
	puts("_limpet() {\n"
	     "\tlocal cur=${COMP_WORDS[COMP_CWORD]} words=\n"
	     "\tlocal prev=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]}");
	print_bash_above();
	commands_each(print_bash_verb, NULL);
	puts("\tesac\n"
	     "\tcase $prev in\n"
	     "\t-p|--pid) words=$(_limpet_pids \"${COMP_WORDS[0]}\") ;;\n"
	     "\tesac\n"
	     "\tcase $verb:$prev in");
	commands_each(print_bash_format, NULL);
	puts("\tesac\n"
	     "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
	     "}\n"
	     "complete -o default -F _limpet limpet");
}

static void print_zsh_values(const struct option_desc *option)
{
	if (!is_format(option)) {
		fputs(is_pid(option) ? ":_limpet_pids" : ":_files", stdout);
		return;
	}
	fputs(":(", stdout);
	print_formats();
	putchar(')');
}

static void print_zsh_options(const struct command *command)
{
	for (const struct option_desc *option = command->options; option->long_name; option++) {
		if (!option->help)
			continue;
		if (option->short_name)
			print(stdout, " \\\n\t\t'(-%c --%s)'{-%c,--%s}'[", option->short_name,
			      option->long_name, option->short_name, option->long_name);
		else
			print(stdout, " \\\n\t\t'--%s[", option->long_name);
		print_quoted(option->help, "[]:\\");
		putchar(']');
		if (option->arg) {
			putchar(':');
			print_quoted(option->arg, ":\\");
			print_zsh_values(option);
		}
		putchar('\'');
	}
}

static void print_zsh_verb(const struct command *command, void *context)
{
	(void)context;
	putchar('\t');
	print_pattern(command);
	fputs(") _arguments '--help[show help]'", stdout);
	print_zsh_options(command);
	puts(takes_pid(command) ? " \\\n\t\t'*:pid:_limpet_pids' ;;" : " ;;");
}

static void print_zsh_list(const struct command *const *list)
{
	puts("=(");
	for (const struct command *const *command = list; *command; command++) {
		print(stdout, "\t\t'%s:", command_word(*command));
		print_quoted((*command)->summary, ":\\");
		puts("'");
	}
	puts("\t)");
}

static void print_zsh_above(void)
{
	for (const struct command *const *command = commands; *command; command++) {
		if (!(*command)->verbs)
			continue;
		print(stdout, "\tif [[ $verb == %s ]]; then\n\tverbs", (*command)->name);
		print_zsh_list((*command)->verbs);
		puts("\tif (( CURRENT == 3 )); then\n"
		     "\t\t_describe verb verbs\n"
		     "\t\treturn\n"
		     "\tfi\n"
		     "\tverb=\"$verb $words[3]\"\n"
		     "\tfi");
	}
}

static void print_zsh(void)
{
	print(stdout,
	      "#compdef limpet\n"
	      "_limpet_pids() {\n"
	      "\tcompadd -- ${(f)\"$(limpet ps --json 2>/dev/null | sed -n '%s')\"}\n"
	      "}\n",
	      attachable_pid);
	fputs("_limpet() {\n"
	      "\tlocal verb=$words[2]\n"
	      "\tlocal -a verbs",
	      stdout);
	print_zsh_list(commands);
	puts("\tif (( CURRENT == 2 )); then\n"
	     "\t\t_describe verb verbs\n"
	     "\t\treturn\n"
	     "\tfi");
	print_zsh_above();
	puts("\tcase $verb in");
	commands_each(print_zsh_verb, NULL);
	puts("\tesac\n"
	     "}\n"
	     "if [[ $funcstack[1] == _limpet ]]; then\n" /* a file in $fpath, used for the first
							    time */
	     "\t_limpet \"$@\"\n"
	     "else\n"
	     "\tcompdef _limpet limpet\n"
	     "fi");
}

static void print_fish_values(const struct option_desc *option)
{
	if (is_pid(option))
		fputs(" -f -a '(__limpet_pids)'", stdout);
	if (!is_format(option))
		return;
	fputs(" -f -a '", stdout);
	print_formats();
	putchar('\'');
}

/* When its options are offered: its words were typed, and none that has verbs of its own. */
static void print_fish_condition(const struct command *command)
{
	const char *blank = strchr(command->name, ' ');

	fputs("complete -c limpet -n '", stdout);
	if (blank)
		print(stdout, "__fish_seen_subcommand_from %.*s; and ",
		      (int)(blank - command->name), command->name);
	for (const struct command *const *above = commands; !blank && *above; above++)
		if ((*above)->verbs)
			print(stdout, "not __fish_seen_subcommand_from %s; and ", (*above)->name);
	print(stdout, "__fish_seen_subcommand_from %s'", command_word(command));
}

static void print_fish_option(const struct command *command, const struct option_desc *option)
{
	if (!option->help)
		return;
	print_fish_condition(command);
	print(stdout, " -l %s%s", option->long_name, option->arg ? " -r" : "");
	if (option->short_name)
		print(stdout, " -s %c", option->short_name);
	print_fish_values(option);
	fputs(" -d '", stdout);
	print_quoted(option->help, "\\");
	puts("'");
}

static void print_fish_verb(const struct command *command, void *context)
{
	(void)context;
	for (const struct option_desc *option = command->options; option->long_name; option++)
		print_fish_option(command, option);
	if (takes_pid(command)) {
		print_fish_condition(command);
		puts(" -f -a '(__limpet_pids)'");
	}
}

static void print_fish_word(const struct command *command, const char *above)
{
	fputs("complete -c limpet -f -n ", stdout);
	if (above)
		print(stdout, "'__fish_seen_subcommand_from %s'", above);
	else
		fputs("__fish_use_subcommand", stdout);
	print(stdout, " -a %s -d '", command_word(command));
	print_quoted(command->summary, "\\");
	puts("'");
}

static void print_fish(void)
{
	print(stdout, "function __limpet_pids\n\tlimpet ps --json 2>/dev/null | sed -n '%s'\nend\n",
	      attachable_pid);
	for (const struct command *const *command = commands; *command; command++) {
		print_fish_word(*command, /* above */ NULL);
		for (const struct command *const *verb = (*command)->verbs; verb && *verb; verb++)
			print_fish_word(*verb, (*command)->name);
	}
	commands_each(print_fish_verb, NULL);
}

static const struct shell {
	const char *name;
	void (*print)(void);
} shells[] = {
	{ "bash", print_bash },
	{ "zsh", print_zsh },
	{ "fish", print_fish },
};

static enum exit_code completions_run(char **argv)
{
	struct err err = { 0 };
	int operands = options_parse(completions_options, argv, NULL, &err);

	if (operands < 0)
		return report_end("completions", false, &err);
	for (size_t i = 0; operands == 1 && i < ARRAY_SIZE(shells); i++)
		if (strcmp(argv[0], shells[i].name) == 0) {
			shells[i].print();
			return EXIT_DONE;
		}
	err_set(&err, -EINVAL, "completions are there for bash, zsh and fish");
	err_fix(&err, "source <(limpet completions bash)");
	err_exit(&err, EXIT_USAGE);
	return report_end("completions", false, &err);
}

const struct command command_completions = {
	.name = "completions",
	.summary = "print a completion script for a shell",
	.usage = "bash|zsh|fish",
	.options = completions_options,
	.run = completions_run,
	.notes = "example: source <(limpet completions bash)\n",
};
