/*
 * limpet completions SHELL: completion scripts, made from the tables of verbs and options.
 */
#include <string.h>

#include "host/cli/common/command.h"
#include "host/core/text/print.h"
#include "host/export/exporter.h"
#include "host/ui/answers/share.h"

/* The lines of `limpet ps --json`, for sed: no text in them can match this. */
static const char attachable_pid[] =
	"s/^{\"event\":\"process\",\"pid\":\\([0-9]*\\),.*\"attachable\":true.*/\\1/p";

static const struct option_desc completions_options[] = { { 0 } };

static bool option_has_arg(const struct option_desc *option, const char *arg)
{
	return option->arg && strcmp(option->arg, arg) == 0;
}

static bool wants_pid(const struct command *command)
{
	return strncmp(command->usage + strspn(command->usage, "[{"), "PID", 3) == 0;
}

/* Every verb that can be run, including nested ones. */
static void each_verb(void (*print_one)(const struct command *command))
{
	for (const struct command *const *command = commands; *command; command++) {
		for (const struct command *const *verb = (*command)->verbs; verb && *verb; verb++)
			print_one(*verb);
		if (!(*command)->verbs)
			print_one(*command);
	}
}

static void print_formats(void)
{
	for (const struct exporter *exporter = exporters; exporter->name; exporter++)
		print(stdout, "%s ", exporter->name);
	print(stdout, "%s", PAGE_FORMAT);
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

#define PATTERN_MAX 64

/* The verb as the scripts compare it, with a backslash before its blank. */
static const char *pattern_of(const struct command *command, char ret[PATTERN_MAX])
{
	const char *blank = strchr(command->name, ' ');
	int length = blank ? (int)(blank - command->name) : 0;

	snprintf(ret, PATTERN_MAX, "%.*s%s%s", length, command->name, blank ? "\\" : "",
		 command->name + length);
	return ret;
}

static void print_bash_format(const struct command *command)
{
	char verb[PATTERN_MAX];

	for (const struct option_desc *option = command->options; option->long_name; option++) {
		if (!option_has_arg(option, "FORMAT"))
			continue;
		pattern_of(command, verb);
		print(stdout, "\t%s:-%c|%s:--%s) words='", verb, option->short_name, verb,
		      option->long_name);
		print_formats();
		puts("' ;;");
	}
}

static void print_bash_verb(const struct command *command)
{
	char verb[PATTERN_MAX];

	print(stdout, "\t*:%s) words=\"--help", pattern_of(command, verb));
	for (const struct option_desc *option = command->options; option->long_name; option++) {
		if (!option->help)
			continue;
		if (option->short_name)
			print(stdout, " -%c", option->short_name);
		print(stdout, " --%s", option->long_name);
	}
	print(stdout, "%s\" ;;\n",
	      wants_pid(command) ? " $(_limpet_pids \"${COMP_WORDS[0]}\")" : "");
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
	each_verb(print_bash_verb);
	puts("\tesac\n"
	     "\tcase $prev in\n"
	     "\t-p|--pid) words=$(_limpet_pids \"${COMP_WORDS[0]}\") ;;\n"
	     "\tesac\n"
	     "\tcase $verb:$prev in");
	each_verb(print_bash_format);
	puts("\tesac\n"
	     "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
	     "}\n"
	     "complete -o default -F _limpet limpet");
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
		}
		if (option_has_arg(option, "FORMAT")) {
			fputs(":(", stdout);
			print_formats();
			putchar(')');
		} else if (option->arg) {
			print(stdout, ":%s",
			      option_has_arg(option, "PID") ? "_limpet_pids" : "_files");
		}
		putchar('\'');
	}
}

static void print_zsh_verb(const struct command *command)
{
	char verb[PATTERN_MAX];

	print(stdout, "\t%s) _arguments '--help[show help]'", pattern_of(command, verb));
	print_zsh_options(command);
	puts(wants_pid(command) ? " \\\n\t\t'*:pid:_limpet_pids' ;;" : " ;;");
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
	each_verb(print_zsh_verb);
	puts("\tesac\n"
	     "}\n"
	     "if [[ $funcstack[1] == _limpet ]]; then\n" /* a file in $fpath, used for the first
							    time */
	     "\t_limpet \"$@\"\n"
	     "else\n"
	     "\tcompdef _limpet limpet\n"
	     "fi");
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
	if (option_has_arg(option, "PID"))
		fputs(" -f -a '(__limpet_pids)'", stdout);
	if (option_has_arg(option, "FORMAT")) {
		fputs(" -f -a '", stdout);
		print_formats();
		putchar('\'');
	}
	fputs(" -d '", stdout);
	print_quoted(option->help, "\\");
	puts("'");
}

static void print_fish_verb(const struct command *command)
{
	for (const struct option_desc *option = command->options; option->long_name; option++)
		print_fish_option(command, option);
	if (wants_pid(command)) {
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
	each_verb(print_fish_verb);
}

static const struct shell {
	const char *name;
	void (*print)(void);
} shells[] = {
	{ "bash", print_bash },
	{ "zsh", print_zsh },
	{ "fish", print_fish },
};

static int completions_run(const struct command_line *line, struct err *err)
{
	for (size_t i = 0; line->count == 1 && i < ARRAY_SIZE(shells); i++)
		if (strcmp(line->operands[0], shells[i].name) == 0) {
			shells[i].print();
			return 0;
		}
	return err_usage(err, "source <(limpet completions bash)",
			 "completions are there for bash, zsh and fish");
}

const struct command command_completions = {
	.name = "completions",
	.summary = "print a completion script for a shell",
	.usage = "bash|zsh|fish",
	.options = completions_options,
	.run = completions_run,
	.notes = "example: source <(limpet completions bash)\n",
};
