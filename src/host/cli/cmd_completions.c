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

/* The lines of `limpet ps --json`, for sed: no text in them can look like this. */
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
	return strncmp(command->usage, "PID", 3) == 0 || strncmp(command->usage, "[PID]", 5) == 0;
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

static void print_bash_formats(void)
{
	puts("\tcase ${COMP_WORDS[1]}:$prev in");
	for (const struct command *const *command = commands; *command; command++)
		for (const struct option_desc *option = (*command)->options; option->long_name;
		     option++) {
			if (!is_format(option))
				continue;
			print(stdout, "\t%s:-%c|%s:--%s) words='", (*command)->name,
			      option->short_name, (*command)->name, option->long_name);
			print_formats();
			puts("' ;;");
		}
}

static void print_bash(void)
{
	print(stdout, "_limpet_pids() {\n\t\"$1\" ps --json 2>/dev/null | sed -n '%s'\n}\n",
	      attachable_pid);
	puts("_limpet() {\n"
	     "\tlocal cur=${COMP_WORDS[COMP_CWORD]} words=\n"
	     "\tlocal prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	     "\tcase $COMP_CWORD:${COMP_WORDS[1]} in");
	print(stdout, "\t1:*) words='help");
	for (const struct command *const *command = commands; *command; command++)
		print(stdout, " %s", (*command)->name);
	puts("' ;;");
	for (const struct command *const *command = commands; *command; command++) {
		print(stdout, "\t*:%s) words=\"--help", (*command)->name);
		for (const struct option_desc *option = (*command)->options; option->long_name;
		     option++)
			if (option->help)
				print_bash_option(option);
		print(stdout, "%s\" ;;\n",
		      takes_pid(*command) ? " $(_limpet_pids \"${COMP_WORDS[0]}\")" : "");
	}
	puts("\tesac\n"
	     "\tcase $prev in\n"
	     "\t-p|--pid) words=$(_limpet_pids \"${COMP_WORDS[0]}\") ;;\n"
	     "\tesac");
	print_bash_formats();
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

static void print_zsh(void)
{
	print(stdout,
	      "#compdef limpet\n"
	      "_limpet_pids() {\n"
	      "\tcompadd -- ${(f)\"$(limpet ps --json 2>/dev/null | sed -n '%s')\"}\n"
	      "}\n",
	      attachable_pid);
	puts("_limpet() {\n"
	     "\tlocal -a verbs=(");
	for (const struct command *const *command = commands; *command; command++) {
		print(stdout, "\t\t'%s:", (*command)->name);
		print_quoted((*command)->summary, ":\\");
		puts("'");
	}
	puts("\t)\n"
	     "\tif (( CURRENT == 2 )); then\n"
	     "\t\t_describe verb verbs\n"
	     "\t\treturn\n"
	     "\tfi\n"
	     "\tcase $words[2] in");
	for (const struct command *const *command = commands; *command; command++) {
		print(stdout, "\t%s) _arguments '--help[show help]'", (*command)->name);
		print_zsh_options(*command);
		puts(takes_pid(*command) ? " \\\n\t\t'*:pid:_limpet_pids' ;;" : " ;;");
	}
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

static void print_fish(void)
{
	print(stdout, "function __limpet_pids\n\tlimpet ps --json 2>/dev/null | sed -n '%s'\nend\n",
	      attachable_pid);
	for (const struct command *const *command = commands; *command; command++) {
		const char *name = (*command)->name;

		print(stdout, "complete -c limpet -f -n __fish_use_subcommand -a %s -d '", name);
		print_quoted((*command)->summary, "\\");
		puts("'");
		for (const struct option_desc *option = (*command)->options; option->long_name;
		     option++) {
			if (!option->help)
				continue;
			print(stdout,
			      "complete -c limpet -n '__fish_seen_subcommand_from %s' -l %s%s",
			      name, option->long_name, option->arg ? " -r" : "");
			if (option->short_name)
				print(stdout, " -s %c", option->short_name);
			print_fish_values(option);
			fputs(" -d '", stdout);
			print_quoted(option->help, "\\");
			puts("'");
		}
		if (takes_pid(*command))
			print(stdout,
			      "complete -c limpet -f -n '__fish_seen_subcommand_from %s' "
			      "-a '(__limpet_pids)'\n",
			      name);
	}
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
