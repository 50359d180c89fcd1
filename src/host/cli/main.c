/*
 * limpet's main(), and the table of verbs: finds the verb and runs it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "host/cli/common/command.h"
#include "host/cli/start_page.h"
#include "host/core/notes.h"
#include "host/core/self/environment.h"
#include "host/core/text/nearest.h"
#include "host/core/text/print.h"
#include "host/core/text/text.h"
#include "host/fleet/node/node.h"
#include "host/symbols/symbol_file.h"

extern const struct command command_attach, command_detach, command_status;
extern const struct command command_ps, command_doctor, command_completions;
extern const struct command command_record, command_report, command_export, command_dump;
extern const struct command command_diff, command_top, command_ui, command_stat;
extern const struct command command_fleet, command_push;

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

static const struct command *refuse_unknown(const struct command *const *list, const char *above,
					    const char *name, enum exit_code *ret_exit)
{
	struct nearest nearest = { .wanted = name };
	struct err err;
	pid_t pid;

	err_usage(&err, NULL, "unknown command '%s%s'", above, name);
	for (const struct command *const *command = list; *command; command++)
		nearest_offer(&nearest, command_word(*command));
	if (!*above && text_parse_pid(name, &pid) == 0)
		err_fix(&err, "limpet attach %s", name);
	else if (nearest.best)
		err_fix(&err, "limpet %s%s", above, nearest.best);
	else
		err_fix(&err, "limpet help%s%s", *above ? " " : "", above);
	*ret_exit = command_fail(&err);
	return NULL;
}

/* The verb that these words name, or a nested one; NULL: there is none, and that was reported. */
static const struct command *verb_find(char **argv, char ***ret_rest, enum exit_code *ret_exit)
{
	const struct command *command = command_find(commands, argv[0]), *below;
	char above[64];

	*ret_rest = argv + 1;
	if (!command)
		return refuse_unknown(commands, "", argv[0], ret_exit);
	if (!command->verbs || !argv[1] || argv[1][0] == '-')
		return command;
	snprintf(above, sizeof(above), "%s ", command->name);
	*ret_rest = argv + 2;
	below = command_find(command->verbs, argv[1]);
	return below ? below : refuse_unknown(command->verbs, above, argv[1], ret_exit);
}

static enum exit_code verb_run(char **argv, bool wants_help)
{
	enum exit_code exit = EXIT_DONE;
	char **rest;
	const struct command *command = verb_find(argv, &rest, &exit);
	char fix[64];
	struct err err;

	if (!command)
		return exit;
	if (wants_help || options_want_help(rest)) {
		command_print_help(command, stdout);
		return EXIT_DONE;
	}
	if (!command->verbs)
		return command_run(command, rest);
	snprintf(fix, sizeof(fix), "limpet %s --help", command->name);
	err_usage(&err, fix, "limpet %s needs a verb", command->name);
	return command_fail(&err);
}

static bool is_one_of(const char *word, const char *a, const char *b)
{
	return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

static enum exit_code words_run(char **argv)
{
	if (!argv[0])
		return start_page_print();
	if (is_one_of(argv[0], "--version", "-V")) {
		print(stdout, "limpet %s\n", LIMPET_VERSION);
		return EXIT_DONE;
	}
	/* Not for users: limpet fleet starts it on each node. */
	if (strcmp(argv[0], "fleet-node") == 0)
		return node_run(argv[1], LIMPET_VERSION);
	if (!is_one_of(argv[0], "help", "--help") && strcmp(argv[0], "-h"))
		return verb_run(argv, /* wants_help */ false);
	if (argv[1])
		return verb_run(argv + 1, /* wants_help */ true);
	print_help(stdout);
	return EXIT_DONE;
}

static void on_limit(int signal)
{
	(void)signal;
}

/* A full disk must not count as success; an earlier failure was reported already. */
static enum exit_code check_output(enum exit_code exit)
{
	struct err err;

	errno = 0;
	if ((fflush(stdout) == 0 && !ferror(stdout)) || exit)
		return exit;
	err_set(&err, -EIO, "not all of the output could be written%s%s", errno ? ": " : "",
		errno ? strerror(errno) : "");
	err_fix(&err, "send it elsewhere, or free some space if the disk is full");
	return command_fail(&err);
}

int main(int argc, char **argv)
{
	char note[NOTE_BYTES];
	enum exit_code exit;

	environment_distrust();
	/* If one of the three is closed, the next open would get its number.  The replacements fail
	 * as closed ones do, and are closed in programs that limpet starts. */
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", (fd ? O_RDONLY : O_WRONLY) | O_CLOEXEC) < 0)
			break;
	/* Beyond `ulimit -f` write() shall fail, not limpet die.  Handled, not ignored: programs
	 * that limpet starts would inherit that. */
	if (signal(SIGXFSZ, on_limit) == SIG_IGN)
		signal(SIGXFSZ, SIG_IGN);
	symbol_file_read_lines_by(&line_reader_libdw);
	exit = words_run(argv + (argc > 0));
	for (size_t i = 0; note_at(i, note); i++)
		print(stderr, "note: %s\n", note);
	print_counted(stderr, notes_left_out(),
		      "note: # more remark{|s} of this kind {is|are} not shown\n");
	return check_output(exit);
}
