/*
 * limpet's main(): finds the verb and runs it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "host/cli/command.h"
#include "host/cli/report.h"
#include "host/cli/start_page.h"
#include "host/cli/version.h"
#include "host/core/notes.h"
#include "host/core/self/environment.h"
#include "host/core/text/nearest.h"
#include "host/core/text/plural.h"
#include "host/core/text/print.h"
#include "host/core/text/text.h"
#include "host/symbols/symbol_file.h"

static void print_help(FILE *out)
{
	fputs("limpet: attach to a running process, see what it does, let go\n\n"
	      "usage: limpet COMMAND [OPTIONS] [PID]\n\ncommands:\n",
	      out);
	for (const struct command *const *command = commands; *command; command++)
		print(out, "  %-12s %s\n", (*command)->name, (*command)->summary);
	fputs("\n  limpet COMMAND --help    show the options of a command\n"
	      "  limpet --version         show the version\n\n"
	      "exit codes: 0 done, 1 failed, 2 wrong usage, 3 not permitted, 4 no such process,\n"
	      "            5 nothing captured, 6 target cannot be attached, 7 busy, 8 partly done\n",
	      out);
}

static enum exit_code unknown_verb(const struct command *const *list, const char *above,
				   const char *name)
{
	struct nearest nearest = { .wanted = name };
	struct err err;
	pid_t pid;

	err_set(&err, -EINVAL, "unknown command '%s%s'", above, name);
	err_exit(&err, EXIT_USAGE);
	for (const struct command *const *command = list; *command; command++)
		nearest_offer(&nearest, command_word(*command));
	if (!*above && text_parse_pid(name, &pid) == 0)
		err_fix(&err, "limpet attach %s", name);
	else if (nearest.best)
		err_fix(&err, "limpet %s%s", above, nearest.best);
	else
		err_fix(&err, "limpet help%s%s", *above ? " " : "", above);
	return report_end(name, false, &err);
}

/* The verb that these words name, or a nested one; NULL: there is none, and that was reported. */
static const struct command *verb_find(char **argv, char ***ret_rest, enum exit_code *ret_exit)
{
	const struct command *command = command_find(commands, argv[0]), *below;
	char above[64];

	*ret_rest = argv + 1;
	if (!command) {
		*ret_exit = unknown_verb(commands, "", argv[0]);
		return NULL;
	}
	if (!command->verbs || !argv[1] || argv[1][0] == '-')
		return command;
	snprintf(above, sizeof(above), "%s ", command->name);
	*ret_rest = argv + 2;
	below = command_find(command->verbs, argv[1]);
	if (!below)
		*ret_exit = unknown_verb(command->verbs, above, argv[1]);
	return below;
}

static enum exit_code help_run(char **verb)
{
	const struct command *command;
	enum exit_code exit;
	char **rest;

	if (!verb[0]) {
		print_help(stdout);
		return EXIT_DONE;
	}
	command = verb_find(verb, &rest, &exit);
	if (!command)
		return exit;
	command_print_help(command, stdout);
	return EXIT_DONE;
}

static bool is_one_of(const char *word, const char *a, const char *b)
{
	return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

/* Verbs of its own, and none of them named. */
static enum exit_code verb_missing(const struct command *command)
{
	struct err err;

	err_set(&err, -EINVAL, "limpet %s needs a verb", command->name);
	err_fix(&err, "limpet %s --help", command->name);
	err_exit(&err, EXIT_USAGE);
	return report_end(command->name, false, &err);
}

static enum exit_code verb_run(char **argv)
{
	const struct command *command = command_find(hidden_commands, argv[0]);
	char **rest = argv + 1;
	enum exit_code exit;

	if (!command)
		command = verb_find(argv, &rest, &exit);
	if (!command)
		return exit;
	if (options_ask_for_help(rest)) {
		command_print_help(command, stdout);
		return EXIT_DONE;
	}
	return command->verbs ? verb_missing(command) : command->run(rest);
}

static enum exit_code words_run(char **argv)
{
	if (!argv[0])
		return start_page_print();
	if (is_one_of(argv[0], "help", "--help") || strcmp(argv[0], "-h") == 0)
		return help_run(argv + 1);
	if (is_one_of(argv[0], "--version", "-V")) {
		print(stdout, "limpet %s\n", LIMPET_VERSION);
		return EXIT_DONE;
	}
	return verb_run(argv);
}

static void on_limit(int signal)
{
	(void)signal;
}

/* If one of the three is closed, the next open would get its number.  The replacements fail as
 * closed ones do, and are closed in programs that limpet starts. */
static void fill_standard_descriptors(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", (fd ? O_RDONLY : O_WRONLY) | O_CLOEXEC) < 0)
			return;
}

/* Prints the notes about what was left out, after any verb. */
static void tell_notes(void)
{
	char note[NOTE_BYTES];

	for (size_t i = 0; note_at(i, note); i++)
		print(stderr, "note: %s\n", note);
	if (notes_left_out())
		print(stderr, "note: %zu more remark%s of this kind %s not shown\n",
		      notes_left_out(), plural(notes_left_out()), is_are(notes_left_out()));
}

/* A full disk must not count as success; an earlier failure was reported already. */
static enum exit_code check_output(enum exit_code exit)
{
	struct err err = { 0 };

	errno = 0;
	if ((fflush(stdout) == 0 && !ferror(stdout)) || exit)
		return exit;
	err_set(&err, -EIO, "not all of the output could be written%s%s", errno ? ": " : "",
		errno ? strerror(errno) : "");
	err_fix(&err, "send it elsewhere, or free some space if the disk is full");
	return report_end("limpet", /* is_json */ false, &err);
}

int main(int argc, char **argv)
{
	enum exit_code exit;

	environment_distrust();
	fill_standard_descriptors();
	/* Beyond `ulimit -f` write() shall fail, not limpet die.  Handled, not ignored: programs
	 * that limpet starts would inherit that. */
	if (signal(SIGXFSZ, on_limit) == SIG_IGN)
		signal(SIGXFSZ, SIG_IGN);
	symbol_file_read_lines_by(&line_reader_libdw);
	exit = words_run(argv + (argc > 0));
	tell_notes();
	return check_output(exit);
}
